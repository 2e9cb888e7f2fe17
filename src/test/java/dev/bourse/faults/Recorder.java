package dev.bourse.faults;

import dev.bourse.history.History.Window;
import dev.bourse.history.RecordedOperation;
import dev.bourse.history.RecordedOperation.Kind;
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
  private final Map<String, Map<Kind, Integer>> acknowledged = new HashMap<>();
  private final Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);

  /** Microseconds since the run began. */
  long now() {
    return (System.nanoTime() - began) / 1_000;
  }

  synchronized void add(RecordedOperation operation) {
    operations.add(operation);
    counts.merge(operation.outcome(), 1, Integer::sum);
    if (operation.outcome() == Outcome.ACKNOWLEDGED) {
      acknowledged
          .computeIfAbsent(operation.process(), process -> new EnumMap<>(Kind.class))
          .merge(operation.kind(), 1, Integer::sum);
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

  /**
   * Acknowledged writes of every kind at a process so far. Whether it works at all is told by
   * these: of two clients that declare for one cluster, each on the version it expects, the one at
   * the slower process may come too late every time.
   */
  synchronized int writes(String process) {
    return acknowledged(process, Kind.WRITE)
        + acknowledged(process, Kind.ADD)
        + acknowledged(process, Kind.REMOVE);
  }

  /** Acknowledged declarations at a process so far. */
  synchronized int declarations(String process) {
    return acknowledged(process, Kind.WRITE);
  }

  private int acknowledged(String process, Kind kind) {
    return acknowledged.getOrDefault(process, Map.of()).getOrDefault(kind, 0);
  }
}
