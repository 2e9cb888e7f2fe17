/**
 * Durable rows behind a small port.
 *
 * <p>{@link dev.bourse.store.Database} is all a feature sees: it reads, and it commits lists of
 * statements that may each demand how many rows they change. Features keep their SQL in their own
 * {@code *Store} classes and write it in the subset every engine speaks: {@code ?} placeholders,
 * integers for money and time, text for JSON.
 *
 * <p>{@link dev.bourse.store.SqliteDatabase} is the engine inside the process: commits queue for
 * one writing thread, which stores all that wait in one transaction with one flush to disk. A flush
 * for each commit was rejected because it costs more than the commit; a transaction that reads and
 * then writes, because SQLite fails it as soon as another has written, so a decision is made in
 * memory and guarded by a demand on the rows it changes. {@link dev.bourse.store.PostgresDatabase}
 * keeps the same promises on a server that several processes share. {@link
 * dev.bourse.store.Migrations} brings any engine's schema up to date, over a session no time-out
 * cuts short. {@link dev.bourse.store.Upkeep} runs work on the store that nobody waits for.
 *
 * <p>{@link dev.bourse.store.WholeStore} is for operators' commands alone: all rows of all tables,
 * which {@link dev.bourse.store.ExportWriter} writes to a file and {@link
 * dev.bourse.store.ExportLoader} fills another store from, in one transaction. What tables there
 * are is asked of the engine's catalogue; a list in the program was rejected, because a table of a
 * later migration would be forgotten in it. So was wider use of {@code Database}, whose commits and
 * queries are short and bounded in time.
 */
@NullMarked
package dev.bourse.store;

import org.jspecify.annotations.NullMarked;
