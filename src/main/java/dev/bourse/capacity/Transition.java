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
 */
public record Transition(
    Cluster before,
    Cluster next,
    List<Activity> activity,
    @Nullable AuditRow audit,
    List<Allocation> ended) {

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
    return new Transition(before, next, activity, row, ended);
  }

  boolean changesNothing() {
    return before.revision() == next.revision();
  }
}
