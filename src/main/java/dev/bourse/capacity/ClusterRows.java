package dev.bourse.capacity;

import dev.bourse.store.GuardFailed;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Clusters and allocations as rows: columns, one row's statements, and reading them back. */
final class ClusterRows {
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

  private ClusterRows() {}

  /**
   * Clusters, each once for every live allocation, and once when there is none; for {@link
   * #gather}. One statement, so that a cluster and its allocations are of the same moment.
   *
   * @param filter empty, or a condition on the cluster {@code c}
   */
  static String select(String filter) {
    return "SELECT "
        + prefixed("c", CLUSTER_COLUMNS)
        + ", "
        + prefixed("a", ALLOCATION_COLUMNS)
        + " FROM cluster c LEFT JOIN allocation a"
        + " ON a.cluster = c.name AND a.gone_at IS NULL"
        + filter
        + " ORDER BY c.name, a.slot, a.granted_at";
  }

  /** A row of the join: a cluster without its allocations, and one of them. */
  record Joined(Cluster cluster, @Nullable Allocation allocation) {}

  static Joined joined(Row row) {
    return new Joined(cluster(row), allocationOrNull(row));
  }

  /** The clusters of a selection, in its order. */
  static List<Cluster> gather(List<Joined> rows) {
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

  /** A new cluster; fails on {@link CapacityStore#NAME_GUARD}. */
  static Statement insert(Cluster cluster, long nowMillis) {
    List<@Nullable Object> values = new ArrayList<>();
    values.add(cluster.name());
    values.add(cluster.orgId());
    values.add(cluster.pool());
    values.add(cluster.kind().name());
    addChangeable(values, cluster);
    values.add(nowMillis);
    return new Statement(
        "INSERT INTO cluster (name, org_id, pool, kind, posture, writes_armed, maintenance,"
            + " version, max_gpus, ceiling_cents, priced_at, declared_at, declared_by,"
            + " bid_too_low, capacity_unavailable, last_write_at, provision_failures,"
            + " hold_stage, hold_reason, hold_enforce_after, cap_cents, env, revision,"
            + " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
            + " ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
        values,
        () -> new GuardFailed(CapacityStore.NAME_GUARD),
        1);
  }

  /** A cluster's next state; fails on {@link CapacityStore#REVISION_GUARD}. */
  static Statement update(Cluster next) {
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
        () -> new GuardFailed(CapacityStore.REVISION_GUARD),
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

  static Statement insert(Allocation a, String cluster) {
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

  static Statement update(Allocation a) {
    return Statement.guarded(
        "allocation",
        "UPDATE allocation SET state = ?, granted_at = ?, active_at = ?, protected_until = ?,"
            + " grant_ceiling_cents = ?, pinned = ?, nomination = ?, swap_requested_at = ?,"
            + " replaces = ?, reclaim_reason = ?, reclaim_at = ? WHERE allocation_id = ?",
        a.state().name(),
        a.grantedAtMillis(),
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
