package dev.bourse.client.transfer;

import dev.bourse.core.Sizes;
import dev.bourse.core.Text;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Shows the progress of a transfer: on a terminal as a redrawn bar, elsewhere as occasional lines
 * without control characters. Concurrent transfers of several files are shown as one.
 */
final class Progress implements Transfer, AutoCloseable {
  private static final Duration REDRAW = Duration.ofMillis(100);
  private static final Duration LINES = Duration.ofSeconds(10);
  private static final int NAME_WIDTH = 15;
  private static final int BAR_WIDTH = 12;

  /** The longest remaining time that is shown. */
  private static final long LONGEST_SECONDS = Duration.ofHours(100).toSeconds();

  /** Returns to the start of the line and erases it. */
  private static final String CLEAR = "\r\u001b[K";

  private final PrintWriter err;
  private final boolean hasTerminal;
  private final Clock clock;
  private final String name;
  private final long total;
  private final TransferRate meter;
  private final AtomicLong done;
  private long drawnAt;
  private long seen;
  private long movedAt;
  private boolean isDrawn;

  /**
   * @param name of the file
   * @param start the bytes present already
   * @param total all its bytes
   */
  Progress(PrintWriter err, CommandEnvironment environment, String name, long start, long total) {
    this.err = err;
    this.hasTerminal = environment.hasTerminal();
    this.clock = environment.clock();
    this.name = Text.shown(name);
    this.total = total;
    this.done = new AtomicLong(start);
    this.seen = start;
    long now = clock.millis();
    this.movedAt = now;
    this.drawnAt = now;
    this.meter = new TransferRate(now, start);
  }

  /** The progress of one file of several. */
  Transfer part() {
    return new Part();
  }

  @Override
  public void begin(long bytes) {
    skip(bytes - done.getAndSet(bytes));
  }

  private synchronized void skip(long bytes) {
    meter.skip(bytes);
  }

  @Override
  public void at(long bytes) {
    done.set(bytes);
  }

  @Override
  public long bytes() {
    return done.get();
  }

  @Override
  public synchronized void rest() {
    movedAt = clock.millis();
  }

  @Override
  public synchronized Duration stillness() {
    return Duration.ofMillis(clock.millis() - movedAt);
  }

  @Override
  public synchronized void draw() {
    long now = clock.millis();
    long bytes = done.get();
    if (bytes != seen) {
      seen = bytes;
      movedAt = now;
    }
    if (now - drawnAt < (hasTerminal ? REDRAW : LINES).toMillis()) {
      return;
    }
    drawnAt = now;
    meter.at(now, bytes);
    if (hasTerminal) {
      err.print(CLEAR + bar(name, bytes, total, meter));
      isDrawn = true;
    } else {
      err.println(line(name, bytes, total, meter));
    }
    err.flush();
  }

  @Override
  public synchronized void say(String text) {
    clear();
    err.println(text);
    err.flush();
  }

  private void clear() {
    if (isDrawn) {
      err.print(CLEAR);
      isDrawn = false;
    }
  }

  @Override
  public synchronized void close() {
    clear();
    err.flush();
  }

  /** One of several files; it may stall while others progress. */
  private final class Part implements Transfer {
    private final AtomicLong moved = new AtomicLong();
    private long seenHere;
    private long movedHereAt = clock.millis();

    @Override
    public void begin(long bytes) {
      long skipped = bytes - moved.getAndSet(bytes);
      done.addAndGet(skipped);
      skip(skipped);
    }

    @Override
    public void at(long bytes) {
      done.addAndGet(bytes - moved.getAndSet(bytes));
    }

    @Override
    public long bytes() {
      return moved.get();
    }

    @Override
    public synchronized void rest() {
      movedHereAt = clock.millis();
    }

    @Override
    public synchronized Duration stillness() {
      return Duration.ofMillis(clock.millis() - movedHereAt);
    }

    @Override
    public void draw() {
      notice(moved.get());
      Progress.this.draw();
    }

    private synchronized void notice(long bytes) {
      if (bytes != seenHere) {
        seenHere = bytes;
        movedHereAt = clock.millis();
      }
    }

    @Override
    public void say(String text) {
      Progress.this.say(text);
    }
  }

  /** The progress bar, at most 79 characters. */
  static String bar(String name, long done, long total, TransferRate meter) {
    String shown = name.length() <= NAME_WIDTH ? name : name.substring(0, NAME_WIDTH - 1) + '…';
    int filled = (int) (done * BAR_WIDTH / Math.max(1, total));
    return "%s %3d %% [%s%s] %s%s"
        .formatted(
            shown,
            percent(done, total),
            "#".repeat(filled),
            "-".repeat(BAR_WIDTH - filled),
            Sizes.part(done, total),
            rest(" ", total, meter));
  }

  static String line(String name, long done, long total, TransferRate meter) {
    return "%s: %d %%, %s%s"
        .formatted(name, percent(done, total), Sizes.part(done, total), rest(", ", total, meter));
  }

  private static long percent(long done, long total) {
    return total == 0 ? 100 : Math.round(Math.floor(100.0 * done / total));
  }

  private static String rest(String gap, long total, TransferRate meter) {
    OptionalLong seconds = meter.secondsTo(total);
    if (seconds.isEmpty()) {
      return "";
    }
    String rate = gap + Sizes.bytes(meter.bytesPerSecond()) + "/s";
    return seconds.getAsLong() < LONGEST_SECONDS
        ? rate + gap + "ETA " + Sizes.time(seconds.getAsLong())
        : rate;
  }
}
