/**
 * Durable rows behind a small port.
 *
 * <p>{@link dev.bourse.store.Database} is all a feature sees: it reads, and it commits lists of
 * statements that may each demand how many rows they change. Features keep their SQL in their own
 * {@code *Store} classes, compose it from {@link dev.bourse.store.Columns} and write it in the
 * subset every engine speaks: {@code ?} placeholders, integers for money and time, text for JSON.
 * The engines keep the same promises: {@code store.sqlite} inside the process, {@code
 * store.postgres} on a server that several processes share. {@code store.transfer} copies whole
 * stores.
 *
 * <p>{@link dev.bourse.store.Migrations} brings any engine's schema up to date, over a session that
 * no time-out cuts short. {@link dev.bourse.store.BoundedWork} keeps what is done to a whole fleet
 * from crowding out the rest, and {@link dev.bourse.store.Timekeeper} tells how far the time is
 * confirmed, by the engine's clock.
 *
 * <p>What is held in memory is a {@link dev.bourse.store.Mirror}: a {@link
 * dev.bourse.store.ChangeListener} hears of each change other processes store. Rows that do not
 * come along with that are read by key, some hundred at a time, and the whole can be compared with
 * the store, which is done after a connection was lost and every few minutes.
 *
 * <p>The schema is changed so that a process of the release before goes on beside this one: expand,
 * migrate, contract. A step only adds: tables, indexes, columns that may be null or have a default.
 * The release that adds a column writes both forms and reads either; rows are brought over by its
 * own work, in small commits. Only the release after may make a column required or drop what nobody
 * reads any more. A step that is released is never edited. It says from which program on it serves,
 * so that the release before can be started again. What that release says to the schema is kept
 * with the tests and put to every new schema on both engines. Steps are written once, in words that
 * {@link dev.bourse.store.Dialect} translates. The first is a baseline that stands for the steps of
 * the time before, which no store that is in use lacks. Step 57 breaks the rule: it replaces the
 * feed by which processes of earlier releases hear of each other, so those are stopped before.
 */
@NullMarked
package dev.bourse.store;

import org.jspecify.annotations.NullMarked;
