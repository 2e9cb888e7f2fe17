package dev.bourse.simulation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * How a world keeps its money and its trails: the product's rules with waits that fit into minutes,
 * in their proportions.
 *
 * @param confirmMillis how long a clock must have gone on since a step
 * @param checkMillis how often hours and holds are looked at
 * @param settleMillis how long after its end an hour is posted; left at the product's own, for it
 *     has to be longer than any commit takes
 * @param sealMillis how often trails are sealed
 * @param isEnforced whether limits and holds are acted upon
 * @param graceMillis how long grace lasts
 * @param noticeMillis how long notice lasts
 */
record MoneyTerms(
    long confirmMillis,
    long checkMillis,
    long settleMillis,
    long sealMillis,
    boolean isEnforced,
    long graceMillis,
    long noticeMillis) {
  static final long HOUR_MILLIS = 3_600_000;

  /** One world in so many acts upon limits and holds: in the others the market is left alone. */
  private static final int ENFORCED_ONE_IN = 4;

  static MoneyTerms drawn(SplittableRandom random) {
    return new MoneyTerms(
        120_000,
        15_000,
        120_000,
        30_000,
        random.nextInt(ENFORCED_ONE_IN) == 0,
        random.nextLong(5_000, 60_000),
        random.nextLong(5_000, 60_000));
  }

  /** As a configuration file has them. */
  Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("time.confirm-after", confirmMillis + "ms");
    settings.put("billing.check-interval", checkMillis + "ms");
    settings.put("billing.settle", settleMillis + "ms");
    settings.put("billing.grace", graceMillis + "ms");
    settings.put("billing.notice", noticeMillis + "ms");
    settings.put("billing.spend-limit-enforced", "" + isEnforced);
    settings.put("billing.hold-enforced", "" + isEnforced);
    settings.put("audit.seal-interval", sealMillis + "ms");
    return settings;
  }

  /**
   * When a world begins: within some hours of the end of a month, which is where money is most
   * particular, and mostly so that an hour ends while something happens.
   */
  static long beginMillis(long aroundMillis, SplittableRandom random) {
    long begin = aroundMillis + random.nextLong(5 * HOUR_MILLIS);
    return random.nextInt(3) == 0
        ? begin
        : Math.floorDiv(begin, HOUR_MILLIS) * HOUR_MILLIS + HOUR_MILLIS - random.nextLong(600_000);
  }
}
