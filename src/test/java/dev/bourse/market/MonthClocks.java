package dev.bourse.market;

import dev.bourse.core.ClockStepDetector;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The clocks of a simulated month: the wall clock, which is set now and then, the monotonic clock,
 * and each process's view of the two.
 */
final class MonthClocks {
  /** The default of {@code time.confirm-after}. */
  static final long CONFIRM_AFTER = 600_000;

  /** The monotonic clock starts at any value. */
  private long monotonicMillis = 77;

  private long wallMillis;

  MonthClocks(long wallMillis) {
    this.wallMillis = wallMillis;
  }

  /** Returns the time of the wall clock. */
  long wall() {
    return wallMillis;
  }

  /** Returns the time of the monotonic clock. */
  long monotonic() {
    return monotonicMillis;
  }

  /** Returns how far the wall clock is ahead of the monotonic clock. */
  long apart() {
    return wallMillis - monotonicMillis;
  }

  /** Advances both clocks to a time of the monotonic clock, unless it has passed. */
  void passTo(long monotonic) {
    long by = Math.max(0, monotonic - monotonicMillis);
    monotonicMillis += by;
    wallMillis += by;
  }

  /** Sets the wall clock ahead or back. */
  void set(long byMillis) {
    wallMillis += byMillis;
  }

  /** Starts a process. */
  Watch watch() {
    return new Watch();
  }

  /**
   * The view that a process has of the clocks while it lives, as the service's timekeeper computes
   * it.
   */
  final class Watch {
    private final ClockStepDetector pace = new ClockStepDetector(CONFIRM_AFTER, CONFIRM_AFTER);
    private final NoticeClock notices =
        new NoticeClock(() -> TimeUnit.MILLISECONDS.toNanos(monotonicMillis));

    private Watch() {
      look();
    }

    /** Compares the two clocks, as the service does every second. */
    void look() {
      pace.read(monotonicMillis, wallMillis, monotonicMillis);
    }

    /** Returns the time by which hours are posted. */
    OptionalLong confirmedMillis() {
      look();
      return pace.isSteady(monotonicMillis) ? OptionalLong.of(wallMillis) : OptionalLong.empty();
    }

    /** Returns the time by which declarations end. */
    OptionalLong undoubtedMillis() {
      look();
      return pace.isUndoubted(monotonicMillis) ? OptionalLong.of(wallMillis) : OptionalLong.empty();
    }

    /** Returns the notices that are over. */
    NoticeClock notices() {
      return notices;
    }
  }
}
