/**
 * The engine on a PostgreSQL server, which several processes share.
 *
 * <p>Each process has one connection that writes commits in groups. A group is one transaction. Its
 * last statement inserts a row into table {@code commit_log} under the key (sender, seq): the
 * sender is a random name of the process, and {@code seq} counts its groups without gaps. The row
 * contains the group's changes. This has three uses:
 *
 * <ul>
 *   <li>A commit whose answer was lost is looked up by its key, and a tombstone under that key
 *       prevents it from being stored later. Transaction ids were rejected for this, because
 *       another primary allocates the same ones.
 *   <li>A process that reads the log keeps one {@code seq} per sender as its position. Ids from a
 *       sequence were rejected for this, because commits overtake each other; snapshots of the
 *       server, which were used before, are invalid after a fail-over.
 *   <li>A missing row that was applied before shows that the database was set back, by the
 *       promotion of an asynchronous standby or by a restored backup, because rows are deleted only
 *       after every process had minutes to read them. The process then draws a new sender and
 *       compares all data it holds with the store. A process that was suspended for longer finds
 *       its own rows deleted by others. It cannot distinguish the two cases, so it does the same.
 * </ul>
 */
@NullMarked
package dev.bourse.store.postgres;

import org.jspecify.annotations.NullMarked;
