package dev.bourse.capacity;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Measures the age of last writes whose time is ahead of the clock, because the clock was set back
 * or another process made them. The time of such a write is unknown, but it is at least as old as
 * its first sighting by a monotonic clock. Without this, the write cadence would last until the
 * clock reaches the time of the write. At most one write of each cluster is stored.
 */
final class FutureWrites {
  private record Sighting(long writeAtMillis, long atNanos) {}

  private final Map<String, Sighting> sightings = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  FutureWrites(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Returns the least age of a cluster's last write; 0 if its time is not ahead of the clock. */
  long overMillis(Cluster cluster, long nowMillis) {
    long writeAt = cluster.writes().lastAtMillis();
    if (writeAt <= nowMillis) {
      sightings.remove(cluster.name());
      return 0;
    }
    long now = nanoTime.getAsLong();
    Sighting first =
        sightings.compute(
            cluster.name(),
            (name, known) ->
                known != null && known.writeAtMillis() == writeAt
                    ? known
                    : new Sighting(writeAt, now));
    return TimeUnit.NANOSECONDS.toMillis(now - first.atNanos());
  }
}
