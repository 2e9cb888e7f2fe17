package dev.bourse.market;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Trails;
import dev.bourse.capacity.Allocation;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which machines of a pool answered when they were last tried, and when. What changed is stored in
 * a few commits, not in one for each machine; the platform's trail records when a machine stops
 * answering and when it answers again, and so does that of the organization that holds it. Used on
 * one context by the holder of the pool's lease.
 */
final class Reachability {
  private static final String ACTOR = "system:market";

  /** Characters kept of why a machine did not answer, as the contract has it. */
  private static final int MAX_ERROR_CHARS = 500;

  /** How many machines one statement covers; its text is the same for fewer. */
  private static final int SEEN_PER_STATEMENT = 64;

  /** Bounds of one commit, so that it occupies the writer for milliseconds; the rest waits. */
  private static final int MAX_SEEN_PER_COMMIT = 32 * SEEN_PER_STATEMENT;

  private static final int MAX_CHANGED_PER_COMMIT = 128;

  private static final String SEEN =
      "UPDATE node SET last_seen = ? WHERE retired_at IS NULL AND node_id IN (%s)"
          .formatted(String.join(", ", Collections.nCopies(SEEN_PER_STATEMENT, "?")));

  /**
   * What the organization that holds a machine is told. Not the error, which tells how operators
   * reach machines; and nothing while a machine is being prepared or taken back, when it may well
   * be silent.
   */
  private static final AuditStore.OwnColumns HOLDER =
      new AuditStore.OwnColumns(
          "c.org_id", "c.name", "'public_ip=' || COALESCE(a.public_ip, '') || ' slot=' || a.slot");

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

  /** The errors that are stored. */
  private final Map<String, String> storedErrors = new HashMap<>();

  /** When machines were seen, as far as that is not stored yet; the longest waiting first. */
  private final Map<String, Long> unstoredSeen = new LinkedHashMap<>();

  /** Machines whose error changed since it was stored, even if it has changed back. */
  private final Set<String> changed = new LinkedHashSet<>();

  private boolean isStoring;

  /**
   * How many machines answered when they were last tried.
   *
   * @param unknown those never tried
   */
  record Counts(int reachable, int unreachable, int unknown) {}

  Reachability(Database database, Lease lease) {
    this.database = database;
    this.lease = lease;
  }

  private record Stored(String nodeId, @Nullable Long seenMillis, @Nullable String error) {}

  /** Reads what the previous holder of the lease saw last. */
  Future<Void> load() {
    return database
        .read(
            """
            SELECT node_id, last_seen, last_error FROM node
            WHERE pool = ? AND retired_at IS NULL\
            """,
            List.of(lease.pool()),
            row ->
                new Stored(
                    row.text("node_id"),
                    row.integerOrNull("last_seen"),
                    row.textOrNull("last_error")))
        .map(
            rows -> {
              for (Stored row : rows) {
                if (row.error() != null) {
                  errors.put(row.nodeId(), row.error());
                  storedErrors.put(row.nodeId(), row.error());
                }
                if (row.error() != null || row.seenMillis() != null) {
                  tried.add(row.nodeId());
                }
              }
              return null;
            });
  }

  boolean isUnreachable(String nodeId) {
    return errors.containsKey(nodeId);
  }

  /**
   * A machine answered.
   *
   * @return whether it had not when it was tried before
   */
  boolean seen(String nodeId, long nowMillis) {
    tried.add(nodeId);
    unstoredSeen.put(nodeId, nowMillis);
    boolean isBack = errors.remove(nodeId) != null;
    if (isBack) {
      changed.add(nodeId);
    }
    return isBack;
  }

  /** A machine did not answer. */
  void missed(String nodeId, Throwable why) {
    tried.add(nodeId);
    String error = shown(String.valueOf(why.getMessage()));
    if (!error.equals(errors.put(nodeId, error))) {
      changed.add(nodeId);
    }
  }

  /** The machine is another, or gone. */
  void forget(String nodeId) {
    tried.remove(nodeId);
    errors.remove(nodeId);
    storedErrors.remove(nodeId);
    unstoredSeen.remove(nodeId);
    changed.remove(nodeId);
  }

  Counts counts(int nodes) {
    int known = Math.min(nodes, tried.size());
    int unreachable = Math.min(known, errors.size());
    return new Counts(known - unreachable, unreachable, nodes - known);
  }

  /** Stores what is not stored yet, as far as one commit may; what fails is stored next time. */
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
    Map<String, @Nullable String> becoming = new HashMap<>();
    for (String nodeId : moved) {
      becoming.put(nodeId, errors.get(nodeId));
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

  private void stored(String nodeId, @Nullable String error) {
    if (error == null) {
      storedErrors.remove(nodeId);
    } else {
      storedErrors.put(nodeId, error);
    }
    if (Objects.equals(error, errors.get(nodeId))) {
      changed.remove(nodeId);
    }
  }

  /** With the earliest of their times for all of a statement: none is said to be seen too late. */
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
    boolean wasUnreachable = storedErrors.containsKey(nodeId);
    statements.add(
        Statement.of(
            "UPDATE node SET last_error = ? WHERE node_id = ? AND retired_at IS NULL",
            error,
            nodeId));
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
              Allocation.State.ACTIVE.name(),
              nodeId));
    }
  }

  private static String shown(String why) {
    String line = why.replaceAll("\\p{Cc}+", " ");
    return line.length() > MAX_ERROR_CHARS ? line.substring(0, MAX_ERROR_CHARS - 1) + "…" : line;
  }
}
