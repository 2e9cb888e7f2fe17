/**
 * The record of who did what. A write's row is a {@link dev.bourse.store.Statement} in the write's
 * own commit, so neither exists without the other; rows of audited reads are gathered in memory and
 * committed in batches, so that a read never waits for the disk.
 */
@NullMarked
package dev.bourse.audit;

import org.jspecify.annotations.NullMarked;
