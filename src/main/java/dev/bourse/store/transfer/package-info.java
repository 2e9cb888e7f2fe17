/**
 * Whole stores, for operators' commands only: exports, imports, checks and migrations.
 *
 * <p>{@link dev.bourse.store.transfer.ExportWriter} writes all rows of all tables of a {@link
 * dev.bourse.store.transfer.WholeStore} to a file, and {@link
 * dev.bourse.store.transfer.ExportLoader} fills another store from it, in one transaction. The
 * tables come from the engine's catalogue. Rejected: a list in the program, because a table of a
 * later migration could be missing in it; and {@code Database}, whose commits and queries are short
 * and bounded in time.
 */
@NullMarked
package dev.bourse.store.transfer;

import org.jspecify.annotations.NullMarked;
