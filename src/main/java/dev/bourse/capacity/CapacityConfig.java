package dev.bourse.capacity;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * Settings of the capacity feature.
 *
 * @param cadenceMillis {@code capacity.write-cadence}: how far apart accepted writes of one cluster
 *     must be; 0 switches the cadence off
 * @param swapFreshnessMillis {@code market.swap-freshness}: how long a swap may wait
 * @param spendLimitEnforced {@code billing.spend-limit-enforced}
 * @param billingHoldEnforced {@code billing.hold-enforced}
 */
public record CapacityConfig(
    long cadenceMillis,
    long swapFreshnessMillis,
    boolean spendLimitEnforced,
    boolean billingHoldEnforced) {

  public static CapacityConfig from(Settings settings) {
    return new CapacityConfig(
        settings.millis(
            "capacity.write-cadence", Duration.ofSeconds(5), Duration.ZERO, Duration.ofHours(1)),
        settings.millis(
            "market.swap-freshness", Duration.ofHours(1), Duration.ofMillis(1), Duration.ofDays(7)),
        settings.flag("billing.spend-limit-enforced", false),
        settings.flag("billing.hold-enforced", false));
  }
}
