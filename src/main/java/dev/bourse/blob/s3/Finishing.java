package dev.bourse.blob.s3;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.function.Supplier;

/**
 * Tells other processes, by an upload's row, that this one is at its end. They leave it alone
 * meanwhile, for each of them would complete it once more and read it back from its first byte. An
 * end takes milliseconds as a rule: only one that lasts is told of, and for some seconds at a time,
 * as this process may die or hang.
 */
final class Finishing {
  /** How long others believe it: several periods, for the database may be slow. */
  static final long HELD_MILLIS = 10_000;

  private static final long PERIOD_MILLIS = 1_000;

  private final Vertx vertx;
  private final S3Rows rows;
  private final Clock clock;

  Finishing(Vertx vertx, S3Rows rows, Clock clock) {
    this.vertx = vertx;
    this.rows = rows;
    this.clock = clock;
  }

  /** Does what ends an upload, and tells of it for as long as it takes. */
  <T> Future<T> during(S3Rows.Upload upload, Supplier<Future<T>> work) {
    Telling telling = new Telling(upload);
    long timer = vertx.setPeriodic(PERIOD_MILLIS, tick -> telling.renew());
    return Future.succeededFuture()
        .compose(begun -> work.get())
        .eventually(
            () -> {
              vertx.cancelTimer(timer);
              return telling.end();
            });
  }

  private final class Telling {
    private final S3Rows.Upload upload;

    // Guarded by this object.
    private Future<Void> told = Future.succeededFuture();
    private boolean isTold;
    private boolean isOver;

    Telling(S3Rows.Upload upload) {
      this.upload = upload;
    }

    /** A slow database is not asked again meanwhile. */
    synchronized void renew() {
      if (!isOver && told.isComplete()) {
        isTold = true;
        told = tell(clock.millis() + HELD_MILLIS);
      }
    }

    synchronized Future<Void> end() {
      // A timer that is cancelled may have begun its last turn.
      isOver = true;
      return isTold ? told.compose(before -> tell(0)) : told;
    }

    /** Whatever cannot be told costs others some work, or some seconds. */
    private Future<Void> tell(long untilMillis) {
      return rows.finishing(upload, untilMillis).otherwiseEmpty();
    }
  }
}
