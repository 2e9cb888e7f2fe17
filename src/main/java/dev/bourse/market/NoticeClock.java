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
 * Tells whose notice is over: the wall clock says so, and as much time has gone by as it had left
 * when this process first saw it. So a clock that somebody sets ahead cuts no notice short, and one
 * that is set back makes none end before its holder was told. Of the time before this process saw a
 * notice the wall clock alone can tell. Withdrawn notices are timed as well, because they count for
 * the next one.
 *
 * <p>Used by one tick after the other, on any thread.
 */
final class NoticeClock {
  /** Less than this is not told from the wall clock being corrected a little at a time. */
  private static final long TOLERANCE_MILLIS = 2_000;

  /** What a clock may gain by being corrected: one part in so many. */
  private static final long DRIFT_PARTS = 500;

  private record Seen(long endsAtMillis, long sinceMillis, long leftMillis) {
    boolean isOver(long monotonicMillis) {
      long gained = TOLERANCE_MILLIS + leftMillis / DRIFT_PARTS;
      return monotonicMillis - sinceMillis >= leftMillis - gained;
    }
  }

  private final LongSupplier nanoTime;

  /** By allocation. */
  private Map<String, Seen> seen = new HashMap<>();

  NoticeClock(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Looks at all notices; gives the ids of the allocations whose notice is over. */
  synchronized Set<String> over(Collection<ClusterView> views, long wallMillis) {
    long now = monotonicMillis();
    Map<String, Seen> still = new HashMap<>();
    Set<String> over = new HashSet<>();
    for (ClusterView view : views) {
      for (Allocation allocation : view.cluster().allocations()) {
        Long end = Notices.endMillis(allocation, wallMillis);
        if (end == null) {
          continue;
        }
        String id = allocation.allocationId();
        Seen known = seen(id, end, wallMillis, now);
        still.put(id, known);
        if (wallMillis >= end && known.isOver(now)) {
          over.add(id);
        }
      }
    }
    seen = still;
    return over;
  }

  /** Notes the notices that a tick gives, for a clock may be set before the next one looks. */
  synchronized void given(Collection<Tick.Decided> decided, long wallMillis) {
    long now = monotonicMillis();
    for (Tick.Decided part : decided) {
      part.notices()
          .given()
          .forEach((id, notice) -> seen.put(id, seen(id, notice.endsAtMillis(), wallMillis, now)));
    }
  }

  /** One that was given by a clock that was ahead has no more left than the longest has. */
  private Seen seen(String id, long endsAtMillis, long wallMillis, long monotonicMillis) {
    Seen known = seen.get(id);
    if (known != null && known.endsAtMillis() == endsAtMillis) {
      return known;
    }
    long left = Math.max(0, endsAtMillis - wallMillis);
    return new Seen(
        endsAtMillis, monotonicMillis, Math.min(left, Allocation.Notice.LONGEST_MILLIS));
  }

  private long monotonicMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong());
  }
}
