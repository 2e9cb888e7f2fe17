package dev.bourse.market;

import dev.bourse.core.ClockStepDetector;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The clocks of a simulated month: the wall clock, which somebody sets now and then, the one that
 * nobody sets, and what processes make of the two.
 */
final class MonthClocks {
  /** The default of {@code time.confirm-after}. */
  static final long CONFIRM_AFTER = 600_000;

  /** It begins anywhere. */
  private long monotonicMillis = 77;

  private long wallMillis;

  MonthClocks(long wallMillis) {
    this.wallMillis = wallMillis;
  }

  /** What people read. */
  long wall() {
    return wallMillis;
  }

  /** What has gone by. */
  long monotonic() {
    return monotonicMillis;
  }

  /** How far the wall clock is ahead of the other. */
  long apart() {
    return wallMillis - monotonicMillis;
  }

  /** Time goes by, up to a moment of the clock that nobody sets; none when that is past. */
  void passTo(long monotonic) {
    long by = Math.max(0, monotonic - monotonicMillis);
    monotonicMillis += by;
    wallMillis += by;
  }

  /** Somebody sets the wall clock ahead, or back. */
  void set(long byMillis) {
    wallMillis += byMillis;
  }

  /** A process that starts now. */
  Watch watch() {
    return new Watch();
  }

  /**
   * What a process makes of the clocks for as long as it lives, as the service's timekeeper does.
   */
  final class Watch {
    private final ClockStepDetector pace = new ClockStepDetector(CONFIRM_AFTER, CONFIRM_AFTER);
    private final NoticeClock notices =
        new NoticeClock(() -> TimeUnit.MILLISECONDS.toNanos(monotonicMillis));

    private Watch() {
      look();
    }

    /** Compares the two; the service does it every second. */
    void look() {
      pace.read(monotonicMillis, wallMillis, monotonicMillis);
    }

    /** The time by which hours are posted. */
    OptionalLong confirmedMillis() {
      look();
      return pace.isSteady(monotonicMillis) ? OptionalLong.of(wallMillis) : OptionalLong.empty();
    }

    /** The time by which declarations end. */
    OptionalLong undoubtedMillis() {
      look();
      return pace.isUndoubted(monotonicMillis) ? OptionalLong.of(wallMillis) : OptionalLong.empty();
    }

    /** Whose notice is over. */
    NoticeClock notices() {
      return notices;
    }
  }
}
