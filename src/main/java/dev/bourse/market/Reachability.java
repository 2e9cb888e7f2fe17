package dev.bourse.market;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Trails;
import dev.bourse.capacity.Allocation;
import dev.bourse.nodes.Health;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records which machines of a pool answered the last attempt, when, and the health of their
 * hardware. Changes are stored in a few commits, not one for each machine. The platform's trail
 * records when a machine stops answering, when it answers again and when its health changes, and so
 * does the trail of the organization that holds it. Used on one context by the holder of the pool's
 * lease.
 */
final class Reachability {
  private static final String ACTOR = "system:market";

  /** The longest error of a machine in the contract, in characters. */
  private static final int MAX_ERROR_CHARS = 500;

  /** Machines in one statement; its text is the same for fewer. */
  private static final int SEEN_PER_STATEMENT = 64;

  /** Limits of one commit, so that it occupies the writer for milliseconds; the rest waits. */
  private static final int MAX_SEEN_PER_COMMIT = 32 * SEEN_PER_STATEMENT;

  private static final int MAX_CHANGED_PER_COMMIT = 128;

  private static final String SEEN =
      "UPDATE node SET last_seen = ? WHERE retired_at IS NULL AND node_id IN (%s)"
          .formatted(String.join(", ", Collections.nCopies(SEEN_PER_STATEMENT, "?")));

  /**
   * The columns of the row in the holder's trail, with the node's identity on the holder's surface.
   * They leave out the error, which shows how operators reach machines. There is no row while a
   * machine is being prepared or taken back, because it may be silent then.
   */
  private static final AuditStore.OwnColumns HOLDER =
      new AuditStore.OwnColumns(
          "c.org_id",
          "c.name",
          """
          CASE WHEN c.kind = 'K8S' THEN 'name=' || a.node_id
          ELSE 'public_ip=' || COALESCE(a.public_ip, '') END
          || ' slot=' || a.slot || CAST(? AS TEXT)\
          """);

  private static final String HELD =
      """
      allocation a JOIN cluster c ON c.name = a.cluster
      WHERE a.gone_at IS NULL AND a.state = ? AND a.node_id = ?\
      """;

  private final Database database;
  private final Lease lease;
  private final Set<String> tried = new HashSet<>();

  /** The error of each machine that did not answer. */
  private final Map<String, String> errors = new HashMap<>();

  /** Since when each machine that does not answer has been silent. */
  private final Map<String, Long> silentSince = new HashMap<>();

  /** The stored errors. */
  private final Map<String, String> storedErrors = new HashMap<>();

  /** The health of each machine that was examined. */
  private final Map<String, HealthRecord> health = new HashMap<>();

  /** The stored health. */
  private final Map<String, HealthRecord> storedHealth = new HashMap<>();

  /** The times of answers that are not stored yet, the longest waiting first. */
  private final Map<String, Long> unstoredSeen = new LinkedHashMap<>();

  /** Machines whose error or health changed since it was stored, even if it has changed back. */
  private final Set<String> changed = new LinkedHashSet<>();

  private boolean isStoring;

  /** A machine's health, and since when it has this state. */
  record HealthRecord(Health health, long sinceMillis) {}

  /**
   * The number of machines by their answer to the last attempt.
   *
   * @param unknown machines that were never probed
   */
  record Counts(int reachable, int unreachable, int unknown) {}

  Reachability(Database database, Lease lease) {
    this.database = database;
    this.lease = lease;
  }

  private record ReachabilityRow(
      String nodeId,
      long createdMillis,
      @Nullable Long seenMillis,
      @Nullable String error,
      @Nullable HealthRecord health) {}

  /** Reads the results that the previous holder of the lease stored. */
  Future<Void> load() {
    return database
        .read(
            """
            SELECT node_id, created_at, last_seen, last_error, health, health_since, health_reasons FROM node
            WHERE pool = ? AND retired_at IS NULL\
            """,
            List.of(lease.pool()),
            row ->
                new ReachabilityRow(
                    row.text("node_id"),
                    row.integer("created_at"),
                    row.integerOrNull("last_seen"),
                    row.textOrNull("last_error"),
                    healthOrNull(row)))
        .map(
            rows -> {
              for (ReachabilityRow row : rows) {
                if (row.error() != null) {
                  errors.put(row.nodeId(), row.error());
                  storedErrors.put(row.nodeId(), row.error());
                  silentSince.put(row.nodeId(), silentSince(row.seenMillis(), row.createdMillis()));
                }
                if (row.health() != null) {
                  health.put(row.nodeId(), row.health());
                  storedHealth.put(row.nodeId(), row.health());
                }
                if (row.error() != null || row.seenMillis() != null) {
                  tried.add(row.nodeId());
                }
              }
              return null;
            });
  }

