package dev.bourse.app.commands;

import dev.bourse.store.transfer.RowProgress;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;

/** Prints the progress of a table on a terminal or in a log, at most twice a second. */
final class ProgressLines implements RowProgress {
  private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** The clock is read once per this many rows, which take a millisecond or so. */
  private static final int ROWS_BETWEEN_LOOKS = 256;

  private final PrintWriter err;
  private final String doing;
  private long last = System.nanoTime();

  /**
   * @param doing the work on the rows, for the start of the line
   */
  ProgressLines(PrintWriter err, String doing) {
    this.err = err;
    this.doing = doing;
  }

  @Override
  public void at(String table, long done, long total) {
    if (done % ROWS_BETWEEN_LOOKS != 0) {
      return;
    }
    long now = System.nanoTime();
    if (now - last >= INTERVAL_NANOS) {
      last = now;
      err.printf(
          "%s %s: %d of %d rows, %d %%%n",
          doing, table, done, total, total == 0 ? 100 : done * 100 / total);
    }
  }
}
