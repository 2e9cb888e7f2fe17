package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The end that a declaration comes to by itself: at its {@code until}, or when its budget is used
 * up. It then asks for nothing, its nodes go, and the version advances, so that no writer who does
 * not know of it overwrites it. Pure.
 *
 * <p>The organization's trail has a row of it, as of each write that makes a version.
 *
 * <p>Billing ended when the end was reached, however late it is carried out: what was held
 * meanwhile is the exchange's own lateness.
 */
public final class Lapse {
  private Lapse() {}

  /** Whether a declaration ends at some moment. */
  static boolean hasEnd(Cluster cluster) {
    return cluster.declared() != null && cluster.declared().untilMillis() != null;
  }

  /**
   * Whether a declaration's end has come.
   *
   * @param undoubtedMillis the time as far as nothing speaks against it; while there is none
   *     nothing ends, for what is taken back cannot be given again
   */
  public static boolean isDue(Cluster cluster, OptionalLong undoubtedMillis) {
    Declaration declared = cluster.declared();
    return declared != null
        && declared.untilMillis() != null
        && undoubtedMillis.isPresent()
        && declared.untilMillis() <= undoubtedMillis.getAsLong();
  }

  /** The budget of what a cluster declares; empty without one. */
  public static Optional<Conditions.Budget> budget(Cluster cluster) {
    return Optional.ofNullable(cluster.declared()).map(Declaration::budget);
  }

  /**
   * Changes nothing by itself: a cluster's owner ends what is due before it carries out any
   * command.
   */
  public static Command due() {
    return (cluster, nowMillis) -> Transition.none(cluster);
  }

  /** Ends a declaration that has an end; changes nothing of another. */
  static Transition atEnd(Cluster cluster, long nowMillis) {
    Declaration declared = cluster.declared();
    return declared == null || declared.untilMillis() == null
        ? Transition.none(cluster)
        : ended(cluster, declared, Allocation.Reason.LAPSED, declared.untilMillis(), nowMillis);
  }

  /**
   * Ends a declaration whose budget is used up.
   *
   * @param spent the budget that was judged; another one that stands by now is not touched
   * @param endMillis when it was used up; nothing is billed for the time after
   */
  public static Command spent(Conditions.Budget spent, long endMillis) {
    return (cluster, nowMillis) -> {
      Declaration declared = cluster.declared();
      return declared == null || !spent.equals(declared.budget())
          ? Transition.none(cluster)
          : ended(cluster, declared, Allocation.Reason.SPENT, endMillis, nowMillis);
    };
  }

  /** Never before it began, nor ahead of the clock that tells when it began. */
  private static long billedTo(Allocation held, long endMillis, long nowMillis) {
    Long activeAt = held.activeAtMillis();
    long since = activeAt == null ? held.grantedAtMillis() : activeAt;
    return Math.max(since, Math.min(endMillis, nowMillis));
  }

  /** What was given back after the budget was used up was held too long for the same reason. */
  private static void endBills(Cluster cluster, Cluster.Draft draft, long endMillis) {
    for (Allocation given : cluster.allocations()) {
      Allocation.Reclaim reclaim = given.reclaim();
      if (reclaim != null && reclaim.atMillis() > endMillis) {
        long at = billedTo(given, endMillis, reclaim.atMillis());
        draft.put(given.with(a -> a.reclaim = new Allocation.Reclaim(reclaim.reason(), at)));
      }
    }
  }

  private static Transition ended(
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
              next.conditions = declared.conditions().ended();
            });
    int givenUp = cluster.countGivenUp(cluster.releaseOrder(), 0, nowMillis);
    if (givenUp > 0) {
      draft.standing = cluster.standing().gaveUp(nowMillis);
    }
    List<Activity> activity = new ArrayList<>();
    activity.add(Activity.lapsed(draft.declared, reason));
    for (Allocation held : cluster.releaseOrder()) {
      long at = billedTo(held, endMillis, nowMillis);
      Allotment.take(draft, held, reason, Activity.MARKET, at, activity);
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
            cluster.kind() == Cluster.Kind.VM ? "vm_capacity_lapse" : "k8s_bid_lapse",
            cluster.name(),
            "reason=%s at=%s version=%s"
                .formatted(reason.label(), Times.rfc3339(endMillis), draft.version)),
        List.of(),
        null,
        BidderEvents.Count.listGivenUp(cluster, givenUp));
  }
}
