/**
 * The embedded engine: one process has its store, in a file of its data folder.
 *
 * <p>Commits queue for one writing thread ({@link dev.bourse.store.sqlite.SqliteWriter}), which
 * stores those that wait, or half of many, in one transaction with one flush to disk. A flush for
 * each commit was rejected because it costs more than the commit; a transaction that reads and then
 * writes, because SQLite fails it as soon as another has written, so a decision is made in memory
 * and guarded by a demand on the rows it changes. A few reading threads answer queries beside it,
 * and {@link dev.bourse.store.sqlite.SqliteCheckpointer} copies the log into the file meanwhile.
 * {@link dev.bourse.store.sqlite.StoreLock} keeps a second process out, and {@link
 * dev.bourse.store.sqlite.WalGuard} refuses a log that was damaged, as SQLite itself would drop the
 * commits behind the damage without a word.
 */
@NullMarked
package dev.bourse.store.sqlite;

import org.jspecify.annotations.NullMarked;
