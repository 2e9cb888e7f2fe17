/**
 * Durable rows behind a small port.
 *
 * <p>Features use only {@link dev.bourse.store.Database}: it reads, and it commits lists of
 * statements, each of which may demand how many rows it changes. Features keep their SQL in their
 * own {@code *Store} classes, compose it from {@link dev.bourse.store.Columns} and restrict it to
 * the subset that every engine supports: {@code ?} placeholders, integers for money and time, text
 * for JSON. The engines give the same guarantees: {@code store.sqlite} inside the process, {@code
 * store.postgres} on a server that several processes share. {@code store.transfer} copies whole
 * stores.
 *
 * <p>{@link dev.bourse.store.Migrations} brings any engine's schema up to date, over a session that
 * no time-out cuts short. {@link dev.bourse.store.BoundedWork} keeps writes for a whole fleet from
 * crowding out other writes, and {@link dev.bourse.store.Timekeeper} confirms the time by the
 * engine's clock.
 *
 * <p>Copies of rows in memory are a {@link dev.bourse.store.Mirror}: a {@link
 * dev.bourse.store.ChangeListener} receives each change of other processes. Rows that do not arrive
 * with a change are read by key, some hundred at a time, and the whole copy is compared with the
 * store after a lost connection and every few minutes.
 *
 * <p>The schema changes in such a way that a process of the previous release keeps running next to
 * this one: expand, migrate, contract. A migration only adds: tables, indexes, and columns that may
 * be null or have a default. The release that adds a column writes both forms and reads either; its
 * own background work converts the rows, in small commits. Only the next release may make a column
 * required or drop an unused one. A released migration is never edited. It declares the oldest
 * program that can start on it, so that the previous release can be started again. That release's
 * statements are kept with the tests and run against every new schema on both engines. Migrations
 * are written once, in a syntax that {@link dev.bourse.store.Dialect} translates. The first is a
 * baseline that replaces the migrations before it, which every store in use has. Migration 57
 * breaks the rule: it replaces the feed that processes of earlier releases use to notify each
 * other, so those have to be stopped first.
 */
@NullMarked
package dev.bourse.store;

import org.jspecify.annotations.NullMarked;
