package dev.bourse.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Waiting for what comes at some time of its own, on a machine that may be very busy. */
public final class Polls {
  private static final long DEADLINE_SECONDS = 60;
  private static final int SLACK_SECONDS = 20;

  /** What is polled costs the machine that is waited for: a request and its check, most often. */
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private Polls() {}

  /** Polls until the condition holds; fails when it does not within the deadline. */
  public static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("not within " + DEADLINE_SECONDS + " s: " + what);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Tries until an attempt gives what is wanted; that. */
  public static <T> T until(String what, Supplier<T> attempt, Predicate<T> isWanted) {
    List<T> last = new ArrayList<>(List.of(attempt.get()));
    until(
        what,
        () -> {
          if (!isWanted.test(last.get(0))) {
            last.set(0, attempt.get());
          }
          return isWanted.test(last.get(0));
        });
    return last.get(0);
  }

  /**
   * Polls until the condition holds; fails when that takes longer than is promised and a busy
   * machine may add. The promise to the second is held where time is virtual, by the simulation.
   */
  public static void within(int seconds, String what, BooleanSupplier condition) {
    long since = System.nanoTime();
    until(what, condition);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
    if (millis > (seconds + SLACK_SECONDS) * 1_000L) {
      throw new AssertionError(what + " only after " + millis + " ms");
    }
  }
}
