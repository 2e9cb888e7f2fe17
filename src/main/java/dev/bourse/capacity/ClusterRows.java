package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.json.JsonBytes;
import dev.bourse.store.Columns;
import dev.bourse.store.JsonRow;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the rows of clusters. One query reads clusters with their allocations. For each
 * part of a cluster, one method lists its columns and the next one reads them; a new field of a
 * part is one line in each.
 */
final class ClusterRows {
  private record ClusterRow(Cluster cluster, long createdAtMillis) {
    <V> @Nullable V declared(Function<Declaration, @Nullable V> part) {
      Declaration declared = cluster.declared();
      return declared == null ? null : part.apply(declared);
    }

    Conditions conditions() {
      return Declaration.conditionsOf(cluster.declared());
    }

    <V> @Nullable V budget(Function<Conditions.Budget, V> part) {
      Conditions.Budget budget = conditions().budget();
      return budget == null ? null : part.apply(budget);
    }

    <V> @Nullable V gate(Function<Standing.Gate, V> part) {
      Standing.Gate gate = cluster.standing().gate();
      return gate == null ? null : part.apply(gate);
    }

    @Nullable Long drilledAtMillis() {
      Drill drill = cluster.drill();
      return drill == null ? null : Long.valueOf(drill.startedAtMillis());
    }

    <V> @Nullable V hold(Function<Hold, @Nullable V> part) {
      Hold hold = cluster.hold();
      return hold == null ? null : part.apply(hold);
    }
  }

  private static final Columns<ClusterRow> CLUSTER =
      withMarket(
          withHold(
              withConditions(
                  withDeclaration(
                      withWrites(withControls(withIdentity(Columns.<ClusterRow>of("cluster"))))))));

  /** The most allocations in a notification; more of them never fit, however short their texts. */
  private static final int MOST_ALLOCATIONS = 24;

  /** The order of {@link #SELECT}: a notification must equal the result of a read. */
  private static final Comparator<Allocation> STORED_ORDER =
      Comparator.comparingInt(Allocation::slot)
          .thenComparing(Allocation::grantedAtMillis)
          .thenComparing(Allocation::allocationId);

  /** The field of allocations beside the columns of a cluster; no column has this name. */
  private static final String ALLOCATIONS = "allocations";

  private static final String SELECT =
      """
      SELECT %s, %s FROM %%s c LEFT JOIN allocation a
      ON a.cluster = c.name AND a.gone_at IS NULL%%s ORDER BY c.name, a.slot, a.granted_at, a.allocation_id\
      """
          .formatted(CLUSTER.names("c"), AllocationRows.names("a"));

  /** True for a row of table {@code cluster} whose {@link Cluster#isSettled} is true. */
  static final String SETTLED =
      """
      (cluster.retired_at IS NOT NULL AND cluster.hold_stage IS NULL AND cluster.until_at IS NULL
      AND COALESCE(cluster.awaited_slots, 0) = 0 AND cluster.gave_up_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM allocation s
      WHERE s.cluster = cluster.name AND s.gone_at IS NULL))\
      """;

  private ClusterRows() {}

  private static Columns<ClusterRow> withIdentity(Columns<ClusterRow> columns) {
    return columns
        .fixed("name", r -> r.cluster.name())
        .fixed("org_id", r -> r.cluster.orgId())
        .fixed("pool", r -> r.cluster.pool())
        .fixed("kind", r -> r.cluster.kind().name())
        .fixed("created_at", ClusterRow::createdAtMillis);
  }

  private static Cluster.Identity identity(Row row, UnaryOperator<String> share) {
    return new Cluster.Identity(
        row.text("name"),
        share.apply(row.text("org_id")),
        share.apply(row.text("pool")),
        row.value(Cluster.Kind.class, "kind"));
  }

  private static Columns<ClusterRow> withControls(Columns<ClusterRow> columns) {
    return columns
        .changing("posture", r -> r.cluster.posture().name())
        .changing("writes_armed", r -> r.cluster.writesArmed())
        .changing("maintenance", r -> r.cluster.maintenance())
        .changing("cap_cents", r -> r.cluster.overrides().capCents())
        .changing("env", r -> json(r.cluster.overrides().env()))
        .changing("description", r -> r.cluster.description())
        .changing("retired_at", r -> r.cluster.retiredAtMillis());
  }

