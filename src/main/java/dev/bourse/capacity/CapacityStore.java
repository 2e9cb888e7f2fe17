package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Rows of clusters and allocations, and the statements of a transition. */
public final class CapacityStore {
  /** What other processes are told when a cluster moves; the key is its name. */
  public static final String CHANGED = "cluster";

  /** The guard of every cluster row: somebody else changed the cluster first. */
  static final String REVISION_GUARD = "revision";

  /** The guard of a new cluster's row: there is one of that name. */
  static final String NAME_GUARD = "cluster name is free";

  /** The guard of a cluster's making: its organization is there and not retired. */
  static final String ORG_GUARD = "organization is live";

  private static final String CLUSTER_COLUMNS =
      "name, org_id, pool, kind, posture, writes_armed, maintenance, version, revision, max_gpus,"
          + " ceiling_cents, priced_at, declared_at, declared_by, bid_too_low,"
          + " capacity_unavailable, last_write_at, provision_failures, hold_stage, hold_reason,"
          + " hold_enforce_after, cap_cents, env";
  private static final String ALLOCATION_COLUMNS =
      "cluster, allocation_id, node_id, public_ip, slot, state, granted_at, active_at,"
          + " protected_until, grant_ceiling_cents, pinned, nomination, swap_requested_at,"
          + " replaces, key_ids, reclaim_reason, reclaim_at";

  private static final int CLUSTER_COLUMN_COUNT = CLUSTER_COLUMNS.split(", ", -1).length;

  private final Database database;

  public CapacityStore(Database database) {
    this.database = database;
  }

  /** Whether other processes may change what this one knows. */
  boolean isShared() {
    return database.isShared();
  }

  /** Every cluster with its live allocations. */
  Future<List<Cluster>> listClusters() {
    return load("", List.of());
  }

  /** The revision of every cluster, by name. */
  Future<Map<String, Long>> listRevisions() {
    return database
        .read(
            "SELECT name, revision FROM cluster",
            List.of(),
            row -> Map.entry(row.text(0), row.integer(1)))
        .map(
            rows -> {
              Map<String, Long> revisions = new HashMap<>();
              rows.forEach(row -> revisions.put(row.getKey(), row.getValue()));
              return revisions;
            });
  }

  /** One cluster as it is stored now. */
  Future<Optional<Cluster>> findCluster(String name) {
    return load(" WHERE c.name = ?", List.of(name)).map(list -> list.stream().findFirst());
  }

  /** One statement, so that a cluster and its allocations are of the same moment. */
  private Future<List<Cluster>> load(String filter, List<String> parameters) {
    return database
        .read(
            "SELECT "
                + prefixed("c", CLUSTER_COLUMNS)
                + ", "
                + prefixed("a", ALLOCATION_COLUMNS)
                + " FROM cluster c LEFT JOIN allocation a"
                + " ON a.cluster = c.name AND a.gone_at IS NULL"
                + filter
                + " ORDER BY c.name, a.slot, a.granted_at",
            parameters,
            row -> new Joined(cluster(row), allocationOrNull(row)))
        .map(CapacityStore::gather);
  }

  /** A row of the join: a cluster without its allocations, and one of them. */
  private record Joined(Cluster cluster, @Nullable Allocation allocation) {}

