package dev.bourse.org;

import java.time.Clock;

/**
 * A circuit breaker for calls to another service. While calls succeed it is closed and lets so many
 * through at a time. A failure opens it for a while; then it lets one call through at a time, until
 * one succeeds.
 */
final class CircuitBreaker {
  private final Clock clock;
  private final long restMillis;
  private final int maxRunning;
  private int running;
  private boolean broken;
  private long brokenAtMillis;

  /**
   * @param restMillis how long nothing is called after a failure
   * @param maxRunning most calls at a time
   */
  CircuitBreaker(Clock clock, long restMillis, int maxRunning) {
    this.clock = clock;
    this.restMillis = restMillis;
    this.maxRunning = maxRunning;
  }

  /** Whether a call may begin; if so, {@link #succeeded} or {@link #failed} must follow. */
  synchronized boolean enter() {
    if (running >= maxRunning || (broken && (running > 0 || isResting()))) {
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
