package dev.bourse.store;

import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/**
 * What engines count of commits and reads. A store is open before anybody watches it; how long
 * things take is told from {@link #show} on.
 */
public final class StoreSignals {
  /** From a disk without a flush to one that hangs. */
  private static final double[] SECONDS = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2, 10};

  private static final double[] COMMITS = {1, 2, 4, 8, 16, 32, 64, 128, 256};

  private final LongAdder failures = new LongAdder();
  private final LongAdder reruns = new LongAdder();
  private final LongAdder unknown = new LongAdder();
  private final LongAdder setBacks = new LongAdder();
  private volatile LongConsumer groups = commits -> {};
  private volatile LongConsumer storing = nanos -> {};
  private volatile LongConsumer waits = nanos -> {};

  /** Shows them. */
  public void show(Signals signals) {
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
        Groups of commits that did not go through at once: `failed` and nothing of them is \
        stored, `rerun` one by one since one failed or another process was in the way, or of \
        `unknown` outcome for now, as the answer was lost.\
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

  /** Returns how often that happened. */
  public long setBacks() {
    return setBacks.sum();
  }

  /** The store turned out to have lost commits that it had confirmed. */
  public void setBack() {
    setBacks.increment();
  }

  /** So many commits were stored together, which took so long. */
  public void stored(int commits, long nanos) {
    groups.accept(commits);
    storing.accept(nanos);
  }

  /** Of a group nothing is stored. */
  public void failed() {
    failures.increment();
  }

  /** A group is carried out once more, its commits apart. */
  public void rerun() {
    reruns.increment();
  }

  /** Whether a group is stored is not known. */
  public void unknown() {
    unknown.increment();
  }

  /** A query waited so long for a reader. */
  public void readWaited(long nanos) {
    waits.accept(nanos);
  }
}
