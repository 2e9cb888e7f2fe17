package dev.bourse.testing;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/** This machine's clock, set ahead or back by a test while it goes on. */
public final class SteppingClock extends Clock {
  private final AtomicLong offset = new AtomicLong();
  private final boolean asksServer;

  /** Beside a server's clock, which counts where there is one. */
  public SteppingClock() {
    this.asksServer = true;
  }

  private SteppingClock(Instant begin) {
    this.asksServer = false;
    offset.set(begin.toEpochMilli() - Clock.systemUTC().millis());
  }

  /**
   * Goes on from ten past noon in the middle of a month, whatever the day is, and counts on every
   * engine: for what would come out differently at the end of an hour, a day or a month.
   */
  public static SteppingClock midMonth() {
    return new SteppingClock(Instant.parse("2026-06-15T12:10:00Z"));
  }

  /** Whether a server's clock goes before it. */
  public boolean asksServer() {
    return asksServer;
  }

  public void step(long byMillis) {
    offset.addAndGet(byMillis);
  }

  @Override
  public long millis() {
    return Clock.systemUTC().millis() + offset.get();
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
