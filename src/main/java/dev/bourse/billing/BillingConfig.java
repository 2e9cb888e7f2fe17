package dev.bourse.billing;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * Settings of billing.
 *
 * @param graceMillis {@code billing.grace}: from a shortfall to the notice
 * @param noticeMillis {@code billing.notice}: from the notice to the reclaim
 * @param checkMillis {@code billing.check-interval}: interval of the hold checks and of usage
 *     posting
 * @param settleMillis {@code billing.settle}: delay from the end of an hour to its posting
 */
public record BillingConfig(
    long graceMillis, long noticeMillis, long checkMillis, long settleMillis) {

  public static BillingConfig from(Settings settings) {
    return new BillingConfig(
        settings.millis("billing.grace", Duration.ofHours(24), Duration.ZERO, Duration.ofDays(90)),
        settings.millis("billing.notice", Duration.ofHours(24), Duration.ZERO, Duration.ofDays(90)),
        settings.millis(
            "billing.check-interval",
            Duration.ofMinutes(1),
            Duration.ofMillis(10),
            Duration.ofHours(1)),
        settings.millis(
            "billing.settle", Duration.ofMinutes(2), Duration.ofMillis(1), Duration.ofHours(1)));
  }
}
