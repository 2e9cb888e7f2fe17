package dev.bourse.market;

import dev.bourse.billing.Usage;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Computes the bill of an hour differently from the ledger: for each node and each price. */
final class RecomputedBill {
  private RecomputedBill() {}

  /** Returns the line of an hour. */
  static Usage.Line line(Usage.Timeline timeline, long hourMillis) {
    long hourEnd = hourMillis + Usage.HOUR_MILLIS;
    List<Long> cuts = List.copyOf(moments(timeline, hourMillis, hourEnd));
    long gpuMillis = 0;
    long centGpuMillis = 0;
    for (Usage.Held node : timeline.held()) {
      Long to = node.toMillis();
      long until = to == null ? Long.MAX_VALUE : to;
      if (node.fromMillis() >= hourEnd || until <= hourMillis) {
        continue;
      }
      for (int i = 0; i + 1 < cuts.size(); i++) {
        long millis = Math.min(until, cuts.get(i + 1)) - Math.max(node.fromMillis(), cuts.get(i));
        Long price = inForce(timeline.prices(), cuts.get(i));
        Long ceiling = inForce(timeline.ceilings(), cuts.get(i));
        if (millis > 0 && price != null && ceiling != null) {
          Usage.Lock lock = node.lock();
          long rate = Math.min(price, ceiling);
          if (lock != null && cuts.get(i) < lock.untilMillis()) {
            rate = Math.min(rate, lock.cents());
          }
          gpuMillis += node.gpus() * millis;
          centGpuMillis += node.gpus() * millis * rate;
        }
      }
    }
    return new Usage.Line(timeline.cluster(), hourMillis, gpuMillis, centGpuMillis);
  }

  /** Returns the times between which no rate changes, in order. */
  private static SortedSet<Long> moments(Usage.Timeline timeline, long fromMillis, long toMillis) {
    TreeSet<Long> moments = new TreeSet<>(List.of(fromMillis, toMillis));
    for (List<Usage.ChangePoint> steps : List.of(timeline.prices(), timeline.ceilings())) {
      for (int i = after(steps, fromMillis);
          i < steps.size() && steps.get(i).atMillis() < toMillis;
          i++) {
        moments.add(steps.get(i).atMillis());
      }
    }
    for (Usage.Held node : timeline.held()) {
      Usage.Lock lock = node.lock();
      if (lock != null && fromMillis < lock.untilMillis() && lock.untilMillis() < toMillis) {
        moments.add(lock.untilMillis());
      }
    }
    return moments;
  }

  private static @Nullable Long inForce(List<Usage.ChangePoint> steps, long at) {
    int next = after(steps, at);
    return next == 0 ? null : steps.get(next - 1).cents();
  }

  /** Returns the first change point after a moment. */
  private static int after(List<Usage.ChangePoint> steps, long at) {
    int low = 0;
    int high = steps.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (steps.get(middle).atMillis() <= at) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
