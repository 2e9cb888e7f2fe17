package dev.bourse.capacity;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * Settings of the capacity feature.
 *
 * @param cadenceMillis {@code capacity.write-cadence}: how far apart accepted writes of one cluster
 *     must be; 0 switches the cadence off
 * @param swapFreshnessMillis {@code market.swap-freshness}: how long a swap may wait
 * @param tickMillis {@code market.tick}, the time between two ticks
 * @param maxClusters {@code capacity.max-clusters}: how many clusters members may bring their
 *     organization to where no operator has said otherwise
 * @param spendLimitEnforced {@code billing.spend-limit-enforced}
 * @param billingHoldEnforced {@code billing.hold-enforced}
 */
public record CapacityConfig(
    long cadenceMillis,
    long swapFreshnessMillis,
    long tickMillis,
    int maxClusters,
    boolean spendLimitEnforced,
    boolean billingHoldEnforced) {
  /** The longest time between two ticks of a market. */
  public static final long LONGEST_TICK_MILLIS = 3_600_000;

  /**
   * Some for every team and purpose of one organization. Each is a bid at every tick of its pool,
   * so what nobody looks after is better not made by the hundred.
   */
  private static final int DEFAULT_MAX_CLUSTERS = 20;

  /** More than any pool has machines to give them; a larger number is a slip. */
  private static final int MOST_CLUSTERS = 10_000;

  public static CapacityConfig from(Settings settings) {
    return new CapacityConfig(
        settings.millis(
            "capacity.write-cadence", Duration.ofSeconds(5), Duration.ZERO, Duration.ofHours(1)),
        settings.millis(
            "market.swap-freshness", Duration.ofHours(1), Duration.ofMillis(1), Duration.ofDays(7)),
        settings.millis(
            "market.tick",
            Duration.ofSeconds(10),
            Duration.ofMillis(10),
            Duration.ofMillis(LONGEST_TICK_MILLIS)),
        settings.integer("capacity.max-clusters", DEFAULT_MAX_CLUSTERS, 0, MOST_CLUSTERS),
        settings.flag("billing.spend-limit-enforced", false),
        settings.flag("billing.hold-enforced", false));
  }
}
