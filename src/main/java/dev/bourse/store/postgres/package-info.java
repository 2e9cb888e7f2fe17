/**
 * The engine on a PostgreSQL server, which several processes share.
 *
 * <p>Each process has one connection that writes, and that sends commits in groups. A group is one
 * transaction. Its last statement inserts a row into table {@code commit_log} under the key
 * (sender, seq): the sender is a random name of the process, and {@code seq} counts its groups
 * without gaps. The row holds what the group changed. Three things follow from it:
 *
 * <ul>
 *   <li>A commit whose answer was lost is looked up by its key, and a tombstone under that key
 *       keeps it from being stored later. Transaction ids were rejected for this: another primary
 *       hands out the same ones.
 *   <li>A process that reads the log knows by one {@code seq} for each sender what it has applied.
 *       Ids from a sequence were rejected for this, because commits overtake each other; snapshots
 *       of the server were used before, and are worth nothing after a fail-over.
 *   <li>A row that was applied and is gone shows that the database was set back, by an asynchronous
 *       standby that was promoted or by a restored backup, because rows are deleted only after
 *       every process had minutes to read them. The process then takes a new sender and compares
 *       everything it holds with the store. One that was suspended for longer finds its own rows
 *       deleted by the others and cannot tell the two apart, so it does the same.
 * </ul>
 */
@NullMarked
package dev.bourse.store.postgres;

import org.jspecify.annotations.NullMarked;
