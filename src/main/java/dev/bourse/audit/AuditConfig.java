package dev.bourse.audit;

import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * The intervals of sealing and the retention times of records.
 *
 * @param sealIntervalMillis {@code audit.seal-interval}: the pause between two rounds of sealing
 * @param readsMillis {@code retention.reads}: how long rows of reads are kept; 0 for ever
 * @param writesMillis {@code retention.writes}: the same for writes
 * @param activityMillis {@code retention.activity}: the same for clusters' activity
 * @param retentionIntervalMillis {@code retention.interval}: the pause between two rounds of
 *     deleting
 */
public record AuditConfig(
    long sealIntervalMillis,
    long readsMillis,
    long writesMillis,
    long activityMillis,
    long retentionIntervalMillis) {

  /**
   * The minimum of a retention time. A bare number means seconds, so 90 instead of 90d would delete
   * everything.
   */
  private static final Duration LEAST_KEPT = Duration.ofDays(1);

  private static final Duration MOST_KEPT = Duration.ofDays(36_500);

  public static AuditConfig from(Settings settings) {
    return new AuditConfig(
        settings.millis(
            "audit.seal-interval",
            Duration.ofMinutes(5),
            Duration.ofMillis(50),
            Duration.ofHours(24)),
        kept(settings, "retention.reads", Duration.ofDays(90)),
        kept(settings, "retention.writes", Duration.ZERO),
        kept(settings, "retention.activity", Duration.ofDays(400)),
        settings.millis(
            "retention.interval", Duration.ofHours(1), Duration.ofSeconds(1), Duration.ofDays(7)));
  }

  private static long kept(Settings settings, String key, Duration byDefault) {
    long millis = settings.millis(key, byDefault, Duration.ZERO, MOST_KEPT);
    if (millis > 0 && millis < LEAST_KEPT.toMillis()) {
      settings.fault(key, Duration.ofMillis(millis).toString(), "0, for ever, or at least 1d");
    }
    return millis;
  }
}
