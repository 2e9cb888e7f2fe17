package dev.bourse.access;

import io.vertx.core.Future;
import java.util.function.Supplier;

/**
 * Runs readings of the store one after the other. Readings never overtake each other, so what an
 * earlier one found cannot undo a later one.
 */
final class SerialReadings {
  private Future<Void> last = Future.succeededFuture();

  /** Begins a reading when the one before has ended, however it ended. */
  synchronized <T> Future<T> next(Supplier<Future<T>> reading) {
    Future<T> read = last.otherwiseEmpty().compose(ended -> reading.get());
    last = read.mapEmpty();
    return read;
  }
}
