package dev.bourse.simulation;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/** A wall clock beside true time: it may be off, and somebody may set it. */
final class SimulatedClock extends Clock {
  private final LongSupplier trueMillis;
  private final long beginMillis;
  private long offMillis;

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
    offMillis = off;
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