  /** Reads the columns of a node's health; null if it was never examined. */
  static @Nullable HealthRecord healthOrNull(Row row) {
    String state = row.textOrNull("health");
    String reasons = row.textOrNull("health_reasons");
    return state == null
        ? null
        : new HealthRecord(
            new Health(
                Health.State.valueOf(state),
                reasons == null ? List.of() : reasons.lines().toList()),
            row.integer("health_since"));
  }

  /** Returns the reasons as a row stores them, one per line; null if there are none. */
  static @Nullable String reasons(HealthRecord examined) {
    return examined.health().isFaulty() ? String.join("\n", examined.health().reasons()) : null;
  }

  boolean isUnreachable(String nodeId) {
    return errors.containsKey(nodeId);
  }

  /**
   * Records that a machine answered.
   *
   * @return true if it did not answer the attempt before
   */
  boolean recordAnswer(String nodeId, long nowMillis) {
    tried.add(nodeId);
    unstoredSeen.put(nodeId, nowMillis);
    boolean isBack = errors.remove(nodeId) != null;
    silentSince.remove(nodeId);
    if (isBack) {
      changed.add(nodeId);
    }
    return isBack;
  }

  /** Returns since when a machine has not answered; null if it answered the last attempt. */
  @Nullable Long silentSinceMillis(String nodeId) {
    return silentSince.get(nodeId);
  }

  /** Returns since when a machine that does not answer has been silent, by its row. */
  static long silentSince(@Nullable Long seenMillis, long createdMillis) {
    return seenMillis == null ? createdMillis : seenMillis;
  }

  /** Records that a machine did not answer. */
  void recordSilence(String nodeId, Throwable why, long nowMillis) {
    tried.add(nodeId);
    silentSince.putIfAbsent(nodeId, nowMillis);
    String error = shown(String.valueOf(why.getMessage()));
    if (!error.equals(errors.put(nodeId, error))) {
      changed.add(nodeId);
    }
  }

  /** Records the result of an examination. A machine without any check is not recorded. */
  void recordExamination(String nodeId, Health found, long nowMillis) {
    HealthRecord before = health.get(nodeId);
    if (before == null && found.state() == Health.State.UNKNOWN) {
      return;
    }
    List<String> reasons = found.reasons().stream().map(Reachability::shown).toList();
    long since =
        before != null && before.health().state() == found.state()
            ? before.sinceMillis()
            : nowMillis;
    HealthRecord now = new HealthRecord(new Health(found.state(), reasons), since);
    if (!now.equals(before)) {
      health.put(nodeId, now);
      changed.add(nodeId);
    }
  }

  /** Forgets a machine that was replaced or left the pool. */
  void forget(String nodeId) {
    tried.remove(nodeId);
    errors.remove(nodeId);
    silentSince.remove(nodeId);
    storedErrors.remove(nodeId);
    health.remove(nodeId);
    storedHealth.remove(nodeId);
    unstoredSeen.remove(nodeId);
    changed.remove(nodeId);
  }

  Counts counts(int nodes) {
    int known = Math.min(nodes, tried.size());
    int unreachable = Math.min(known, errors.size());
    return new Counts(known - unreachable, unreachable, nodes - known);
  }

  /**
   * Returns the number of machines in each health state; machines that were never examined are
   * unknown.
   *
   * @param nodes the number of all machines
   */
  Map<Health.State, Integer> countHealth(int nodes) {
    Map<Health.State, Integer> counts = new EnumMap<>(Health.State.class);
    for (Health.State state : Health.State.values()) {
      counts.put(state, 0);
    }
    health.values().forEach(one -> counts.merge(one.health().state(), 1, Integer::sum));
    counts.merge(Health.State.UNKNOWN, Math.max(0, nodes - health.size()), Integer::sum);
    return counts;
  }

  /**
   * Stores pending results, up to the limits of one commit. The next call retries a failed commit.
   */
  Future<Void> store(long nowMillis) {
    Map<String, Long> seen = new HashMap<>();
    Iterator<Map.Entry<String, Long>> waiting = unstoredSeen.entrySet().iterator();
    while (waiting.hasNext() && seen.size() < MAX_SEEN_PER_COMMIT) {
      Map.Entry<String, Long> next = waiting.next();
      seen.put(next.getKey(), next.getValue());
    }
    List<String> moved = changed.stream().limit(MAX_CHANGED_PER_COMMIT).toList();
    if (isStoring || (seen.isEmpty() && moved.isEmpty())) {
      return Future.succeededFuture();
    }
    List<Statement> statements = new ArrayList<>();
    statements.add(lease.fence());
    statements.addAll(seenStatements(seen));
    List<CommittedState> becoming = new ArrayList<>();
    for (String nodeId : moved) {
      becoming.add(new CommittedState(nodeId, errors.get(nodeId), health.get(nodeId)));
      addChange(nodeId, nowMillis, statements);
    }
    isStoring = true;
    return database
        .commit(statements)
        .onSuccess(
            stored -> {
              seen.forEach(unstoredSeen::remove);
              becoming.forEach(this::stored);
            })
        .onComplete(done -> isStoring = false);
  }

