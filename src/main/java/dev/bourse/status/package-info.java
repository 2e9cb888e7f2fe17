/**
 * The status of the whole site on one screen, for operators.
 *
 * <p>{@link dev.bourse.status.StatusService} collects the markets and their nodes, organizations on
 * hold, the lengths of queues, the disk and the clocks. It writes nothing. Counts come from the
 * store by indexes, so that every process gives the same answer; one query scans all nodes, and one
 * the month totals of all organizations. Prices and ticks come from this process's memory, which
 * the holder of a pool's lease keeps current through the change feed.
 *
 * <p>At most one read runs at a time, and concurrent requests share its answer, so that operators'
 * pages that poll every few seconds cost the store no more than one of them.
 *
 * <p>Rejected: printing the numbers of {@code /metrics}, because each process knows only its own
 * part; keeping the counts in memory, because each process would have to follow every change of
 * every node.
 */
@NullMarked
package dev.bourse.status;

import org.jspecify.annotations.NullMarked;
