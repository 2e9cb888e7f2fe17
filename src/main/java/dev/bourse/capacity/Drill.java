package dev.bourse.capacity;

/**
 * A notice for all nodes of a cluster that takes none of them, so that its organization can try out
 * how programs react. When a real notice would take the nodes, a drill is withdrawn.
 *
 * @param startedAtMillis when it was asked for
 */
public record Drill(long startedAtMillis) {
  /** As long as a notice of the market is by default. */
  static final long MILLIS = 120_000;

  /** Returns when a real notice would take the nodes. */
  public long endsAtMillis() {
    return startedAtMillis + MILLIS;
  }

  /** A drill that ends later than one of now was started by a clock that was ahead. */
  public boolean isRunning(long nowMillis) {
    return nowMillis < endsAtMillis()
        && endsAtMillis() <= nowMillis + MILLIS + FutureTimes.APART_MILLIS;
  }

  /** True if an allocation's programs are told of it; those of a node that came later are not. */
  public boolean concerns(Allocation allocation) {
    Long activeAt = allocation.activeAtMillis();
    return allocation.state() == Allocation.State.ACTIVE
        && activeAt != null
        && activeAt <= startedAtMillis;
  }
}
