package dev.bourse.core;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that stands still until a test moves it, and is confirmed unless a test says it is not.
 * Any thread may read it.
 */
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

  /** Whether anything vouches for it from now on. */
  public void confirm(boolean isConfirmed) {
    confirmed = isConfirmed;
  }

  /** Whether it is no earlier than it was confirmed before, from now on. */
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
