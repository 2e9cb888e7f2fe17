/**
 * Durable rows behind a small port.
 *
 * <p>{@link dev.bourse.store.Database} is all a feature sees: it reads, and it commits lists of
 * statements that may each demand how many rows they change. Features keep their SQL in their own
 * {@code *Store} classes and write it in the subset every engine speaks: {@code ?} placeholders,
 * integers for money and time, text for JSON.
 */
@NullMarked
package dev.bourse.store;

import org.jspecify.annotations.NullMarked;
