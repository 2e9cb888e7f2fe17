package dev.bourse.capacity;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * Settings of the capacity feature.
 *
 * @param cadenceMillis {@code capacity.write-cadence}: the least time between two accepted writes
 *     of a cluster; 0 switches the cadence off
 * @param swapFreshnessMillis {@code market.swap-freshness}: how long a swap may wait
 * @param tickMillis {@code market.tick}: the time between two ticks
 * @param maxClusters {@code capacity.max-clusters}: the quota of an organization's clusters unless
 *     an operator sets another for it
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
   * Enough for the teams and purposes of one organization. Each cluster is a bid at every tick of
   * its pool, so clusters that nobody uses have a cost.
   */
  private static final int DEFAULT_MAX_CLUSTERS = 20;

  /** More clusters than any pool has machines; a larger setting is a mistake. */
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
