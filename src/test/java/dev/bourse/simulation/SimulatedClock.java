package dev.bourse.simulation;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/** A wall clock beside true time: it may be off, and somebody may set it. */
final class SimulatedClock extends Clock {
  /** The service takes less than this for a pause between two readings. */
  private static final long RIGHT_MILLIS = 2_000;

  private final LongSupplier trueMillis;
  private final long beginMillis;
  private long offMillis;
  private long mostAheadMillis;
  private long mostBehindMillis;
  private long wrongUntilMillis = Long.MIN_VALUE / 2;

  /**
   * @param trueMillis true time since the beginning of the simulation
   * @param beginMillis what a right clock said at the beginning
   */
  SimulatedClock(LongSupplier trueMillis, long beginMillis) {
    this.trueMillis = trueMillis;
    this.beginMillis = beginMillis;
  }

  /** Sets it so far ahead of a right clock; negative for behind. */
  void set(long off) {
    if (!isRight()) {
      wrongUntilMillis = trueMillis.getAsLong();
    }
    offMillis = off;
    mostAheadMillis = Math.max(mostAheadMillis, off);
    mostBehindMillis = Math.max(mostBehindMillis, -off);
  }

  /** Whether it is so near to true time that it counts as right. */
  boolean isRight() {
    return Math.abs(offMillis) <= RIGHT_MILLIS;
  }

  /** For how long it has been right by now; 0 while it is not. */
  long rightForMillis() {
    return isRight() ? trueMillis.getAsLong() - wrongUntilMillis : 0;
  }

  /** How far it was ever off, ahead or behind. */
  long mostOffMillis() {
    return Math.max(mostAheadMillis, mostBehindMillis);
  }

  /** How far it was ever ahead. */
  long mostAheadMillis() {
    return mostAheadMillis;
  }

  /** How far it was ever behind. */
  long mostBehindMillis() {
    return mostBehindMillis;
  }

  /** How far it is ahead of a right clock. */
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
