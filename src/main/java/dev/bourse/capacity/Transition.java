package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The change of a cluster by one command: the next state and the rows of the same commit. If the
 * revision stays, nothing is written.
 *
 * @param before the state that the command was applied to
 * @param next the state after it
 * @param activity entries for the cluster's activity
 * @param audit the row for the audit trail; null for the market's changes except a lapse
 * @param ended the last state of open allocations that are not in the next state
 * @param hourlyLimit the limit of the writer that the commit must check; null without one
 * @param bidderCounts the amounts to add to the counts of bidders
 */
public record Transition(
    Cluster before,
    Cluster next,
    List<Activity> activity,
    @Nullable AuditRow audit,
    List<Allocation> ended,
    @Nullable HourlyLimit hourlyLimit,
    List<BidderEvents.Count> bidderCounts) {

  /** A transition without an hourly limit and counts of bidders. */
  Transition(
      Cluster before,
      Cluster next,
      List<Activity> activity,
      @Nullable AuditRow audit,
      List<Allocation> ended) {
    this(before, next, activity, audit, ended, null, List.of());
  }

  /** A transition that removes no open allocation. */
  Transition(Cluster before, Cluster next, List<Activity> activity, @Nullable AuditRow audit) {
    this(before, next, activity, audit, List.of());
  }

  /** Returns the transition that changes nothing. */
  static Transition none(Cluster cluster) {
    return new Transition(cluster, cluster, List.of(), null);
  }

  /** Returns a copy with this audit row. */
  Transition withAudit(AuditRow row) {
    return new Transition(before, next, activity, row, ended, hourlyLimit, bidderCounts);
  }

  /** Returns a copy with these amounts for the counts of bidders. */
  Transition withBidderCounts(List<BidderEvents.Count> counts) {
    return new Transition(before, next, activity, audit, ended, hourlyLimit, counts);
  }

  /** True if the cluster gave up a seat that it won or a new node, or refused a node. */
  boolean hasGivenUp() {
    Long at = next.standing().gaveUpAtMillis();
    return at != null && !at.equals(before.standing().gaveUpAtMillis());
  }

  boolean changesNothing() {
    return before.revision() == next.revision();
  }
}