  private static Cluster.Controls controls(Row row) {
    return new Cluster.Controls(
        row.value(Cluster.Posture.class, "posture"),
        row.truth("writes_armed"),
        row.truth("maintenance"),
        overrides(row.integerOrNull("cap_cents"), row.textOrNull("env")),
        row.textOrNull("description"),
        row.integerOrNull("retired_at"));
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

  private static Columns<ClusterRow> withWrites(Columns<ClusterRow> columns) {
    return columns
        .changing("version", r -> r.cluster.version())
        .changing("revision", r -> r.cluster.revision())
        .changing("last_write_at", r -> r.cluster.writes().lastAtMillis());
  }

  private static Cluster.Writes writes(Row row) {
    return new Cluster.Writes(
        row.integer("version"), row.integer("revision"), row.integer("last_write_at"));
  }

  private static Columns<ClusterRow> withDeclaration(Columns<ClusterRow> columns) {
    return columns
        .changing("max_gpus", r -> r.declared(Declaration::maxGpus))
        .changing("ceiling_cents", r -> r.declared(Declaration::ceilingCents))
        .changing("priced_at", r -> r.declared(Declaration::pricedAtMillis))
        .changing("effective_at", r -> r.declared(Declaration::effectiveAtMillis))
        .changing("declared_at", r -> r.declared(Declaration::updatedAtMillis))
        .changing("declared_by", r -> r.declared(Declaration::updatedBy))
        .changing("declared_with", r -> r.declared(declared -> declared.write().grantId()));
  }

  private static @Nullable Declaration declared(Row row, UnaryOperator<String> share) {
    return row.integerOrNull("max_gpus") == null
        ? null
        : new Declaration(
            row.smallInteger("max_gpus"),
            new Declaration.Ceiling(
                row.integer("ceiling_cents"),
                row.integer("priced_at"),
                row.integerOrNull("effective_at")),
            new Declaration.LastWrite(
                row.integer("declared_at"),
                share.apply(row.text("declared_by")),
                row.textOrNull("declared_with")),
            conditions(row));
  }

  private static Columns<ClusterRow> withConditions(Columns<ClusterRow> columns) {
    return columns
        .changing("min_gpus", r -> r.conditions().minGpus())
        .changing("until_at", r -> r.conditions().untilMillis())
        .changing("max_spend_cents", r -> r.budget(Conditions.Budget::maxSpendCents))
        .changing("spend_since", r -> r.budget(Conditions.Budget::sinceMillis))
        .changing("auto_swap", r -> r.conditions().autoSwap());
  }

  private static Conditions conditions(Row row) {
    Long maxSpendCents = row.integerOrNull("max_spend_cents");
    Long sinceMillis = row.integerOrNull("spend_since");
    return new Conditions(
        AllocationRows.smallIntegerOrNull(row, "min_gpus"),
        row.integerOrNull("until_at"),
        maxSpendCents == null || sinceMillis == null
            ? null
            : new Conditions.Budget(maxSpendCents, sinceMillis),
        row.truth("auto_swap"));
  }

  private static Columns<ClusterRow> withHold(Columns<ClusterRow> columns) {
    return columns
        .changing("hold_stage", r -> r.hold(hold -> hold.stage().name()))
        .changing("hold_reason", r -> r.hold(Hold::reason))
        .changing("hold_enforce_after", r -> r.hold(Hold::enforceAfterMillis));
  }

  private static @Nullable Hold hold(Row row) {
    return row.textOrNull("hold_stage") == null
        ? null
        : new Hold(
            row.value(Hold.Stage.class, "hold_stage"),
            row.text("hold_reason"),
            row.integerOrNull("hold_enforce_after"));
  }

  private static Columns<ClusterRow> withMarket(Columns<ClusterRow> columns) {
    return columns
        .changing("bid_too_low", r -> r.cluster.verdict().bidTooLow())
        .changing("capacity_unavailable", r -> r.cluster.verdict().capacityUnavailable())
        .changing("alerts", r -> AlertText.write(r.cluster.alerts()))
        .changing("provision_failures", r -> r.cluster.setbacks().provisionFailures())
        .changing("gang_unwound_at", r -> r.cluster.setbacks().gangUnwoundAtMillis())
        .changing("join_refused_at", r -> r.cluster.setbacks().joinRefusedAtMillis())
        .changing("gate_cents", r -> r.gate(Standing.Gate::ceilingCents))
        .changing("gate_priced_at", r -> r.gate(Standing.Gate::pricedAtMillis))
        .changing("gate_at", r -> r.gate(Standing.Gate::atMillis))
        .changing("awaited_slots", r -> r.cluster.standing().awaitedSlots())
        .changing("gave_up_at", r -> r.cluster.standing().gaveUpAtMillis())
        .changing("drilled_at", ClusterRow::drilledAtMillis);
  }

  private static Verdict verdict(Row row) {
    Long unavailable = row.integerOrNull("capacity_unavailable");
    return Verdict.of(
        row.truth("bid_too_low"), unavailable == null ? null : Boolean.valueOf(unavailable != 0));
  }

  private static Cluster.Setbacks setbacks(Row row) {
    return new Cluster.Setbacks(
        row.smallInteger("provision_failures"),
        row.integerOrNull("gang_unwound_at"),
        row.integerOrNull("join_refused_at"));
  }

  private static Standing standing(Row row) {
    Long gateAt = row.integerOrNull("gate_at");
    Long gaveUpAt = row.integerOrNull("gave_up_at");
    int awaited = row.smallInteger("awaited_slots");
    return gateAt == null && gaveUpAt == null && awaited == 0
        ? Standing.NONE
        : new Standing(
            gateAt == null
                ? null
                : new Standing.Gate(
                    row.integer("gate_cents"), row.integer("gate_priced_at"), gateAt),
            awaited,
            gaveUpAt);
  }

  private static @Nullable Drill drill(Row row) {
    Long startedAtMillis = row.integerOrNull("drilled_at");
    return startedAtMillis == null ? null : new Drill(startedAtMillis);
  }

  private static Cluster cluster(Row row, UnaryOperator<String> share) {
    return new Cluster(
        identity(row, share),
        controls(row),
        writes(row),
        declared(row, share),
        List.of(),
        verdict(row),
        hold(row),
        AlertText.read(row.textOrNull("alerts")),
        setbacks(row),
        standing(row),
        drill(row));
  }

  /**
   * Returns the query of clusters for {@link #gather}: one row for each live allocation, and one
   * row for a cluster without any. A single statement reads a cluster and its allocations at the
   * same moment.
   *
   * @param filter a condition on the cluster {@code c}; empty for all
   */
  static String select(String filter) {
    return selectFrom("cluster", filter);
  }

  /**
   * Returns the query for some clusters.
   *
   * @param clusters the table, or a query of whole rows of it
   */
  static String selectFrom(String clusters, String filter) {
    return SELECT.formatted(clusters, filter);
  }

  /** A row of the join: a cluster without its allocations, and one allocation. */
  record Joined(Cluster cluster, @Nullable Allocation allocation) {}

  /**
   * Reads the rows of one query. Clusters share the strings that they have in common, which saves
   * memory.
   */
  static final class Reading {
    private final Map<String, String> shared = new HashMap<>();

    Joined joined(Row row) {
      return new Joined(cluster(row, this::share), AllocationRows.allocationOrNull(row));
    }

    private String share(String text) {
      String known = shared.putIfAbsent(text, text);
      return known == null ? text : known;
    }
  }

  /** Collects the rows of a query into clusters, in the same order. */
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
        clusters.add(cluster.withAllocations(held));
        held.clear();
      }
    }
    return clusters;
  }

  /**
   * Returns a cluster's rows as one line of JSON for the change feed, so that other processes need
   * not read them. Empty if it has more than {@link #MOST_ALLOCATIONS} allocations.
   */
  static String line(Cluster cluster) {
    if (cluster.allocations().size() > MOST_ALLOCATIONS) {
      return "";
    }
    JsonBytes json = new JsonBytes();
    CLUSTER.writeJson(json, new ClusterRow(cluster, 0));
    List<Allocation> allocations = cluster.allocations().stream().sorted(STORED_ORDER).toList();
    json.objects(
        ALLOCATIONS,
        allocations.stream().map(a -> AllocationRows.toJson(a, cluster.name())).toList());
    return new String(json.toBytes(), StandardCharsets.UTF_8);
  }

  /**
   * Parses a {@link #line}.
   *
   * @throws RuntimeException if a field is missing, as in a line of an older release
   */
  static Cluster cluster(String line) {
    JsonObject json = new JsonObject(line);
    List<Allocation> allocations = new ArrayList<>();
    for (Object allocation : json.getJsonArray(ALLOCATIONS)) {
      allocations.add(AllocationRows.allocation(new JsonRow((JsonObject) allocation)));
    }
    return cluster(new JsonRow(json), text -> text).withAllocations(allocations);
  }

  /** Returns the insert of a cluster; fails with {@code conflict} if the name is taken. */
  static Statement insert(Cluster cluster, long nowMillis) {
    return CLUSTER
        .insert(new ClusterRow(cluster, nowMillis), "ON CONFLICT (name) DO NOTHING")
        .orElse(
            () ->
                ApiException.of(
                        ErrorCode.CONFLICT, "there is a cluster '%s' already", cluster.name())
                    .with("reason", "exists"));
  }

  /**
   * Returns the update to a cluster's next state, a compare-and-set on the revision. Fails with
   * {@link CapacityStore.RevisionPassedException}.
   *
   * @param before the revision that the row must have
   */
  static Statement update(Cluster next, long before) {
    return CLUSTER
        .update(new ClusterRow(next, 0), "name = ? AND revision = ?", next.name(), before)
        .orElse(() -> new CapacityStore.RevisionPassedException(next.name(), before));
  }

  /** Returns the insert of a ceiling that a tick read; bills use these change points. */
  static Statement insert(String cluster, Standing.Gate gate) {
    return Statement.of(
        """
        INSERT INTO ceiling_point (cluster, ts, ceiling_cents, priced_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (cluster, ts) DO UPDATE SET ceiling_cents = excluded.ceiling_cents,
        priced_at = excluded.priced_at\
        """,
        cluster,
        gate.atMillis(),
        gate.ceilingCents(),
        gate.pricedAtMillis());
  }
}
