package dev.bourse.capacity;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.json.JsonBytes;
import dev.bourse.nodes.Health;
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

/** Clusters and allocations as rows: their columns, one row's statements, and reading them back. */
final class ClusterRows {
  private record ClusterRow(Cluster cluster, long createdAtMillis) {
    <V> @Nullable V declared(Function<Declaration, @Nullable V> part) {
      Declaration declared = cluster.declared();
      return declared == null ? null : part.apply(declared);
    }

    <V> @Nullable V budget(Function<Declaration.Budget, V> part) {
      Declaration.Budget budget = declared(Declaration::budget);
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
      Columns.<ClusterRow>of("cluster")
          .fixed("name", r -> r.cluster.name())
          .fixed("org_id", r -> r.cluster.orgId())
          .fixed("pool", r -> r.cluster.pool())
          .fixed("kind", r -> r.cluster.kind().name())
          .fixed("created_at", ClusterRow::createdAtMillis)
          .changing("posture", r -> r.cluster.posture().name())
          .changing("writes_armed", r -> r.cluster.writesArmed())
          .changing("maintenance", r -> r.cluster.maintenance())
          .changing("version", r -> r.cluster.version())
          .changing("revision", r -> r.cluster.revision())
          .changing("max_gpus", r -> r.declared(Declaration::maxGpus))
          .changing("ceiling_cents", r -> r.declared(Declaration::ceilingCents))
          .changing("priced_at", r -> r.declared(Declaration::pricedAtMillis))
          .changing("declared_at", r -> r.declared(Declaration::updatedAtMillis))
          .changing("declared_by", r -> r.declared(Declaration::updatedBy))
          .changing("min_gpus", r -> r.declared(Declaration::minGpus))
          .changing("until_at", r -> r.declared(Declaration::untilMillis))
          .changing("max_spend_cents", r -> r.budget(Declaration.Budget::maxSpendCents))
          .changing("spend_since", r -> r.budget(Declaration.Budget::sinceMillis))
          .changing("declared_with", r -> r.declared(Declaration::grantId))
          .changing("effective_at", r -> r.declared(Declaration::effectiveAtMillis))
          .changing("auto_swap", r -> Boolean.TRUE.equals(r.declared(Declaration::autoSwap)))
          .changing("bid_too_low", r -> r.cluster.verdict().bidTooLow())
          .changing("capacity_unavailable", r -> r.cluster.verdict().capacityUnavailable())
          .changing("last_write_at", r -> r.cluster.lastWriteAtMillis())
          .changing("provision_failures", r -> r.cluster.provisionFailures())
          .changing("hold_stage", r -> r.hold(hold -> hold.stage().name()))
          .changing("hold_reason", r -> r.hold(Hold::reason))
          .changing("hold_enforce_after", r -> r.hold(Hold::enforceAfterMillis))
          .changing("cap_cents", r -> r.cluster.overrides().capCents())
          .changing("env", r -> json(r.cluster.overrides().env()))
          .changing("description", r -> r.cluster.description())
          .changing("retired_at", r -> r.cluster.retiredAtMillis())
          .changing("alerts", r -> AlertText.write(r.cluster.alerts()))
          .changing("gang_unwound_at", r -> r.cluster.gangUnwoundAtMillis())
          .changing("gate_cents", r -> r.gate(Standing.Gate::ceilingCents))
          .changing("gate_priced_at", r -> r.gate(Standing.Gate::pricedAtMillis))
          .changing("gate_at", r -> r.gate(Standing.Gate::atMillis))
          .changing("awaited_slots", r -> r.cluster.standing().awaitedSlots())
          .changing("gave_up_at", r -> r.cluster.standing().gaveUpAtMillis())
          .changing("drilled_at", ClusterRow::drilledAtMillis);

  private record AllocationRow(Allocation allocation, String cluster) {
    <V> @Nullable V reclaim(Function<Allocation.Reclaim, V> part) {
      Allocation.Reclaim reclaim = allocation.reclaim();
      return reclaim == null ? null : part.apply(reclaim);
    }

    <V> @Nullable V health(Function<HeldHealth, V> part) {
      HeldHealth health = allocation.health();
      return health == null ? null : part.apply(health);
    }

    @Nullable String noticeReason() {
      Allocation.Notice notice = allocation.notice();
      return notice == null ? null : notice.reason().name();
    }

    /** The end of a notice that was withdrawn has no reason beside it. */
    @Nullable Long noticeEndsAt() {
      Allocation.Notice notice = allocation.notice();
      return notice == null
          ? allocation.withdrawnNoticeEndMillis()
          : Long.valueOf(notice.endsAtMillis());
    }
  }

  private static final Columns<AllocationRow> ALLOCATION =
      Columns.<AllocationRow>of("allocation")
          .fixed("cluster", AllocationRow::cluster)
          .fixed("allocation_id", r -> r.allocation.allocationId())
          .fixed("node_id", r -> r.allocation.nodeId())
          .fixed("slot", r -> r.allocation.slot())
          .fixed("key_ids", r -> String.join(" ", r.allocation.keyIds()))
          .changing("state", r -> r.allocation.state().name())
          .changing("granted_at", r -> r.allocation.grantedAtMillis())
          .changing("active_at", r -> r.allocation.activeAtMillis())
          .changing("protected_until", r -> r.allocation.protectedUntilMillis())
          .changing("grant_ceiling_cents", r -> r.allocation.grantCeilingCents())
          .changing("pinned", r -> r.allocation.pinned())
          .changing("nomination", r -> r.allocation.nomination())
          .changing("swap_requested_at", r -> r.allocation.swapRequestedAtMillis())
          .changing("replaces", r -> r.allocation.replaces())
          .changing("reclaim_reason", r -> r.reclaim(reclaim -> reclaim.reason().name()))
          .changing("reclaim_at", r -> r.reclaim(Allocation.Reclaim::atMillis))
          .changing("notice_reason", AllocationRow::noticeReason)
          .changing("notice_ends_at", AllocationRow::noticeEndsAt)
          .changing("ready_at", r -> r.allocation.readyAtMillis())
          .changing("public_ip", r -> r.allocation.publicIp())
          .changing("seat_ceiling_cents", r -> r.allocation.seatCeilingCents())
          .changing("grant_price_cents", r -> r.allocation.grantPriceCents())
          .fixed("minimum_slots", r -> r.allocation.minimumSlots())
          .changing("keys_due", r -> r.allocation.keysDue())
          .changing("health", r -> r.health(health -> health.state().name()))
          .changing("health_since", r -> r.health(HeldHealth::sinceMillis))
          .changing("health_reasons", r -> reasons(r.allocation.health()))
          .changing("health_credited", r -> r.allocation.isCredited());

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

  /**
   * Returns the insert of a change of health that starts or ends a credit; bills use these change
   * points.
   */
  static Statement insert(Cluster cluster, Allocation allocation, long nowMillis) {
    HeldHealth health = allocation.health();
    return Statement.of(
        """
        INSERT INTO allocation_health (allocation_id, org_id, ts, state, credited, reasons)
        VALUES (?, ?, ?, ?, ?, ?)\
        """,
        allocation.allocationId(),
        cluster.orgId(),
        nowMillis,
        (health == null ? Health.State.UNKNOWN : health.state()).name(),
        allocation.isCredited(),
        reasons(health));
  }

  /** The reasons as a row has them: one a line, null if there are none. */
  private static @Nullable String reasons(@Nullable HeldHealth health) {
    return health == null || health.reasons().isEmpty()
        ? null
        : String.join("\n", health.reasons());
  }

  private static @Nullable HeldHealth health(Row row) {
    String reasons = row.textOrNull("health_reasons");
    return row.textOrNull("health") == null
        ? null
        : new HeldHealth(
            row.value(Health.State.class, "health"),
            row.integer("health_since"),
            reasons == null ? List.of() : reasons.lines().toList(),
            row.truth("health_credited"));
  }

  /** More allocations than these fit no notification, whatever their texts. */
  private static final int MOST_TOLD = 24;

  /** That of {@link #SELECT}: what is told must be what would be read. */
  private static final Comparator<Allocation> STORED_ORDER =
      Comparator.comparingInt(Allocation::slot).thenComparing(Allocation::grantedAtMillis);

  /** Beside the columns of a cluster in its line; no column is named so. */
  private static final String ALLOCATIONS = "allocations";

  private static final String SELECT =
      """
      SELECT %s, %s FROM %%s c LEFT JOIN allocation a
      ON a.cluster = c.name AND a.gone_at IS NULL%%s ORDER BY c.name, a.slot, a.granted_at\
      """
          .formatted(CLUSTER.names("c"), ALLOCATION.names("a"));

  /** True for a row of table {@code cluster} whose {@link Cluster#isSettled} is true. */
  static final String SETTLED =
      """
      (cluster.retired_at IS NOT NULL AND cluster.hold_stage IS NULL AND cluster.until_at IS NULL
      AND COALESCE(cluster.awaited_slots, 0) = 0 AND cluster.gave_up_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM allocation s
      WHERE s.cluster = cluster.name AND s.gone_at IS NULL))\
      """;

  private ClusterRows() {}

  /**
   * Clusters, each once for every live allocation, and once when there is none; for {@link
   * #gather}. One statement, so that a cluster and its allocations are of the same moment.
   *
   * @param filter empty, or a condition on the cluster {@code c}
   */
  static String select(String filter) {
    return selectFrom("cluster", filter);
  }

  /**
   * The same of some clusters.
   *
   * @param clusters the table, or a query of whole rows of it
   */
  static String selectFrom(String clusters, String filter) {
    return SELECT.formatted(clusters, filter);
  }

  /** A row of the join: a cluster without its allocations, and one of them. */
  record Joined(Cluster cluster, @Nullable Allocation allocation) {}

  /**
   * One reading of rows. Texts that many of its clusters have in common are kept once, not once for
   * each of them.
   */
  static final class Reading {
    private final Map<String, String> shared = new HashMap<>();

    Joined joined(Row row) {
      return new Joined(cluster(row, this::share), allocationOrNull(row));
    }

    private String share(String text) {
      String known = shared.putIfAbsent(text, text);
      return known == null ? text : known;
    }
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

  /**
   * A cluster as its rows have it, for processes that then need not read them; on one line. Empty
   * when it holds so many nodes that reading costs less.
   */
  static String line(Cluster cluster) {
    if (cluster.allocations().size() > MOST_TOLD) {
      return "";
    }
    JsonBytes json = new JsonBytes();
    CLUSTER.tell(json, new ClusterRow(cluster, 0));
    List<Allocation> allocations = cluster.allocations().stream().sorted(STORED_ORDER).toList();
    json.objects(
        ALLOCATIONS,
        allocations,
        (fields, a) -> ALLOCATION.tell(fields, new AllocationRow(a, cluster.name())));
    return new String(json.toBytes(), StandardCharsets.UTF_8);
  }

  /**
   * The cluster of a {@link #line}.
   *
   * @throws RuntimeException when it lacks something, as that of an older release may
   */
  static Cluster cluster(String line) {
    JsonObject json = new JsonObject(line);
    List<Allocation> allocations = new ArrayList<>();
    for (Object allocation : json.getJsonArray(ALLOCATIONS)) {
      allocations.add(allocation(new JsonRow((JsonObject) allocation)));
    }
    return cluster(new JsonRow(json), text -> text).holding(allocations);
  }

  /** A new cluster; refused with {@code conflict} when there is one of that name. */
  static Statement insert(Cluster cluster, long nowMillis) {
    return CLUSTER
        .insert(new ClusterRow(cluster, nowMillis), "ON CONFLICT (name) DO NOTHING")
        .orElse(
            () ->
                ApiError.of(ErrorCode.CONFLICT, "there is a cluster '%s' already", cluster.name())
                    .with("reason", "exists"));
  }

  /**
   * A cluster's next state; fails with {@link CapacityStore.RevisionPassed}.
   *
   * @param before the revision of the state that it follows
   */
  static Statement update(Cluster next, long before) {
    return CLUSTER
        .update(new ClusterRow(next, 0), "name = ? AND revision = ?", next.name(), before)
        .orElse(() -> new CapacityStore.RevisionPassed(next.name(), before));
  }

  static Statement insert(Allocation allocation, String cluster) {
    return ALLOCATION.insert(new AllocationRow(allocation, cluster));
  }

  static Statement update(Allocation allocation) {
    return ALLOCATION
        .update(new AllocationRow(allocation, ""), "allocation_id = ?", allocation.allocationId())
        .orElse(() -> missing(allocation));
  }

  /** An allocation that is over. */
  static Statement end(Allocation allocation, long nowMillis) {
    return Statement.guarded(
        () -> missing(allocation),
        "UPDATE allocation SET gone_at = ? WHERE allocation_id = ?",
        nowMillis,
        allocation.allocationId());
  }

  private static IllegalStateException missing(Allocation allocation) {
    return new IllegalStateException(
        "allocation %s is not stored".formatted(allocation.allocationId()));
  }

  private static Cluster cluster(Row row, UnaryOperator<String> share) {
    Declaration declared =
        row.integerOrNull("max_gpus") == null
            ? null
            : new Declaration(
                row.smallInteger("max_gpus"),
                row.integer("ceiling_cents"),
                row.integer("priced_at"),
                row.integer("declared_at"),
                share.apply(row.text("declared_by")),
                smallIntegerOrNull(row, "min_gpus"),
                row.integerOrNull("until_at"),
                budget(row),
                row.textOrNull("declared_with"),
                row.integerOrNull("effective_at"),
                row.truth("auto_swap"));
    Long unavailable = row.integerOrNull("capacity_unavailable");
    Hold hold =
        row.textOrNull("hold_stage") == null
            ? null
            : new Hold(
                row.value(Hold.Stage.class, "hold_stage"),
                row.text("hold_reason"),
                row.integerOrNull("hold_enforce_after"));
    return new Cluster(
        row.text("name"),
        share.apply(row.text("org_id")),
        share.apply(row.text("pool")),
        row.value(Cluster.Kind.class, "kind"),
        row.value(Cluster.Posture.class, "posture"),
        row.truth("writes_armed"),
        row.truth("maintenance"),
        row.integer("version"),
        row.integer("revision"),
        declared,
        List.of(),
        Verdict.of(
            row.truth("bid_too_low"),
            unavailable == null ? null : Boolean.valueOf(unavailable != 0)),
        row.integer("last_write_at"),
        row.smallInteger("provision_failures"),
        hold,
        overrides(row.integerOrNull("cap_cents"), row.textOrNull("env")),
        row.textOrNull("description"),
        row.integerOrNull("retired_at"),
        AlertText.read(row.textOrNull("alerts")),
        row.integerOrNull("gang_unwound_at"),
        standing(row),
        drill(row.integerOrNull("drilled_at")));
  }

  private static @Nullable Drill drill(@Nullable Long startedAtMillis) {
    return startedAtMillis == null ? null : new Drill(startedAtMillis);
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

  private static @Nullable Integer smallIntegerOrNull(Row row, String column) {
    Long value = row.integerOrNull(column);
    return value == null ? null : Integer.valueOf(Math.toIntExact(value));
  }

  private static Declaration.@Nullable Budget budget(Row row) {
    Long maxSpendCents = row.integerOrNull("max_spend_cents");
    Long sinceMillis = row.integerOrNull("spend_since");
    return maxSpendCents == null || sinceMillis == null
        ? null
        : new Declaration.Budget(maxSpendCents, sinceMillis);
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
    return row.textOrNull("allocation_id") == null ? null : allocation(row);
  }

  private static Allocation allocation(Row row) {
    String keyIds = row.text("key_ids");
    Allocation.Reclaim reclaim =
        row.textOrNull("reclaim_reason") == null
            ? null
            : new Allocation.Reclaim(
                row.value(Allocation.Reason.class, "reclaim_reason"), row.integer("reclaim_at"));
    String noticeReason = row.textOrNull("notice_reason");
    // The release before takes nodes back without a thought of their notice.
    Long noticeEndsAt = reclaim == null ? row.integerOrNull("notice_ends_at") : null;
    Allocation.Notice notice =
        noticeReason == null || noticeEndsAt == null
            ? null
            : new Allocation.Notice(Allocation.Reason.valueOf(noticeReason), noticeEndsAt);
    return new Allocation(
        row.text("allocation_id"),
        row.text("node_id"),
        row.textOrNull("public_ip"),
        row.smallInteger("slot"),
        row.value(Allocation.State.class, "state"),
        row.integer("granted_at"),
        row.integerOrNull("active_at"),
        row.integerOrNull("protected_until"),
        row.integer("grant_ceiling_cents"),
        row.truth("pinned"),
        row.smallInteger("nomination"),
        row.integerOrNull("swap_requested_at"),
        row.textOrNull("replaces"),
        keyIds.isEmpty() ? List.of() : List.of(keyIds.split(" ", -1)),
        reclaim,
        notice,
        notice == null ? noticeEndsAt : null,
        row.integerOrNull("ready_at"),
        row.integerOrNull("seat_ceiling_cents"),
        row.integerOrNull("grant_price_cents"),
        smallIntegerOrNull(row, "minimum_slots"),
        row.truth("keys_due"),
        health(row));
  }
}
