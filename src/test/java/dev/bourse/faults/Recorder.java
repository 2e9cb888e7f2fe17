package dev.bourse.faults;

import dev.bourse.history.History.Window;
import dev.bourse.history.RecordedOperation;
import dev.bourse.history.RecordedOperation.Outcome;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Takes down what clients do and see, by a clock that nobody sets. */
final class Recorder {
  private final long began = System.nanoTime();
  private final List<RecordedOperation> operations = new ArrayList<>();
  private final List<Window> windows = new ArrayList<>();
  private final Map<String, Integer> written = new HashMap<>();
  private final Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);

  /** Microseconds since the run began. */
  long now() {
    return (System.nanoTime() - began) / 1_000;
  }

  synchronized void add(RecordedOperation operation) {
    operations.add(operation);
    counts.merge(operation.outcome(), 1, Integer::sum);
    if (operation.kind() == RecordedOperation.Kind.WRITE
        && operation.outcome() == Outcome.ACKNOWLEDGED) {
      written.merge(operation.process(), 1, Integer::sum);
    }
  }

  /** Notes that a process was cut off from the others for a while. */
  synchronized void add(Window window) {
    windows.add(window);
  }

  synchronized int count(Outcome outcome) {
    return counts.getOrDefault(outcome, 0);
  }

  synchronized List<RecordedOperation> operations() {
    return List.copyOf(operations);
  }

  synchronized List<Window> windows() {
    return List.copyOf(windows);
  }

  /** Those that were answered after a moment. */
  synchronized List<RecordedOperation> since(long micros) {
    return operations.stream().filter(o -> o.completedMicros() >= micros).toList();
  }

  /** Acknowledged writes to a process so far. */
  synchronized int writes(String process) {
    return written.getOrDefault(process, 0);
  }
}
