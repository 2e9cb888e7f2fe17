package dev.bourse.history;

import dev.bourse.history.History.Row;
import dev.bourse.history.History.State;
import dev.bourse.history.RecordedOperation.Kind;
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
  private final List<RecordedOperation> reads = new ArrayList<>();
  private final List<RecordedOperation> refusals = new ArrayList<>();
  private final List<RecordedOperation> writes = new ArrayList<>();
  private final List<Row> trail = new ArrayList<>();

  /** Who is known to have made each version. */
  private final Map<Long, RecordedOperation> makers = new HashMap<>();

  private final Map<Long, List<RecordedOperation>> unknown = new HashMap<>();
  private final Map<Long, Row> rows = new HashMap<>();
  private final Newest acknowledged = new Newest();
  private final Map<String, Newest> acknowledgedAt = new HashMap<>();
  private final Map<String, Newest> shownAt = new HashMap<>();

  VersionCheck(History history, String cluster, Findings findings) {
    this.history = history;
    this.cluster = cluster;
    this.findings = findings;
  }

  void add(RecordedOperation operation) {
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

  private void acknowledge(RecordedOperation write) {
    writes.add(write);
    RecordedOperation other = makers.putIfAbsent(write.version(), write);
    if (other != null) {
      findings.add(
          HistoryViolation.Kind.DOUBLED,
          "both were acknowledged version " + write.version() + ": " + other + " and " + write);
    }
    if (write.version() != write.expected() + 1) {
      findings.add(
          HistoryViolation.Kind.OUT_OF_ORDER,
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
            HistoryViolation.Kind.DOUBLED,
            cluster + " has two rows of version " + row.version() + told(row.version()));
      }
      RecordedOperation maker = makers.get(row.version());
      if (maker == null) {
        explain(row);
      } else if (!maker.sent().equals(row.what())) {
        findings.add(
            HistoryViolation.Kind.ALTERED,
            "the row says " + row.what() + " of what was sent by " + maker);
      }
    }
    for (RecordedOperation write : writes) {
      if (!rows.containsKey(write.version())) {
        findings.add(
            HistoryViolation.Kind.LOST, "acknowledged, and there is no row of it: " + write);
      }
    }
    State state = history.stored().clusters().getOrDefault(cluster, new State(0, ""));
    for (long version = 1; version <= state.version(); version++) {
      if (!rows.containsKey(version) && !makers.containsKey(version)) {
        findings.add(HistoryViolation.Kind.LOST, cluster + " has no row of version " + version);
      }
    }
    RecordedOperation last = acknowledged.before(Long.MAX_VALUE);
    if (last != null && last.version() > state.version()) {
      findings.add(
          HistoryViolation.Kind.LOST,
          cluster + " is at version " + state.version() + " in the end: " + last);
    }
    if (rows.size() > state.version()) {
      findings.add(
          HistoryViolation.Kind.UNASKED,
          cluster + " has " + rows.size() + " rows and version " + state.version());
    }
    Row row = rows.get(state.version());
    if (row != null && !row.what().equals(state.declared())) {
      findings.add(
          HistoryViolation.Kind.ALTERED,
          cluster + " declares " + state.declared() + " in the end, its last row " + row.what());
    }
  }

  /** Finds who made a version that nobody was acknowledged for. */
  private void explain(Row row) {
    for (RecordedOperation candidate : unknown.getOrDefault(row.version() - 1, List.of())) {
      if (candidate.sent().equals(row.what())) {
        // Of several that are alike any may be the one: the first leaves the most possible.
        makers.merge(
            row.version(), candidate, (a, b) -> a.invokedMicros() <= b.invokedMicros() ? a : b);
      }
    }
    if (!makers.containsKey(row.version())) {
      findings.add(
          HistoryViolation.Kind.UNASKED,
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

  private void checkOrder(RecordedOperation write) {
    RecordedOperation before = acknowledged.before(write.invokedMicros());
    if (before != null && before.version() >= write.version()) {
      findings.add(HistoryViolation.Kind.OUT_OF_ORDER, write + " began after the end of " + before);
    }
  }

  /** A version that stood for the whole of a request is none to refuse it for. */
  private void checkRefusal(RecordedOperation refusal) {
    if (!refusal.shown().equals("version-mismatch")) {
      return;
    }
    RecordedOperation before = acknowledged.before(refusal.invokedMicros());
    RecordedOperation after = makers.get(refusal.expected() + 1);
    boolean wasReached =
        refusal.expected() == 0 || (before != null && before.version() >= refusal.expected());
    if (wasReached && (after == null || after.invokedMicros() > refusal.completedMicros())) {
      findings.add(
          HistoryViolation.Kind.REFUSED_WITHOUT_CAUSE,
          "version " + refusal.expected() + " stood all the while: " + refusal);
    }
  }

  private void checkRead(RecordedOperation read) {
    long began = read.invokedMicros();
    requireSeen(read, newest(acknowledgedAt.get(read.process()), began));
    requireSeen(read, acknowledged.before(began - history.lagMicros(read.process(), began)));
    requireSeen(read, newest(shownAt.get(read.process()), began));
    Row row = rows.get(read.version());
    RecordedOperation maker = makers.get(read.version());
    String truth =
        read.version() == 0
            ? RecordedOperation.NOTHING
            : maker != null ? maker.sent() : row != null ? row.what() : null;
    if (truth == null) {
      findings.add(HistoryViolation.Kind.LOST, "nothing is known of the version in " + read);
    } else if (!truth.equals(read.shown())) {
      findings.add(
          HistoryViolation.Kind.ALTERED,
          read + " does not show what was sent by " + (maker == null ? "nobody" : maker));
    } else if (maker != null && maker.invokedMicros() > read.completedMicros()) {
      findings.add(
          HistoryViolation.Kind.OUT_OF_ORDER, read + " was over before " + maker + " began");
    }
  }

  private static @Nullable RecordedOperation newest(@Nullable Newest told, long micros) {
    return told == null ? null : told.before(micros);
  }

  private void requireSeen(RecordedOperation read, @Nullable RecordedOperation before) {
    if (before != null && before.version() > read.version()) {
      findings.add(HistoryViolation.Kind.STALE, read + " does not show " + before);
    }
  }

  private String told(long version) {
    RecordedOperation maker = makers.get(version);
    return maker == null ? "" : ": " + maker;
  }
}
