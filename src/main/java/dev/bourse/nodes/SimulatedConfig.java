package dev.bourse.nodes;

/**
 * The behaviour of simulated machines.
 *
 * @param provisionDelayMillis the duration of a provision, 0 or more
 * @param reclaimDelayMillis the duration of a reclaim, 0 or more
 * @param failureRate the fraction of calls that fail after their delay, 0 to 1
 */
public record SimulatedConfig(
    long provisionDelayMillis, long reclaimDelayMillis, double failureRate) {
  /** A day; a longer delay is a typing mistake. */
  private static final long MAX_DELAY_MILLIS = 86_400_000;

  public SimulatedConfig {
    requireDelay("provision-delay", provisionDelayMillis);
    requireDelay("reclaim-delay", reclaimDelayMillis);
    if (!(failureRate >= 0 && failureRate <= 1)) {
      throw new IllegalArgumentException("failure-rate: " + failureRate + " is not in 0..1");
    }
  }

  private static void requireDelay(String name, long millis) {
    if (millis < 0 || millis > MAX_DELAY_MILLIS) {
      throw new IllegalArgumentException(
          name + ": " + millis + " ms is not in 0.." + MAX_DELAY_MILLIS);
    }
  }
}
