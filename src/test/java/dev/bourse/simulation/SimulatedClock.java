package dev.bourse.simulation;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/** A wall clock beside true time; it may be wrong, and can be set. */
final class SimulatedClock extends Clock {
  /** The service ignores smaller steps between two readings. */
  private static final long RIGHT_MILLIS = 2_000;

  private final LongSupplier trueMillis;
  private final long beginMillis;
  private long offMillis;
  private long mostAheadMillis;
  private long mostBehindMillis;
  private long wrongUntilMillis = Long.MIN_VALUE / 2;

  /**
   * @param trueMillis true time since the beginning of the simulation
   * @param beginMillis a right clock's time at the beginning
   */
  SimulatedClock(LongSupplier trueMillis, long beginMillis) {
    this.trueMillis = trueMillis;
    this.beginMillis = beginMillis;
  }

  /** Sets its offset from a right clock; negative for behind. */
  void set(long off) {
    if (!isRight()) {
      wrongUntilMillis = trueMillis.getAsLong();
    }
    offMillis = off;
    mostAheadMillis = Math.max(mostAheadMillis, off);
    mostBehindMillis = Math.max(mostBehindMillis, -off);
  }

  /** Returns true if it is close enough to true time. */
  boolean isRight() {
    return Math.abs(offMillis) <= RIGHT_MILLIS;
  }

  /** Returns for how long it has been right; 0 while it is not. */
  long rightForMillis() {
    return isRight() ? trueMillis.getAsLong() - wrongUntilMillis : 0;
  }

  /** Returns its largest offset so far, ahead or behind. */
  long mostOffMillis() {
    return Math.max(mostAheadMillis, mostBehindMillis);
  }

  /** Returns how far it was ever ahead. */
  long mostAheadMillis() {
    return mostAheadMillis;
  }

  /** Returns how far it was ever behind. */
  long mostBehindMillis() {
    return mostBehindMillis;
  }

  /** Returns its offset from a right clock. */
  long offMillis() {
    return offMillis;
  }

  @Override
  public long millis() {
    return beginMillis + trueMillis.getAsLong() + offMillis;
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    throw new UnsupportedOperationException("all times are UTC");
  }
}
