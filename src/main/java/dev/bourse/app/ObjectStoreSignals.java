package dev.bourse.app;

import dev.bourse.blob.s3.CallListener;
import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** What the calls to object stores come to, and how long they take. */
final class ObjectStoreSignals implements CallListener {
  /** From a store beside the service to one that is silent until a call is given up. */
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
        "Calls the object store did not do, repetitions included.",
        failed::sum);
    seconds =
        signals.times(
            "bourse_object_store_seconds",
            "Time of calls to the object store, repetitions included; of a get to its first bytes.",
            List.of(Label.OPERATION, Label.OUTCOME),
            SECONDS);
  }

  @Override
  public void ended(String operation, Outcome outcome, long nanos) {
    (outcome.isAnswer() ? answered : failed).increment();
    seconds.took(nanos, operation, outcome.label());
  }
}
