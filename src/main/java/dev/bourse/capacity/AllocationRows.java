package dev.bourse.capacity;

import dev.bourse.json.JsonRecord;
import dev.bourse.nodes.Health;
import dev.bourse.store.Columns;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the rows of allocations. For each part of an allocation, one method lists its
 * columns and the next one reads them; a new field of a part is one line in each.
 */
final class AllocationRows {
  private record StoredAllocation(Allocation allocation, String cluster) {
    <V> @Nullable V reclaim(Function<Allocation.Reclaim, V> part) {
      Allocation.Reclaim reclaim = allocation.reclaim();
      return reclaim == null ? null : part.apply(reclaim);
    }

    <V> @Nullable V health(Function<HeldHealth, @Nullable V> part) {
      HeldHealth health = allocation.health();
      return health == null ? null : part.apply(health);
    }

    @Nullable String noticeReason() {
      Allocation.Notice notice = allocation.notice();
      return notice == null ? null : notice.reason().name();
    }

    /** Returns the end of a notice, also of a withdrawn one, which has no reason in its row. */
    @Nullable Long noticeEndsAt() {
      Allocation.Notice notice = allocation.notice();
      return notice == null
          ? allocation.departure().withdrawnNoticeEndMillis()
          : Long.valueOf(notice.endsAtMillis());
    }
  }

  private static final Columns<StoredAllocation> ALLOCATION =
      withHealth(
          withDeparture(
              withTurnover(
                  withProtection(
                      withLifecycle(withPlacement(Columns.<StoredAllocation>of("allocation")))))));

  private AllocationRows() {}

  private static Columns<StoredAllocation> withPlacement(Columns<StoredAllocation> columns) {
    return columns
        .fixed("cluster", StoredAllocation::cluster)
        .fixed("allocation_id", r -> r.allocation.allocationId())
        .fixed("node_id", r -> r.allocation.nodeId())
        .fixed("slot", r -> r.allocation.slot())
        .fixed("key_ids", r -> String.join(" ", r.allocation.keyIds()))
        .fixed("minimum_slots", r -> r.allocation.minimumSlots())
        .changing("public_ip", r -> r.allocation.publicIp());
  }

  private static Allocation.Placement placement(Row row) {
    String keyIds = row.text("key_ids");
    return new Allocation.Placement(
        row.text("allocation_id"),
        row.text("node_id"),
        row.smallInteger("slot"),
        keyIds.isEmpty() ? List.of() : List.of(keyIds.split(" ", -1)),
        smallIntegerOrNull(row, "minimum_slots"));
  }

  private static Columns<StoredAllocation> withLifecycle(Columns<StoredAllocation> columns) {
    return columns
        .changing("state", r -> r.allocation.state().name())
        .changing("granted_at", r -> r.allocation.grantedAtMillis())
        .changing("ready_at", r -> r.allocation.lifecycle().readyAtMillis())
        .changing("active_at", r -> r.allocation.activeAtMillis())
        .changing("keys_due", r -> r.allocation.keysDue());
  }

  private static Allocation.Lifecycle lifecycle(Row row) {
    return new Allocation.Lifecycle(
        row.value(Allocation.State.class, "state"),
        row.integer("granted_at"),
        row.integerOrNull("ready_at"),
        row.integerOrNull("active_at"),
        row.truth("keys_due"));
  }

  private static Columns<StoredAllocation> withProtection(Columns<StoredAllocation> columns) {
    return columns
        .changing("protected_until", r -> r.allocation.protectedUntilMillis())
        .changing("grant_ceiling_cents", r -> r.allocation.protection().grantCeilingCents())
        .changing("seat_ceiling_cents", r -> r.allocation.protection().seatCeilingCents())
        .changing("grant_price_cents", r -> r.allocation.protection().grantPriceCents());
  }

  private static Allocation.Protection protection(Row row) {
    return new Allocation.Protection(
        row.integerOrNull("protected_until"),
        row.integer("grant_ceiling_cents"),
        row.integerOrNull("seat_ceiling_cents"),
        row.integerOrNull("grant_price_cents"));
  }