  /** The state of a machine in a commit. */
  private record CommittedState(
      String nodeId, @Nullable String error, @Nullable HealthRecord health) {}

  private void stored(CommittedState now) {
    String nodeId = now.nodeId();
    if (now.error() == null) {
      storedErrors.remove(nodeId);
    } else {
      storedErrors.put(nodeId, now.error());
    }
    if (now.health() != null) {
      storedHealth.put(nodeId, now.health());
    }
    if (Objects.equals(now.error(), errors.get(nodeId))
        && Objects.equals(now.health(), health.get(nodeId))) {
      changed.remove(nodeId);
    }
  }

  /**
   * Returns the statements that store answers. All machines of a statement get its earliest time,
   * so that no stored time is too late.
   */
  private static List<Statement> seenStatements(Map<String, Long> seen) {
    List<Statement> statements = new ArrayList<>();
    List<Map.Entry<String, Long>> all = List.copyOf(seen.entrySet());
    for (int from = 0; from < all.size(); from += SEEN_PER_STATEMENT) {
      long earliest = Long.MAX_VALUE;
      List<@Nullable Object> values = new ArrayList<>();
      for (int i = 0; i < SEEN_PER_STATEMENT; i++) {
        Map.Entry<String, Long> one = all.get(Math.min(from + i, all.size() - 1));
        earliest = Math.min(earliest, one.getValue());
        values.add(one.getKey());
      }
      values.add(0, earliest);
      statements.add(new Statement(SEEN, values, null, 0));
    }
    return statements;
  }

  private void addChange(String nodeId, long nowMillis, List<Statement> statements) {
    String error = errors.get(nodeId);
    HealthRecord examined = health.get(nodeId);
    boolean wasUnreachable = storedErrors.containsKey(nodeId);
    statements.add(
        Statement.of(
            """
            UPDATE node SET last_error = ?, health = ?, health_since = ?, health_reasons = ?
            WHERE node_id = ? AND retired_at IS NULL\
            """,
            error,
            examined == null ? null : examined.health().state().name(),
            examined == null ? null : examined.sinceMillis(),
            examined == null ? null : reasons(examined),
            nodeId));
    addHealthChange(nodeId, examined, nowMillis, statements);
    if (wasUnreachable != (error != null)) {
      String detail = "pool=" + lease.pool() + (error == null ? "" : " error=" + error);
      statements.add(
          AuditStore.insert(
              new AuditRow(
                  nowMillis,
                  Trails.PLATFORM,
                  ACTOR,
                  error == null ? "node_reachable" : "node_unreachable",
                  nodeId,
                  detail)));
      statements.add(
          AuditStore.insertOfSystem(
              nowMillis,
              ACTOR,
              error == null ? "node_answers" : "node_silent",
              HOLDER,
              HELD,
              "",
              Allocation.State.ACTIVE.name(),
              nodeId));
    }
  }

  /**
   * Records the start or the end of a fault. The first examination of a healthy machine is not
   * recorded.
   */
  private void addHealthChange(
      String nodeId, @Nullable HealthRecord examined, long nowMillis, List<Statement> statements) {
    HealthRecord before = storedHealth.get(nodeId);
    if (examined == null
        || isSameKind(examined, before)
        || !(examined.health().isFaulty() || (before != null && before.health().isFaulty()))) {
      return;
    }
    Health found = examined.health();
    String state = found.state().name().toLowerCase(Locale.ROOT);
    String reasons = found.isFaulty() ? " reasons=" + String.join("; ", found.reasons()) : "";
    statements.add(
        AuditStore.insert(
            new AuditRow(
                nowMillis,
                Trails.PLATFORM,
                ACTOR,
                "node_health",
                nodeId,
                "pool=%s health=%s%s".formatted(lease.pool(), state, reasons))));
    statements.add(
        AuditStore.insertOfSystem(
            nowMillis,
            ACTOR,
            "node_health",
            HOLDER,
            HELD,
            " health=" + state + reasons,
            Allocation.State.ACTIVE.name(),
            nodeId));
  }

  /**
   * Compares states and numbers of faults, because the text of a fault, such as a count of errors,
   * may change at each probe.
   */
  private static boolean isSameKind(HealthRecord examined, @Nullable HealthRecord before) {
    return before != null
        && examined.health().state() == before.health().state()
        && examined.health().reasons().size() == before.health().reasons().size();
  }

  private static String shown(String why) {
    String line = why.replaceAll("\\p{Cc}+", " ");
    return line.length() > MAX_ERROR_CHARS ? line.substring(0, MAX_ERROR_CHARS - 1) + "…" : line;
  }
}
