package dev.bourse.org;

import java.time.Clock;

/**
 * A circuit breaker for calls to another service. While calls succeed it is closed and lets them
 * through. A failure opens it for a while; after that it lets one call through at a time, until one
 * succeeds.
 */
final class CircuitBreaker {
  private final Clock clock;
  private final long restMillis;
  private int running;
  private boolean broken;
  private long brokenAtMillis;

  /**
   * @param restMillis milliseconds without calls after a failure
   */
  CircuitBreaker(Clock clock, long restMillis) {
    this.clock = clock;
    this.restMillis = restMillis;
  }

  /** Whether a call may start; if so, {@link #succeeded} or {@link #failed} must follow. */
  synchronized boolean enter() {
    if (broken && (running > 0 || isResting())) {
      return false;
    }
    running++;
    return true;
  }

  private boolean isResting() {
    long rested = clock.millis() - brokenAtMillis;
    // A clock that was set back must not prolong the rest.
    return rested >= 0 && rested < restMillis;
  }

  /**
   * Records a successful call.
   *
   * @return whether this changed the state
   */
  synchronized boolean succeeded() {
    running--;
    boolean news = broken;
    broken = false;
    return news;
  }

  /**
   * Records a failed call.
   *
   * @return whether this changed the state
   */
  synchronized boolean failed() {
    running--;
    boolean news = !broken;
    broken = true;
    brokenAtMillis = clock.millis();
    return news;
  }
}
