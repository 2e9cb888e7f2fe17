package dev.bourse.capacity;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Since when writes are known that lie ahead of the clock, which was set back since or is another
 * process's. When they were made cannot be told; but that it was before they were first met can, by
 * a clock that nobody sets. Without it a cadence would last until the clock has caught up with
 * them. It remembers no more than one write of each cluster there is.
 */
final class FutureWrites {
  private record Met(long writeAtMillis, long atNanos) {}

  private final Map<String, Met> met = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  FutureWrites(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /**
   * For how long at least the last write of a cluster is over; 0 when the clock itself can tell.
   */
  long overMillis(Cluster cluster, long nowMillis) {
    long writeAt = cluster.writes().lastAtMillis();
    if (writeAt <= nowMillis) {
      met.remove(cluster.name());
      return 0;
    }
    long now = nanoTime.getAsLong();
    Met first =
        met.compute(
            cluster.name(),
            (name, known) ->
                known != null && known.writeAtMillis() == writeAt ? known : new Met(writeAt, now));
    return TimeUnit.NANOSECONDS.toMillis(now - first.atNanos());
  }
}
