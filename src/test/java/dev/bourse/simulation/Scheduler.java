package dev.bourse.simulation;

import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * True time, and what is going to happen in it. Nothing happens by itself: whoever runs the
 * simulation takes the next event. Events of one moment come in an order drawn from the seed.
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

  /** True time since the beginning. */
  long nowNanos() {
    return nowNanos;
  }

  long nowMillis() {
    return nowNanos / 1_000_000;
  }

  /** Has something happen so much later. */
  void after(long nanos, Runnable what) {
    events.add(new Event(nowNanos + Math.max(0, nanos), random.nextLong(), sequence++, what));
  }

  void afterMillis(long millis, Runnable what) {
    after(millis * 1_000_000, what);
  }

  /** When the next event is due; {@link Long#MAX_VALUE} without one. */
  long nextNanos() {
    Event next = events.peek();
    return next == null ? Long.MAX_VALUE : next.atNanos;
  }

  /** Lets time pass up to a moment at which nothing has happened yet. */
  void advance(long toNanos) {
    nowNanos = Math.max(nowNanos, toNanos);
  }

  /** Has the next event happen. */
  void runNext() {
    Event next = events.remove();
    advance(next.atNanos);
    next.what.run();
  }
}
