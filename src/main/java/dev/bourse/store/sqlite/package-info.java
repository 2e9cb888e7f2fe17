/**
 * The embedded engine: one process owns its store, a file in its data folder.
 *
 * <p>Commits queue for one writing thread ({@link dev.bourse.store.sqlite.SqliteWriter}), which
 * stores the waiting ones, or half of a large queue, in one transaction with one flush to disk.
 * Rejected: a flush per commit, because it costs more than the commit; and transactions that read
 * and then write, because SQLite fails them as soon as another one has written. So decisions are
 * made in memory and guarded by demands on the changed rows. A few reading threads answer queries,
 * and {@link dev.bourse.store.sqlite.SqliteCheckpointer} copies the log into the file. {@link
 * dev.bourse.store.sqlite.StoreLock} keeps a second process out, and {@link
 * dev.bourse.store.sqlite.WalGuard} rejects a damaged log, because SQLite would silently drop the
 * commits after the damage.
 */
@NullMarked
package dev.bourse.store.sqlite;

import org.jspecify.annotations.NullMarked;
