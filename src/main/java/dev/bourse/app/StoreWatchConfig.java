package dev.bourse.app;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * The settings of the store's watch.
 *
 * @param probeMillis {@code store.probe-interval}: the time between two probes of the store, in
 *     milliseconds
 * @param awayMillis {@code store.away-after}: a process that could not read, or not write, its
 *     store for this many milliseconds is not ready
 * @param staleMillis {@code store.stale-after}: a process that could not read its shared store for
 *     this many milliseconds rejects all callers, because it may lack revocations; 0 for never
 * @param compareMillis {@code store.compare-interval}: how often a process compares its in-memory
 *     state with a shared store, in milliseconds
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
    // A comparison of 100,000 clusters occupies a reader for some seconds.
    long compare =
        settings.millis(
            "store.compare-interval", Duration.ofMinutes(5), Duration.ofSeconds(1), MOST);
    if (away < 2 * probe) {
      settings.fault(
          "store.away-after",
          away + "ms",
          "at least twice store.probe-interval, so that one late probe is tolerated");
    }
    if (stale > 0 && stale < 2 * probe) {
      settings.fault("store.stale-after", stale + "ms", "0, or twice store.probe-interval or more");
    }
    return new StoreWatchConfig(probe, away, stale, compare);
  }
}
