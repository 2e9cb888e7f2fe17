package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one command does to a cluster: the next state and the rows that go with it, committed in one
 * piece. When the revision stays, nothing is written.
 *
 * @param before the state the command was applied to
 * @param next the state after it
 * @param activity entries of the cluster's activity
 * @param audit the row of the audit trail, null for what the market does but for a lapse
 * @param ended allocations that are gone from the next state though they were open, as they ended
 * @param hourlyLimit what must still hold of the writer's clusters when it is stored, null for
 *     nothing
 * @param bidderCounts what it adds to the counts of bidders
 */
public record Transition(
    Cluster before,
    Cluster next,
    List<Activity> activity,
    @Nullable AuditRow audit,
    List<Allocation> ended,
    @Nullable HourlyLimit hourlyLimit,
    List<BidderEvents.Count> bidderCounts) {

  /** One by a writer whose clusters may cost any amount together. */
  Transition(
      Cluster before,
      Cluster next,
      List<Activity> activity,
      @Nullable AuditRow audit,
      List<Allocation> ended) {
    this(before, next, activity, audit, ended, null, List.of());
  }

  /** One after which no allocation is gone that was open. */
  Transition(Cluster before, Cluster next, List<Activity> activity, @Nullable AuditRow audit) {
    this(before, next, activity, audit, List.of());
  }

  /** Nothing to do. */
  static Transition none(Cluster cluster) {
    return new Transition(cluster, cluster, List.of(), null);
  }

  /** The same with a row of the audit trail, in the place of any it had. */
  Transition recorded(AuditRow row) {
    return new Transition(before, next, activity, row, ended, hourlyLimit, bidderCounts);
  }

  /** True if the cluster gave up a seat that it won or a new node. */
  boolean hasGivenUp() {
    Long at = next.standing().gaveUpAtMillis();
    return at != null && !at.equals(before.standing().gaveUpAtMillis());
  }

  boolean changesNothing() {
    return before.revision() == next.revision();
  }
}
