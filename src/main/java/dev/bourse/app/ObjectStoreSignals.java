package dev.bourse.app;

import dev.bourse.blob.s3.CallListener;
import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Counts the outcomes of calls to object stores, and measures their time. */
final class ObjectStoreSignals implements CallListener {
  /** Buckets, from a store in the same rack to a store that does not answer before the time-out. */
  private static final double[] SECONDS = {
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60
  };

  private final LongAdder answered = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final Signals.Times seconds;

  ObjectStoreSignals(Signals signals) {
    signals.counter(
        "bourse_object_store_calls_total", "Calls the object store answered.", answered::sum);
    signals.counter(
        "bourse_object_store_failures_total",
        "Calls that the object store failed, including retries.",
        failed::sum);
    seconds =
        signals.times(
            "bourse_object_store_seconds",
            "Time of calls to the object store, including retries; of a get until its first bytes.",
            List.of(Label.OPERATION, Label.OUTCOME),
            SECONDS);
  }

  @Override
  public void ended(String operation, Outcome outcome, long nanos) {
    (outcome.isAnswer() ? answered : failed).increment();
    seconds.took(nanos, operation, outcome.label());
  }
}
