package dev.bourse.simulation;

import java.util.Map;
import java.util.SplittableRandom;

/**
 * The market's settings of one simulation. By default a node is protected, and a swap waits, for an
 * hour, in which nothing that rivals do would be seen in a simulation of minutes.
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
  /** Sets these draws apart from the plan's and the world's, which are made of the same seed. */
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

  /** As {@code --set} has them. */
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
