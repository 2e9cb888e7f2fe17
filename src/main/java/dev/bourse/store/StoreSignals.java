package dev.bourse.store;

import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/**
 * Counters of an engine's commits and reads. Durations are recorded only after {@link
 * #registerMetrics}, because a store opens before the metrics exist.
 */
public final class StoreSignals {
  /** Buckets, from a disk that does not flush to a disk that hangs. */
  private static final double[] SECONDS = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2, 10};

  private static final double[] COMMITS = {1, 2, 4, 8, 16, 32, 64, 128, 256};

  private final LongAdder failures = new LongAdder();
  private final LongAdder reruns = new LongAdder();
  private final LongAdder unknown = new LongAdder();
  private final LongAdder setBacks = new LongAdder();
  private volatile LongConsumer groups = commits -> {};
  private volatile LongConsumer storing = nanos -> {};
  private volatile LongConsumer waits = nanos -> {};

  /** Registers the metrics. */
  public void registerMetrics(Signals signals) {
    groups =
        signals.sizes(
            "bourse_store_group_commits",
            "How many commits were stored together, sharing one flush to disk.",
            COMMITS);
    storing =
        signals
            .times(
                "bourse_store_commit_seconds",
                "Time a group of commits took from its begin to its flush.",
                List.of(),
                SECONDS)
            .at();
    waits =
        signals
            .times(
                "bourse_store_read_wait_seconds",
                "Time a query waited for a reader.",
                List.of(),
                SECONDS)
            .at();
    signals.counters(
        "bourse_store_commit_faults_total",
        """
        Groups of commits that were not stored at once: `failed`, nothing was stored; `rerun` one \
        by one because one failed or another process blocked them; `unknown` for now because the \
        answer was lost.\
        """,
        List.of(Label.OUTCOME),
        readings -> {
          readings.put(failures.sum(), "failed");
          readings.put(reruns.sum(), "rerun");
          readings.put(unknown.sum(), "unknown");
        });
    signals.counter(
        "bourse_store_set_back_total",
        "Times that the database lost, or may have lost, commits it had stored.",
        setBacks::sum);
  }

  /** Returns how often the store was set back. */
  public long setBacks() {
    return setBacks.sum();
  }

  /** Records that the store has lost commits it had confirmed. */
  public void recordSetBack() {
    setBacks.increment();
  }

  /** Records that a group of commits was stored together in a time. */
  public void recordStored(int commits, long nanos) {
    groups.accept(commits);
    storing.accept(nanos);
  }

  /** Records that a group was not stored. */
  public void recordFailure() {
    failures.increment();
  }

  /** Records that a group is executed again, commit by commit. */
  public void recordRerun() {
    reruns.increment();
  }

  /** Records that the outcome of a group is unknown. */
  public void recordUnknown() {
    unknown.increment();
  }

  /** Records how long a query waited for a reader. */
  public void recordReadWait(long nanos) {
    waits.accept(nanos);
  }
}
