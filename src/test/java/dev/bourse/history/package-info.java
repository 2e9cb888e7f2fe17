/**
 * Recorded histories of clients of the service, and the one judge of them.
 *
 * <p>A {@link dev.bourse.history.History} is what clients saw: each {@link
 * dev.bourse.history.RecordedOperation} with its begin, its end and its answer, and what was stored
 * in the end. {@link dev.bourse.history.LinearizabilityChecker} says what in it cannot be: lost,
 * doubled, stale, out of order, or stored though refused.
 *
 * <p>Declarations are compare-and-set upon a version, so the order of the writes is told and need
 * not be searched for: one pass does, and a million operations take seconds. A search over all
 * orders, as general checkers make, was rejected for that reason. Keys and tokens are sets whose
 * members come once and go once; their rule is about times alone.
 */
@NullMarked
package dev.bourse.history;

import org.jspecify.annotations.NullMarked;
