package dev.bourse.simulation;

import java.util.Map;
import java.util.SplittableRandom;

/**
 * The market's settings of one simulation. By default nodes are protected and swaps wait for an
 * hour, so that a simulation of minutes would see no effects of rivals.
 *
 * @param protectionSeconds {@code market.protection}
 * @param swapFreshnessSeconds {@code market.swap-freshness}
 * @param probeSeconds {@code nodes.probe-interval}
 * @param noticeSeconds {@code market.notice}
 * @param patienceSeconds {@code market.gang-patience}
 */
record MarketSettings(
    int protectionSeconds,
    int swapFreshnessSeconds,
    int probeSeconds,
    int noticeSeconds,
    int patienceSeconds) {
  /** Separates these draws from the plan's and the world's, which use the same seed. */
  private static final long SALT = 0x6d61726b6574L;

  static MarketSettings of(long seed) {
    SplittableRandom random = new SplittableRandom(seed ^ SALT);
    return new MarketSettings(
        random.nextInt(4) == 0 ? 3_600 : random.nextInt(10, 120),
        random.nextInt(4) == 0 ? 3_600 : random.nextInt(20, 200),
        random.nextInt(10, 150),
        random.nextInt(4) == 0 ? 0 : random.nextInt(15, 100),
        random.nextInt(4) == 0 ? 600 : random.nextInt(15, 120));
  }

  /** Returns the settings in the form of {@code --set}. */
  Map<String, String> asSet() {
    return Map.of(
        "event-loops", "1",
        "market.protection", protectionSeconds + "s",
        "market.swap-freshness", swapFreshnessSeconds + "s",
        "nodes.probe-interval", probeSeconds + "s",
        "market.notice", noticeSeconds + "s",
        "market.gang-patience", patienceSeconds + "s");
  }
}
