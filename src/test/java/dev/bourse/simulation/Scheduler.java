package dev.bourse.simulation;

import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * True time and the future events. Nothing happens by itself: the simulation takes the next event.
 * Events of one moment are ordered by a draw from the seed.
 */
final class Scheduler {
  private record Event(long atNanos, long draw, long sequence, Runnable what) {}

  private final SplittableRandom random;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.atNanos != b.atNanos
                  ? Long.compare(a.atNanos, b.atNanos)
                  : a.draw != b.draw
                      ? Long.compare(a.draw, b.draw)
                      : Long.compare(a.sequence, b.sequence));
  private long nowNanos;
  private long sequence;

  Scheduler(SplittableRandom random) {
    this.random = random;
  }

  /** Returns true time since the beginning. */
  long nowNanos() {
    return nowNanos;
  }

  long nowMillis() {
    return nowNanos / 1_000_000;
  }

  /** Schedules an event after a delay. */
  void after(long nanos, Runnable what) {
    events.add(new Event(nowNanos + Math.max(0, nanos), random.nextLong(), sequence++, what));
  }

  void afterMillis(long millis, Runnable what) {
    after(millis * 1_000_000, what);
  }

  /** Returns when the next event is due; {@link Long#MAX_VALUE} without one. */
  long nextNanos() {
    Event next = events.peek();
    return next == null ? Long.MAX_VALUE : next.atNanos;
  }

  /** Advances time to a moment before the next event. */
  void advance(long toNanos) {
    nowNanos = Math.max(nowNanos, toNanos);
  }

  /** Runs the next event. */
  void runNext() {
    Event next = events.remove();
    advance(next.atNanos);
    next.what.run();
  }
}
