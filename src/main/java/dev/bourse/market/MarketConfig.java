package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * Settings of the market.
 *
 * @param tickMillis {@code market.tick}: the time from one clearing to the next
 * @param protectionMillis {@code market.protection}: how long after it became active a node is
 *     protected from rivals
 * @param noticeMillis {@code market.notice}: the time between a notice of preemption and the
 *     reclaim of an active node; a pool may override it
 * @param leaseMillis {@code market.lease}: how long a pool stays without a market when the process
 *     that runs it dies
 * @param swapFreshnessMillis {@code market.swap-freshness}: how long a swap may wait
 * @param gangPatienceMillis {@code market.gang-patience}: how long a minimum of several nodes may
 *     take to become active from its first grant, and how long its cluster gets no new nodes after
 *     that
 * @param probeIntervalMillis {@code nodes.probe-interval}: how often each machine is probed
 */
public record MarketConfig(
    long tickMillis,
    long protectionMillis,
    long noticeMillis,
    long leaseMillis,
    long swapFreshnessMillis,
    long gangPatienceMillis,
    long probeIntervalMillis) {

  /** The default time for a minimum to become active. */
  static final Duration GANG_PATIENCE = Duration.ofMinutes(10);

  /** The longest lease; a stored lease that lasts longer comes from a wrong clock. */
  static final Duration LONGEST_LEASE = Duration.ofMinutes(10);

  public static MarketConfig from(Settings settings, long tickMillis, long swapFreshnessMillis) {
    return new MarketConfig(
        tickMillis,
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
            "market.gang-patience", GANG_PATIENCE, Duration.ofMillis(1), Duration.ofDays(7)),
        settings.millis(
            "nodes.probe-interval",
            Duration.ofMinutes(5),
            Duration.ofMillis(100),
            Duration.ofDays(1)));
  }
}
