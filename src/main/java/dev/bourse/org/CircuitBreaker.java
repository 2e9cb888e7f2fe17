package dev.bourse.org;

import java.time.Clock;

/**
 * A circuit breaker for calls to another service. While calls succeed it is closed and lets them
 * through. A failure opens it for a while; then it lets one call through at a time, until one
 * succeeds.
 */
final class CircuitBreaker {
  private final Clock clock;
  private final long restMillis;
  private int running;
  private boolean broken;
  private long brokenAtMillis;

  /**
   * @param restMillis how long nothing is called after a failure
   */
  CircuitBreaker(Clock clock, long restMillis) {
    this.clock = clock;
    this.restMillis = restMillis;
  }

  /** Whether a call may begin; if so, {@link #succeeded} or {@link #failed} must follow. */
  synchronized boolean enter() {
    if (broken && (running > 0 || isResting())) {
      return false;
    }
    running++;
    return true;
  }

  private boolean isResting() {
    long rested = clock.millis() - brokenAtMillis;
    // A clock set back must not prolong the rest.
    return rested >= 0 && rested < restMillis;
  }

  /**
   * A call succeeded.
   *
   * @return whether that is news
   */
  synchronized boolean succeeded() {
    running--;
    boolean news = broken;
    broken = false;
    return news;
  }

  /**
   * A call failed.
   *
   * @return whether that is news
   */
  synchronized boolean failed() {
    running--;
    boolean news = !broken;
    broken = true;
    brokenAtMillis = clock.millis();
    return news;
  }
}
