/**
 * Whole stores, for operators' commands alone: exports, imports, checks and migrations.
 *
 * <p>{@link dev.bourse.store.transfer.ExportWriter} writes all rows of all tables of a {@link
 * dev.bourse.store.transfer.WholeStore} to a file, and {@link
 * dev.bourse.store.transfer.ExportLoader} fills another store from it, in one transaction. What
 * tables there are is asked of the engine's catalogue; a list in the program was rejected, because
 * a table of a later migration would be forgotten in it. So was wider use of {@code Database},
 * whose commits and queries are short and bounded in time.
 */
@NullMarked
package dev.bourse.store.transfer;

import org.jspecify.annotations.NullMarked;
