package dev.bourse.market;

import dev.bourse.nodes.Machine;
import org.jspecify.annotations.Nullable;

/**
 * A machine as the market sees it.
 *
 * @param machine the machine itself
 * @param cordoned an operator keeps it out of the market
 * @param failures provisionings that failed in a row
 * @param usableAfterMillis until when it is left alone after a failure
 * @param quarantinedAtMillis since when it waits for an operator, null when it does not
 */
public record Node(
    Machine machine,
    boolean cordoned,
    int failures,
    long usableAfterMillis,
    @Nullable Long quarantinedAtMillis) {

  /** Back-off doubles from this: 1, 2, 4 minutes; the failure after those quarantines. */
  private static final long FIRST_BACKOFF_MILLIS = 60_000;

  private static final int BACKOFFS = 3;

  public String nodeId() {
    return machine.nodeId();
  }

  /** Whether it can be granted, unless it is held. */
  boolean isUsable(long nowMillis) {
    return !cordoned && quarantinedAtMillis == null && usableAfterMillis <= nowMillis;
  }

  Node failed(long nowMillis) {
    int count = failures + 1;
    return count > BACKOFFS
        ? quarantined(nowMillis)
        : new Node(
            machine,
            cordoned,
            count,
            nowMillis + (FIRST_BACKOFF_MILLIS << (count - 1)),
            quarantinedAtMillis);
  }

  Node quarantined(long nowMillis) {
    return new Node(machine, cordoned, failures, usableAfterMillis, nowMillis);
  }

  Node healthy() {
    return new Node(machine, cordoned, 0, 0, quarantinedAtMillis);
  }
}