  private static List<Cluster> gather(List<Joined> rows) {
    List<Cluster> clusters = new ArrayList<>();
    List<Allocation> held = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      Cluster cluster = rows.get(i).cluster();
      Allocation allocation = rows.get(i).allocation();
      if (allocation != null) {
        held.add(allocation);
      }
      boolean isLast =
          i + 1 == rows.size() || !rows.get(i + 1).cluster().name().equals(cluster.name());
      if (isLast) {
        clusters.add(cluster.holding(held));
        held.clear();
      }
    }
    return clusters;
  }

  private static String prefixed(String alias, String columns) {
    return alias + "." + columns.replace(", ", ", " + alias + ".");
  }

  /** Commits a transition, and the fences of whoever asked for it, in one piece. */
  Future<Void> commit(Transition transition, List<Statement> fences, long nowMillis) {
    List<Statement> statements = new ArrayList<>(fences);
    statements.add(update(transition.next()));
    allocationChanges(transition, nowMillis, statements);
    for (Activity entry : transition.activity()) {
      statements.add(insert(entry, transition.next().name(), nowMillis));
    }
    if (transition.audit() != null) {
      statements.add(AuditStore.insert(transition.audit()));
    }
    return database.commit(statements, List.of(new Change(CHANGED, transition.next().name())));
  }

  /** A new cluster with what it holds from the start. */
  public static List<Statement> insert(Cluster cluster, long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    List<@Nullable Object> values = new ArrayList<>();
    values.add(cluster.name());
    values.add(cluster.orgId());
    values.add(cluster.pool());
    values.add(cluster.kind().name());
    addChangeable(values, cluster);
    values.add(nowMillis);
    statements.add(
        new Statement(
            "INSERT INTO cluster (name, org_id, pool, kind, posture, writes_armed, maintenance,"
                + " version, max_gpus, ceiling_cents, priced_at, declared_at, declared_by,"
                + " bid_too_low, capacity_unavailable, last_write_at, provision_failures,"
                + " hold_stage, hold_reason, hold_enforce_after, cap_cents, env, revision,"
                + " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                + " ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
            values,
            NAME_GUARD,
            1));
    cluster.allocations().forEach(a -> statements.add(insert(a, cluster.name())));
    return statements;
  }

  /**
   * Whether an organization may be given a cluster: false when it is retired, empty when there is
   * none of that id.
   */
  Future<Optional<Boolean>> findOrgLive(String orgId) {
    return database
        .read(
            "SELECT retired_at FROM org WHERE org_id = ?",
            List.of(orgId),
            row -> row.integerOrNull(0) == null)
        .map(found -> found.stream().findFirst());
  }

  /** The names of an organization's clusters, those another process has made too. */
  Future<List<String>> listNames(String orgId) {
    return database.read(
        "SELECT name FROM cluster WHERE org_id = ?", List.of(orgId), row -> row.text(0));
  }

  /**
   * Stores a new cluster and the row that records it. Fails on {@link #ORG_GUARD} or {@link
   * #NAME_GUARD}, or as the fences do.
   *
   * @param made the cluster as it begins, and what its activity tells of that
   */
  Future<Void> create(Transition made, List<Statement> fences, AuditRow audit) {
    Cluster cluster = made.next();
    List<Statement> statements = new ArrayList<>();
    // An organization that is being retired must not get a cluster behind the retiring's back.
    statements.add(
        Statement.guarded(
            ORG_GUARD,
            "UPDATE org SET org_id = org_id WHERE org_id = ? AND retired_at IS NULL",
            cluster.orgId()));
    statements.addAll(fences);
    statements.addAll(insert(cluster, audit.atMillis()));
    made.activity()
        .forEach(entry -> statements.add(insert(entry, cluster.name(), audit.atMillis())));
    statements.add(AuditStore.insert(audit));
    return database.commit(statements, List.of(new Change(CHANGED, cluster.name())));
  }

  /** An entry of a cluster's activity. */
  public static Statement insert(Activity entry, String cluster, long nowMillis) {
    return Statement.of(
        "INSERT INTO activity (ts, cluster, kind, actor, who, max_gpus, ceiling_cents, note,"
            + " reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        nowMillis,
        cluster,
        entry.kind(),
        entry.actor(),
        entry.who(),
        entry.maxGpus(),
        entry.ceilingCents(),
        entry.note(),
        entry.reason());
  }

  private static Statement update(Cluster next) {
    List<@Nullable Object> values = new ArrayList<>();
    addChangeable(values, next);
    values.add(next.name());
    values.add(next.revision() - 1);
    return new Statement(
        "UPDATE cluster SET posture = ?, writes_armed = ?, maintenance = ?, version = ?,"
            + " max_gpus = ?, ceiling_cents = ?, priced_at = ?, declared_at = ?, declared_by = ?,"
            + " bid_too_low = ?, capacity_unavailable = ?, last_write_at = ?,"
            + " provision_failures = ?, hold_stage = ?, hold_reason = ?, hold_enforce_after = ?,"
            + " cap_cents = ?, env = ?, revision = ? WHERE name = ? AND revision = ?",
        values,
        REVISION_GUARD,
        1);
  }

  /** The columns that change in a cluster's life, in one order for insert and update. */
  private static void addChangeable(List<@Nullable Object> values, Cluster cluster) {
    Declaration declared = cluster.declared();
    Hold hold = cluster.hold();
    values.add(cluster.posture().name());
    values.add(cluster.writesArmed());
    values.add(cluster.maintenance());
    values.add(cluster.version());
    values.add(declared == null ? null : declared.maxGpus());
    values.add(declared == null ? null : declared.ceilingCents());
    values.add(declared == null ? null : declared.pricedAtMillis());
    values.add(declared == null ? null : declared.updatedAtMillis());
    values.add(declared == null ? null : declared.updatedBy());
    values.add(cluster.verdict().bidTooLow());
    values.add(cluster.verdict().capacityUnavailable());
    values.add(cluster.lastWriteAtMillis());
    values.add(cluster.provisionFailures());
    values.add(hold == null ? null : hold.stage().name());
    values.add(hold == null ? null : hold.reason());
    values.add(hold == null ? null : hold.enforceAfterMillis());
    values.add(cluster.overrides().capCents());
    values.add(json(cluster.overrides().env()));
    values.add(cluster.revision());
  }

  private static void allocationChanges(
      Transition transition, long nowMillis, List<Statement> statements) {
    List<Allocation> before = transition.before().allocations();
    List<Allocation> after = transition.next().allocations();
    if (before.equals(after)) {
      return;
    }
    Map<String, Allocation> known = new HashMap<>();
    before.forEach(a -> known.put(a.allocationId(), a));
    Set<String> kept = new HashSet<>();
    for (Allocation allocation : after) {
      kept.add(allocation.allocationId());
      Allocation old = known.get(allocation.allocationId());
      if (old == null) {
        statements.add(insert(allocation, transition.next().name()));
      } else if (!old.equals(allocation)) {
        statements.add(update(allocation));
      }
    }
    for (Allocation old : before) {
      if (!kept.contains(old.allocationId())) {
        statements.add(
            Statement.guarded(
                "allocation",
                "UPDATE allocation SET gone_at = ? WHERE allocation_id = ?",
                nowMillis,
                old.allocationId()));
      }
    }
  }

  private static Statement insert(Allocation a, String cluster) {
    return Statement.of(
        "INSERT INTO allocation ("
            + ALLOCATION_COLUMNS
            + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        cluster,
        a.allocationId(),
        a.nodeId(),
        a.publicIp(),
        a.slot(),
        a.state().name(),
        a.grantedAtMillis(),
        a.activeAtMillis(),
        a.protectedUntilMillis(),
        a.grantCeilingCents(),
        a.pinned(),
        a.nomination(),
        a.swapRequestedAtMillis(),
        a.replaces(),
        String.join(" ", a.keyIds()),
        a.reclaim() == null ? null : a.reclaim().reason().name(),
        a.reclaim() == null ? null : a.reclaim().atMillis());
  }

  private static Statement update(Allocation a) {
    return Statement.guarded(
        "allocation",
        "UPDATE allocation SET state = ?, active_at = ?, protected_until = ?,"
            + " grant_ceiling_cents = ?, pinned = ?, nomination = ?, swap_requested_at = ?,"
            + " replaces = ?, reclaim_reason = ?, reclaim_at = ? WHERE allocation_id = ?",
        a.state().name(),
        a.activeAtMillis(),
        a.protectedUntilMillis(),
        a.grantCeilingCents(),
        a.pinned(),
        a.nomination(),
        a.swapRequestedAtMillis(),
        a.replaces(),
        a.reclaim() == null ? null : a.reclaim().reason().name(),
        a.reclaim() == null ? null : a.reclaim().atMillis(),
        a.allocationId());
  }

  private static Cluster cluster(Row row) {
    Long maxGpus = row.integerOrNull(9);
    Declaration declared =
        maxGpus == null
            ? null
            : new Declaration(
                Math.toIntExact(maxGpus),
                row.integer(10),
                row.integer(11),
                row.integer(12),
                row.text(13));
    Long unavailable = row.integerOrNull(15);
    String stage = row.textOrNull(18);
    return new Cluster(
        row.text(0),
        row.text(1),
        row.text(2),
        Cluster.Kind.valueOf(row.text(3)),
        Cluster.Posture.valueOf(row.text(4)),
        row.truth(5),
        row.truth(6),
        row.integer(7),
        row.integer(8),
        declared,
        List.of(),
        new Verdict(row.truth(14), unavailable == null ? null : unavailable != 0),
        row.integer(16),
        Math.toIntExact(row.integer(17)),
        stage == null
            ? null
            : new Hold(Hold.Stage.valueOf(stage), row.text(19), row.integerOrNull(20)),
        overrides(row.integerOrNull(21), row.textOrNull(22)));
  }

  private static @Nullable String json(Map<String, Optional<String>> env) {
    if (env.isEmpty()) {
      return null;
    }
    JsonObject json = new JsonObject();
    env.forEach((name, value) -> json.put(name, value.orElse(null)));
    return json.encode();
  }

  private static Overrides overrides(@Nullable Long capCents, @Nullable String env) {
    if (capCents == null && env == null) {
      return Overrides.NONE;
    }
    Map<String, Optional<String>> variables = new HashMap<>();
    if (env != null) {
      JsonObject json = new JsonObject(env);
      json.fieldNames()
          .forEach(name -> variables.put(name, Optional.ofNullable(json.getString(name))));
    }
    return new Overrides(capCents, variables);
  }

  private static @Nullable Allocation allocationOrNull(Row row) {
    int first = CLUSTER_COLUMN_COUNT;
    String allocationId = row.textOrNull(first + 1);
    if (allocationId == null) {
      return null;
    }
    String keyIds = row.text(first + 14);
    String reason = row.textOrNull(first + 15);
    return new Allocation(
        allocationId,
        row.text(first + 2),
        row.textOrNull(first + 3),
        Math.toIntExact(row.integer(first + 4)),
        Allocation.State.valueOf(row.text(first + 5)),
        row.integer(first + 6),
        row.integerOrNull(first + 7),
        row.integerOrNull(first + 8),
        row.integer(first + 9),
        row.truth(first + 10),
        Math.toIntExact(row.integer(first + 11)),
        row.integerOrNull(first + 12),
        row.textOrNull(first + 13),
        keyIds.isEmpty() ? List.of() : List.of(keyIds.split(" ", -1)),
        reason == null
            ? null
            : new Allocation.Reclaim(
                Allocation.Reason.valueOf(reason),
                Objects.requireNonNull(row.integerOrNull(first + 16))));
  }
}