  private static Columns<StoredAllocation> withTurnover(Columns<StoredAllocation> columns) {
    return columns
        .changing("nomination", r -> r.allocation.nomination())
        .changing("swap_requested_at", r -> r.allocation.swapRequestedAtMillis())
        .changing("replaces", r -> r.allocation.replaces())
        .changing("pinned", r -> r.allocation.pinned());
  }

  private static Allocation.Turnover turnover(Row row) {
    return new Allocation.Turnover(
        row.smallInteger("nomination"),
        row.integerOrNull("swap_requested_at"),
        row.textOrNull("replaces"));
  }

  private static Columns<StoredAllocation> withDeparture(Columns<StoredAllocation> columns) {
    return columns
        .changing("reclaim_reason", r -> r.reclaim(reclaim -> reclaim.reason().name()))
        .changing("reclaim_at", r -> r.reclaim(Allocation.Reclaim::atMillis))
        .changing("notice_reason", StoredAllocation::noticeReason)
        .changing("notice_ends_at", StoredAllocation::noticeEndsAt);
  }

  private static Allocation.Departure departure(Row row) {
    Allocation.Reclaim reclaim =
        row.textOrNull("reclaim_reason") == null
            ? null
            : new Allocation.Reclaim(
                row.value(Allocation.Reason.class, "reclaim_reason"), row.integer("reclaim_at"));
    String noticeReason = row.textOrNull("notice_reason");
    // The previous release reclaims nodes without clearing their notice.
    Long noticeEndsAt = reclaim == null ? row.integerOrNull("notice_ends_at") : null;
    Allocation.Notice notice =
        noticeReason == null || noticeEndsAt == null
            ? null
            : new Allocation.Notice(Allocation.Reason.valueOf(noticeReason), noticeEndsAt);
    return new Allocation.Departure(reclaim, notice, notice == null ? noticeEndsAt : null);
  }

  private static Columns<StoredAllocation> withHealth(Columns<StoredAllocation> columns) {
    return columns
        .changing("health", r -> r.health(health -> health.state().name()))
        .changing("health_since", r -> r.health(HeldHealth::sinceMillis))
        .changing("health_reasons", r -> r.health(AllocationRows::reasons))
        .changing("health_credited", r -> r.allocation.isCredited());
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

  /** Returns the reasons for a row, one a line; null without any. */
  private static @Nullable String reasons(HeldHealth health) {
    return health.reasons().isEmpty() ? null : String.join("\n", health.reasons());
  }

  static @Nullable Integer smallIntegerOrNull(Row row, String column) {
    Long value = row.integerOrNull(column);
    return value == null ? null : Integer.valueOf(Math.toIntExact(value));
  }

  /** Returns the columns with the table's alias in a join. */
  static String names(String alias) {
    return ALLOCATION.names(alias);
  }

  /** Returns the allocation of a row of a join; null if the row has none. */
  static @Nullable Allocation allocationOrNull(Row row) {
    return row.textOrNull("allocation_id") == null ? null : allocation(row);
  }

  static Allocation allocation(Row row) {
    return new Allocation(
        placement(row),
        row.textOrNull("public_ip"),
        lifecycle(row),
        protection(row),
        turnover(row),
        row.truth("pinned"),
        departure(row),
        health(row));
  }

  /** Returns an allocation in JSON for the change feed, which other processes read. */
  static JsonRecord toJson(Allocation allocation, String cluster) {
    return out -> ALLOCATION.writeJson(out, new StoredAllocation(allocation, cluster));
  }

  static Statement insert(Allocation allocation, String cluster) {
    return ALLOCATION.insert(new StoredAllocation(allocation, cluster));
  }

  static Statement update(Allocation allocation) {
    return ALLOCATION
        .update(
            new StoredAllocation(allocation, ""), "allocation_id = ?", allocation.allocationId())
        .orElse(() -> missing(allocation));
  }

  /** Returns the update of an allocation that has ended. */
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
        health == null ? null : reasons(health));
  }
}
