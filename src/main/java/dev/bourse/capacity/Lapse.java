package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The lapse of a declaration at its {@code until}, when its budget is used up, or when its nodes
 * have been idle for the time that it sets. The declaration then asks for no GPUs and its nodes are
 * reclaimed. The version advances, so that a write that expects the version before fails. The
 * organization's audit trail has a row, as for each write. Pure.
 *
 * <p>Billing ends at the end of the declaration even if the lapse is carried out later, because
 * that delay is the exchange's fault.
 */
public final class Lapse {
  private Lapse() {}

  /** True if the declaration has an end. */
  static boolean hasEnd(Cluster cluster) {
    return cluster.declared() != null && cluster.declared().untilMillis() != null;
  }

  /**
   * True if the declaration has reached its end.
   *
   * @param undoubtedMillis the time, unless there is a doubt about the clock; without it no
   *     declaration lapses, because a reclaim cannot be undone
   */
  public static boolean isDue(Cluster cluster, OptionalLong undoubtedMillis) {
    Declaration declared = cluster.declared();
    return declared != null
        && declared.untilMillis() != null
        && undoubtedMillis.isPresent()
        && declared.untilMillis() <= undoubtedMillis.getAsLong();
  }

  /** Returns the budget of a cluster's declaration; empty without one. */
  public static Optional<Conditions.Budget> budget(Cluster cluster) {
    return Optional.ofNullable(cluster.declared()).map(Declaration::budget);
  }

  /**
   * Returns a command that changes nothing. Submitting it makes the owner end a declaration that is
   * due, because the owner does this before any command.
   */
  public static Command due() {
    return (cluster, nowMillis) -> Transition.none(cluster);
  }

  /** Ends a declaration at its {@code until}; changes nothing without one. */
  static Transition atEnd(Cluster cluster, long nowMillis) {
    Declaration declared = cluster.declared();
    return declared == null || declared.untilMillis() == null
        ? Transition.none(cluster)
        : end(cluster, declared, Allocation.Reason.LAPSED, declared.untilMillis(), nowMillis);
  }

  /**
   * Ends a declaration whose budget is used up.
   *
   * @param spent the budget that was used up; if another one is in force, nothing changes
   * @param endMillis when it was used up; nothing is billed for the time after
   */
  public static Command spent(Conditions.Budget spent, long endMillis) {
    return (cluster, nowMillis) -> {
      Declaration declared = cluster.declared();
      return declared == null || !spent.equals(declared.budget())
          ? Transition.none(cluster)
          : end(cluster, declared, Allocation.Reason.SPENT, endMillis, nowMillis);
    };
  }

  /** Returns the idle time after which a cluster's declaration lapses; empty for none. */
  public static Optional<Conditions.IdleRelease> idleRelease(Cluster cluster) {
    return Optional.ofNullable(cluster.declared())
        .map(declared -> declared.conditions().idleRelease());
  }

  /**
   * True if records say that every GPU of a cluster has been idle for the time that its declaration
   * sets. A node that is not active, was active for less than that, or has no fresh record is not
   * idle.
   *
   * @param records by allocation
   * @param nowMillis the time by a clock without doubt
   */
  public static boolean isIdle(
      Cluster cluster, Map<String, NodeIdleness.Idle> records, long nowMillis) {
    Conditions.IdleRelease release = idleRelease(cluster).orElse(null);
    if (release == null || cluster.allocations().stream().noneMatch(Allocation::isOpen)) {
      return false;
    }
    for (Allocation held : cluster.allocations()) {
      NodeIdleness.Idle record = records.get(held.allocationId());
      Long activeAt = held.activeAtMillis();
      if (held.isOpen()
          && (held.state() != Allocation.State.ACTIVE
              || activeAt == null
              || record == null
              || !record.isIdle(
                  Math.max(activeAt, release.sinceMillis()), release.afterMillis(), nowMillis))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Ends a declaration whose nodes are idle.
   *
   * @param records by allocation; the state in force must still be idle by them, so that a node
   *     that was granted or a write that was made since counts
   */
  public static Command idle(Map<String, NodeIdleness.Idle> records) {
    return (cluster, nowMillis) -> {
      Declaration declared = cluster.declared();
      return declared == null || !isIdle(cluster, records, nowMillis)
          ? Transition.none(cluster)
          : end(cluster, declared, Allocation.Reason.IDLE, nowMillis, nowMillis);
    };
  }

  /** Returns the end of a node's billing: not before it began, and not after now. */
  private static long billedTo(Allocation held, long endMillis, long nowMillis) {
    Long activeAt = held.activeAtMillis();
    long since = activeAt == null ? held.grantedAtMillis() : activeAt;
    return Math.max(since, Math.min(endMillis, nowMillis));
  }

  /** Moves reclaims after the end back to it, because no node may be billed past the end. */
  private static void endBills(Cluster cluster, Cluster.Draft draft, long endMillis) {
    for (Allocation given : cluster.allocations()) {
      Allocation.Reclaim reclaim = given.reclaim();
      if (reclaim != null && reclaim.atMillis() > endMillis) {
        long at = billedTo(given, endMillis, reclaim.atMillis());
        draft.put(given.with(a -> a.reclaim = new Allocation.Reclaim(reclaim.reason(), at)));
      }
    }
  }

  private static Transition end(
      Cluster cluster,
      Declaration declared,
      Allocation.Reason reason,
      long endMillis,
      long nowMillis) {
    Cluster.Draft draft = cluster.draft();
    draft.version = cluster.version() + 1;
    draft.declared =
        declared.with(
            next -> {
              next.maxGpus = 0;
              next.write =
                  new Declaration.LastWrite(
                      Declaration.notBefore(declared, nowMillis), Activity.MARKET, null);
              next.conditions = declared.conditions().afterLapse();
            });
    int givenUp = cluster.countGivenUp(cluster.releaseOrder(), 0, nowMillis);
    if (givenUp > 0) {
      draft.standing = cluster.standing().withGiveUp(nowMillis);
    }
    List<Activity> activity = new ArrayList<>();
    activity.add(Activity.lapsed(draft.declared, reason));
    for (Allocation held : cluster.releaseOrder()) {
      long at = billedTo(held, endMillis, nowMillis);
      MarketTransitions.take(draft, held, reason, Activity.MARKET, at, activity);
    }
    if (reason == Allocation.Reason.SPENT) {
      endBills(cluster, draft, endMillis);
    }
    Boolean unavailable = cluster.verdict().capacityUnavailable();
    draft.verdict = Verdict.of(false, unavailable == null ? null : Boolean.FALSE);
    return new Transition(
        cluster,
        draft.build(),
        activity,
        new AuditRow(
            nowMillis,
            cluster.orgId(),
            Activity.MARKET,
            Capacity.action(cluster, "lapse"),
            cluster.name(),
            "reason=%s at=%s version=%s"
                .formatted(reason.label(), Times.rfc3339(endMillis), draft.version)),
        List.of(),
        null,
        BidderEvents.Count.listGivenUp(cluster, givenUp));
  }
}
