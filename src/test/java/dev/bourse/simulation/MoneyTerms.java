package dev.bourse.simulation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A world's rules for money and trails: the product's, with waits shortened to minutes in
 * proportion.
 *
 * @param confirmMillis how long a clock must run after a step to be confirmed
 * @param checkMillis interval of posting and hold checks
 * @param settleMillis delay from the end of an hour to its posting; the product's own, because it
 *     must be longer than any commit takes
 * @param sealMillis interval of seals
 * @param isEnforced whether limits and holds are enforced
 * @param graceMillis length of the grace
 * @param noticeMillis length of the notice
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

  /**
   * The reciprocal share of worlds that enforce limits and holds, which would disturb the market in
   * all of them.
   */
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

  /** Returns the settings in the form of a configuration file. */
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
   * Returns when a world begins: within some hours of the end of a month, which is the critical
   * time for money, and mostly so that an hour ends during the simulation.
   */
  static long beginMillis(long aroundMillis, SplittableRandom random) {
    long begin = aroundMillis + random.nextLong(5 * HOUR_MILLIS);
    return random.nextInt(3) == 0
        ? begin
        : Math.floorDiv(begin, HOUR_MILLIS) * HOUR_MILLIS + HOUR_MILLIS - random.nextLong(600_000);
  }
}
