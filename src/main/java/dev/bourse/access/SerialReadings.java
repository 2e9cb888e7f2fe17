package dev.bourse.access;

import io.vertx.core.Future;
import java.util.function.Supplier;

/**
 * Runs reads of the store one after another, so that the result of an earlier read cannot overwrite
 * that of a later one.
 */
final class SerialReadings {
  private Future<Void> last = Future.succeededFuture();

  /** Starts a read when the previous one has ended, even with a failure. */
  synchronized <T> Future<T> next(Supplier<Future<T>> reading) {
    Future<T> read = last.otherwiseEmpty().compose(ended -> reading.get());
    last = read.mapEmpty();
    return read;
  }
}
