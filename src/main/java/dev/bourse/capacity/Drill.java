package dev.bourse.capacity;

/**
 * A notice for all active nodes of a cluster that reclaims no node, so that its organization can
 * test how programs react. At the time at which a real notice would end, a drill is withdrawn.
 *
 * @param startedAtMillis when it was requested
 */
public record Drill(long startedAtMillis) {
  /** The length of a drill, which is the default length of the market's notices. */
  static final long MILLIS = 120_000;

  /** Returns the end of the drill. */
  public long endsAtMillis() {
    return startedAtMillis + MILLIS;
  }

  /** True while the drill runs; one that was started by a clock that was ahead does not run. */
  public boolean isRunning(long nowMillis) {
    return nowMillis < endsAtMillis()
        && endsAtMillis() <= nowMillis + MILLIS + FutureTimes.APART_MILLIS;
  }

  /** True if the allocation's programs get the notice: it was active when the drill started. */
  public boolean concerns(Allocation allocation) {
    Long activeAt = allocation.activeAtMillis();
    return allocation.state() == Allocation.State.ACTIVE
        && activeAt != null
        && activeAt <= startedAtMillis;
  }
}
