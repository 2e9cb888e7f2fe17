package dev.bourse.core;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that only a test moves; confirmed by default. Thread-safe. */
public final class FakeClock extends Clock implements ConfirmedTime {
  private final AtomicLong millis;
  private volatile boolean confirmed = true;
  private volatile boolean newest = true;

  public FakeClock(long millis) {
    this.millis = new AtomicLong(millis);
  }

  public void advance(long byMillis) {
    millis.addAndGet(byMillis);
  }

  /** Sets whether the clock is confirmed. */
  public void confirm(boolean isConfirmed) {
    confirmed = isConfirmed;
  }

  /** Sets whether the time is no earlier than any confirmed before. */
  public void newest(boolean isNewest) {
    newest = isNewest;
  }

  @Override
  public OptionalLong confirmedMillis() {
    return confirmed ? OptionalLong.of(millis()) : OptionalLong.empty();
  }

  @Override
  public boolean isNewest() {
    return confirmed && newest;
  }

  @Override
  public long millis() {
    return millis.get();
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
    return this;
  }
}
