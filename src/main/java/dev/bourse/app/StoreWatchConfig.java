package dev.bourse.app;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * How closely the store is watched.
 *
 * @param probeMillis {@code store.probe-interval}: from one look at the store to the next
 * @param awayMillis {@code store.away-after}: a process whose store has not been read, or not been
 *     written, for so long is not ready
 * @param staleMillis {@code store.stale-after}: a process whose shared store has not been read for
 *     so long knows too little of revocations to let anybody in; 0 for never
 * @param compareMillis {@code store.compare-interval}: how often a process compares all that it
 *     holds in memory with a shared store
 */
public record StoreWatchConfig(
    long probeMillis, long awayMillis, long staleMillis, long compareMillis) {
  private static final Duration MOST = Duration.ofHours(24);

  static StoreWatchConfig from(Settings settings) {
    long probe =
        settings.millis("store.probe-interval", Duration.ofSeconds(5), Duration.ofMillis(10), MOST);
    long away =
        settings.millis("store.away-after", Duration.ofSeconds(15), Duration.ofMillis(20), MOST);
    long stale = settings.millis("store.stale-after", Duration.ofMinutes(1), Duration.ZERO, MOST);
    // 100,000 clusters keep a reader busy for some seconds.
    long compare =
        settings.millis(
            "store.compare-interval", Duration.ofMinutes(5), Duration.ofSeconds(1), MOST);
    if (away < 2 * probe) {
      settings.fault(
          "store.away-after", away + "ms", "twice store.probe-interval or more: one may be late");
    }
    if (stale > 0 && stale < 2 * probe) {
      settings.fault("store.stale-after", stale + "ms", "0, or twice store.probe-interval or more");
    }
    return new StoreWatchConfig(probe, away, stale, compare);
  }
}
