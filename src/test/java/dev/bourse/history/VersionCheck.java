package dev.bourse.history;

import dev.bourse.history.History.Row;
import dev.bourse.history.History.State;
import dev.bourse.history.Operation.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The writes and reads of one cluster. */
final class VersionCheck {
  private final History history;
  private final String cluster;
  private final Findings findings;
  private final List<Operation> reads = new ArrayList<>();
  private final List<Operation> refusals = new ArrayList<>();
  private final List<Operation> writes = new ArrayList<>();
  private final List<Row> trail = new ArrayList<>();

  /** Who is known to have made each version. */
  private final Map<Long, Operation> makers = new HashMap<>();

  private final Map<Long, List<Operation>> unknown = new HashMap<>();
  private final Map<Long, Row> rows = new HashMap<>();
  private final Newest acknowledged = new Newest();
  private final Map<String, Newest> acknowledgedAt = new HashMap<>();
  private final Map<String, Newest> shownAt = new HashMap<>();

  VersionCheck(History history, String cluster, Findings findings) {
    this.history = history;
    this.cluster = cluster;
    this.findings = findings;
  }

  void add(Operation operation) {
    if (operation.kind() == Kind.READ) {
      if (operation.isAcknowledged()) {
        reads.add(operation);
        shownAt.computeIfAbsent(operation.process(), p -> new Newest()).add(operation);
      }
      return;
    }
    switch (operation.outcome()) {
      case ACKNOWLEDGED -> acknowledge(operation);
      case REFUSED -> refusals.add(operation);
      case UNKNOWN ->
          unknown.computeIfAbsent(operation.expected(), e -> new ArrayList<>()).add(operation);
    }
  }

  private void acknowledge(Operation write) {
    writes.add(write);
    Operation other = makers.putIfAbsent(write.version(), write);
    if (other != null) {
      findings.add(
          Violation.Kind.DOUBLED,
          "both were acknowledged version " + write.version() + ": " + other + " and " + write);
    }
    if (write.version() != write.expected() + 1) {
      findings.add(
          Violation.Kind.OUT_OF_ORDER,
          "the version is not the one after what was expected: " + write);
    }
    acknowledged.add(write);
    acknowledgedAt.computeIfAbsent(write.process(), p -> new Newest()).add(write);
    shownAt.computeIfAbsent(write.process(), p -> new Newest()).add(write);
  }

  void add(Row row) {
    trail.add(row);
  }

  void check() {
    checkStored();
    writes.forEach(this::checkOrder);
    refusals.forEach(this::checkRefusal);
    reads.forEach(this::checkRead);
  }

  /** What is stored is what was acknowledged, and what nobody knows about; each once. */
  private void checkStored() {
    for (Row row : trail) {
      if (rows.putIfAbsent(row.version(), row) != null) {
        findings.add(
            Violation.Kind.DOUBLED,
            cluster + " has two rows of version " + row.version() + told(row.version()));
      }
      Operation maker = makers.get(row.version());
      if (maker == null) {
        explain(row);
      } else if (!maker.sent().equals(row.what())) {
        findings.add(
            Violation.Kind.ALTERED, "the row says " + row.what() + " of what was sent by " + maker);
      }
    }
    for (Operation write : writes) {
      if (!rows.containsKey(write.version())) {
        findings.add(Violation.Kind.LOST, "acknowledged, and there is no row of it: " + write);
      }
    }
    State state = history.stored().clusters().getOrDefault(cluster, new State(0, ""));
    for (long version = 1; version <= state.version(); version++) {
      if (!rows.containsKey(version) && !makers.containsKey(version)) {
        findings.add(Violation.Kind.LOST, cluster + " has no row of version " + version);
      }
    }
    Operation last = acknowledged.before(Long.MAX_VALUE);
    if (last != null && last.version() > state.version()) {
      findings.add(
          Violation.Kind.LOST,
          cluster + " is at version " + state.version() + " in the end: " + last);
    }
    if (rows.size() > state.version()) {
      findings.add(
          Violation.Kind.UNASKED,
          cluster + " has " + rows.size() + " rows and version " + state.version());
    }
    Row row = rows.get(state.version());
    if (row != null && !row.what().equals(state.declared())) {
      findings.add(
          Violation.Kind.ALTERED,
          cluster + " declares " + state.declared() + " in the end, its last row " + row.what());
    }
  }

  /** Finds who made a version that nobody was acknowledged for. */
  private void explain(Row row) {
    for (Operation candidate : unknown.getOrDefault(row.version() - 1, List.of())) {
      if (candidate.sent().equals(row.what())) {
        // Of several that are alike any may be the one: the first leaves the most possible.
        makers.merge(
            row.version(), candidate, (a, b) -> a.invokedMicros() <= b.invokedMicros() ? a : b);
      }
    }
    if (!makers.containsKey(row.version())) {
      findings.add(
          Violation.Kind.UNASKED,
          "stored as version "
              + row.version()
              + " of "
              + cluster
              + ": "
              + row.what()
              + ", which "
              + refusals.stream()
                  .filter(r -> r.expected() == row.version() - 1 && r.sent().equals(row.what()))
                  .findFirst()
                  .map(r -> "was refused: " + r)
                  .orElse("nobody sent"));
    }
  }

  private void checkOrder(Operation write) {
    Operation before = acknowledged.before(write.invokedMicros());
    if (before != null && before.version() >= write.version()) {
      findings.add(Violation.Kind.OUT_OF_ORDER, write + " began after the end of " + before);
    }
  }

  /** A version that stood for the whole of a request is none to refuse it for. */
  private void checkRefusal(Operation refusal) {
    if (!refusal.shown().equals("version-mismatch")) {
      return;
    }
    Operation before = acknowledged.before(refusal.invokedMicros());
    Operation after = makers.get(refusal.expected() + 1);
    boolean wasReached =
        refusal.expected() == 0 || (before != null && before.version() >= refusal.expected());
    if (wasReached && (after == null || after.invokedMicros() > refusal.completedMicros())) {
      findings.add(
          Violation.Kind.REFUSED_WITHOUT_CAUSE,
          "version " + refusal.expected() + " stood all the while: " + refusal);
    }
  }

  private void checkRead(Operation read) {
    long began = read.invokedMicros();
    requireSeen(read, newest(acknowledgedAt.get(read.process()), began));
    requireSeen(read, acknowledged.before(began - history.lagMicros(read.process(), began)));
    requireSeen(read, newest(shownAt.get(read.process()), began));
    Row row = rows.get(read.version());
    Operation maker = makers.get(read.version());
    String truth =
        read.version() == 0
            ? Operation.NOTHING
            : maker != null ? maker.sent() : row != null ? row.what() : null;
    if (truth == null) {
      findings.add(Violation.Kind.LOST, "nothing is known of the version in " + read);
    } else if (!truth.equals(read.shown())) {
      findings.add(
          Violation.Kind.ALTERED,
          read + " does not show what was sent by " + (maker == null ? "nobody" : maker));
    } else if (maker != null && maker.invokedMicros() > read.completedMicros()) {
      findings.add(Violation.Kind.OUT_OF_ORDER, read + " was over before " + maker + " began");
    }
  }

  private static @Nullable Operation newest(@Nullable Newest told, long micros) {
    return told == null ? null : told.before(micros);
  }

  private void requireSeen(Operation read, @Nullable Operation before) {
    if (before != null && before.version() > read.version()) {
      findings.add(Violation.Kind.STALE, read + " does not show " + before);
    }
  }

  private String told(long version) {
    Operation maker = makers.get(version);
    return maker == null ? "" : ": " + maker;
  }
}
