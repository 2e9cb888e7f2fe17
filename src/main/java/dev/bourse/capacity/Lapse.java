package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The lapse of a declaration at its {@code until}, or when its budget is used up. The declaration
 * then asks for no GPUs and its nodes are reclaimed. The version advances, so that a write that
 * expects the version before fails. The organization's audit trail has a row, as for each write.
 * Pure.
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
