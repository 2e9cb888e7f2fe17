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
 * cuts short. {@link dev.bourse.store.Upkeep} runs work on the store that nobody waits for, and
 * {@link dev.bourse.store.Timekeeper} tells how far the time is confirmed, by the engine's clock.
 *
 * <p>Where several processes share a store, every commit that changes what they hold in memory
 * leaves rows of topic and key in {@code change_feed}, in the same transaction. A process reads
 * what its last snapshot of the server did not show and the one of now does, several times a
 * second, and at once when a notification wakes it; a {@link dev.bourse.store.ChangeListener} hears
 * each. Notifications alone were rejected because a lost one is lost; ids in their order, because
 * they are drawn before commits are ordered, so that a reader passes the row of a transaction that
 * is still open; waiting for such, because one that hangs would hold up all. What is held in memory
 * is a {@link dev.bourse.store.Mirror}: it is read by key, some hundred at a time, and can be
 * compared with the store as a whole, which is done after a connection was lost and every few
 * minutes. The embedded engine has no feed: one process has its store.
 *
 * <p>The schema is changed so that a process of the release before goes on beside this one: expand,
 * migrate, contract. A step only adds: tables, indexes, columns that may be null or have a default.
 * The release that adds a column writes both forms and reads either; rows are brought over by its
 * own work, in small commits. Only the release after may make a column required or drop what nobody
 * reads any more. A step that is released is never edited. What the release before says to the
 * schema is kept with the tests and put to every new schema on both engines. Steps are numbered
 * alike on both engines; one that concerns a single engine is an empty file for the other. Step 9
 * broke this rule before it was one.
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
