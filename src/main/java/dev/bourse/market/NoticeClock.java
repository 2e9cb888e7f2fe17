package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.ClusterView;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides which notices are over. A notice is over when the wall clock has reached its end and the
 * monotonic clock has measured the rest of the notice since this process first saw it. So a clock
 * that is set ahead cuts no notice short, and a clock that is set back ends no notice early. For
 * the time before this process saw a notice, only the wall clock counts. Withdrawn notices are
 * timed too, because they count for the next notice.
 *
 * <p>Used by one tick after the other, on any thread.
 */
final class NoticeClock {
  /** Tolerance for gradual corrections of the wall clock. */
  private static final long TOLERANCE_MILLIS = 2_000;

  /** The fraction that a clock may gain by correction: one part in this number. */
  private static final long DRIFT_PARTS = 500;

  private record ObservedNotice(long endsAtMillis, long sinceMillis, long leftMillis) {
    boolean isOver(long monotonicMillis) {
      long gained = TOLERANCE_MILLIS + leftMillis / DRIFT_PARTS;
      return monotonicMillis - sinceMillis >= leftMillis - gained;
    }
  }

  private final LongSupplier nanoTime;

  /** Notices seen, by allocation. */
  private Map<String, ObservedNotice> seen = new HashMap<>();

  NoticeClock(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Reads all notices and returns the ids of the allocations whose notice is over. */
  synchronized Set<String> over(Collection<ClusterView> views, long wallMillis) {
    long now = monotonicMillis();
    Map<String, ObservedNotice> still = new HashMap<>();
    Set<String> over = new HashSet<>();
    for (ClusterView view : views) {
      for (Allocation allocation : view.cluster().allocations()) {
        Long end = Notices.endMillis(allocation, wallMillis);
        if (end == null) {
          continue;
        }
        String id = allocation.allocationId();
        ObservedNotice known = seen(id, end, wallMillis, now);
        still.put(id, known);
        if (wallMillis >= end && known.isOver(now)) {
          over.add(id);
        }
      }
    }
    seen = still;
    return over;
  }

  /**
   * Records the notices that a tick gives, because a clock may be set before the next tick reads
   * them.
   */
  synchronized void recordGiven(Collection<Tick.ClusterDecision> decided, long wallMillis) {
    long now = monotonicMillis();
    for (Tick.ClusterDecision part : decided) {
      part.notices()
          .given()
          .forEach((id, notice) -> seen.put(id, seen(id, notice.endsAtMillis(), wallMillis, now)));
    }
  }

  /**
   * Returns the record of a notice. The rest of a notice from a clock that was ahead is limited to
   * the longest notice.
   */
  private ObservedNotice seen(String id, long endsAtMillis, long wallMillis, long monotonicMillis) {
    ObservedNotice known = seen.get(id);
    if (known != null && known.endsAtMillis() == endsAtMillis) {
      return known;
    }
    long left = Math.max(0, endsAtMillis - wallMillis);
    return new ObservedNotice(
        endsAtMillis, monotonicMillis, Math.min(left, Allocation.Notice.LONGEST_MILLIS));
  }

  private long monotonicMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong());
  }
}
