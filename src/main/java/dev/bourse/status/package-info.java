/**
 * How the whole site stands, on one screen: what an operator asks first.
 *
 * <p>{@link dev.bourse.status.StatusService} puts together what each part tells: the markets and
 * their machines, organizations that are held, what waits in queues, the disk and the clocks. It
 * writes nothing. Counts come from the store, so that every process answers alike, and by indexes;
 * one query looks at every machine. Prices and ticks are those this process has in memory, which
 * the holder of a pool's lease tells the others.
 *
 * <p>One reading is under way at a time, and whoever asks meanwhile gets its answer: operators'
 * pages that look every few seconds cost the store no more than one of them.
 *
 * <p>Rejected: to print what {@code /metrics} prints, of which each process knows a part; to keep
 * the counts in memory, for which each process would have to hear of every machine.
 */
@NullMarked
package dev.bourse.status;

import org.jspecify.annotations.NullMarked;
