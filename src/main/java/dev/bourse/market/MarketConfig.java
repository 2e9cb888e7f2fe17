package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * Settings of the market.
 *
 * @param tickMillis {@code market.tick}: from one clearing to the next
 * @param protectionMillis {@code market.protection}: how long after it became active a node is safe
 *     from rivals
 * @param noticeMillis {@code market.notice}: how long before an active node is taken back for a
 *     rival its holder is told; a pool may have its own
 * @param leaseMillis {@code market.lease}: how long a pool stays without a market when the process
 *     that runs it dies
 * @param swapFreshnessMillis {@code market.swap-freshness}: how long a swap may wait
 * @param probeIntervalMillis {@code nodes.probe-interval}: how often each machine is tried
 */
public record MarketConfig(
    long tickMillis,
    long protectionMillis,
    long noticeMillis,
    long leaseMillis,
    long swapFreshnessMillis,
    long probeIntervalMillis) {

  /** Whoever finds a lease that is to last longer knows that a clock was wrong which gave it. */
  static final Duration LONGEST_LEASE = Duration.ofMinutes(10);

  public static MarketConfig from(Settings settings, long swapFreshnessMillis) {
    return new MarketConfig(
        settings.millis(
            "market.tick", Duration.ofSeconds(10), Duration.ofMillis(10), Duration.ofHours(1)),
        settings.millis(
            "market.protection", Duration.ofMinutes(60), Duration.ZERO, Duration.ofDays(7)),
        settings.millis(
            "market.notice",
            Duration.ofMinutes(2),
            Duration.ZERO,
            Duration.ofMillis(Allocation.Notice.LONGEST_MILLIS)),
        settings.millis(
            "market.lease", Duration.ofSeconds(10), Duration.ofMillis(100), LONGEST_LEASE),
        swapFreshnessMillis,
        settings.millis(
            "nodes.probe-interval",
            Duration.ofMinutes(5),
            Duration.ofMillis(100),
            Duration.ofDays(1)));
  }
}
