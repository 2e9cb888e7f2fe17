package dev.bourse.blob.s3;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.function.Supplier;

/**
 * Marks an upload's row while this process completes it, so that other processes leave it alone;
 * each of them would complete it again and read it back from its first byte. Most completions take
 * milliseconds, so only a longer one sets the mark. The mark expires after some seconds because
 * this process may crash or hang.
 */
final class CompletionMark {
  /** How long the mark is valid: several periods, because the database may be slow. */
  static final long HELD_MILLIS = 10_000;

  private static final long PERIOD_MILLIS = 1_000;

  private final Vertx vertx;
  private final S3Rows rows;
  private final Clock clock;

  CompletionMark(Vertx vertx, S3Rows rows, Clock clock) {
    this.vertx = vertx;
    this.rows = rows;
    this.clock = clock;
  }

  /** Runs the completion of an upload and marks its row if that takes long. */
  <T> Future<T> during(S3Rows.UploadRow upload, Supplier<Future<T>> work) {
    MarkRenewal renewal = new MarkRenewal(upload);
    long timer = vertx.setPeriodic(PERIOD_MILLIS, tick -> renewal.renew());
    return Future.succeededFuture()
        .compose(begun -> work.get())
        .eventually(
            () -> {
              vertx.cancelTimer(timer);
              return renewal.end();
            });
  }

  private final class MarkRenewal {
    private final S3Rows.UploadRow upload;

    // Guarded by this object.
    private Future<Void> lastWrite = Future.succeededFuture();
    private boolean isMarked;
    private boolean isEnded;

    MarkRenewal(S3Rows.UploadRow upload) {
      this.upload = upload;
    }

    /** Renews the mark unless the previous renewal is still in progress in a slow database. */
    synchronized void renew() {
      if (!isEnded && lastWrite.isComplete()) {
        isMarked = true;
        lastWrite = write(clock.millis() + HELD_MILLIS);
      }
    }

    synchronized Future<Void> end() {
      // A cancelled timer may still fire once.
      isEnded = true;
      return isMarked ? lastWrite.compose(before -> write(0)) : lastWrite;
    }

    /**
     * Ignores failures: without the mark, other processes do some work twice or wait for some
     * seconds.
     */
    private Future<Void> write(long untilMillis) {
      return rows.markCompletion(upload, untilMillis).otherwiseEmpty();
    }
  }
}
