package dev.bourse.blob.s3;

import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A part that is sent while its bytes still arrive, so that receiving and sending overlap and at
 * most this one part is unrecorded. It becomes a part only if the spool fills up. Otherwise the
 * request is cancelled, the store discards its bytes, and the tail is stored as a piece.
 */
final class EarlyPart {
  /**
   * Bytes to receive before the request starts; a client that has sent them will probably send
   * more.
   */
  private static final int LEAST_BYTES = 1024 * 1024;

  /**
   * The pace from which sending early pays off. A slower client's part is sent in a fraction of the
   * time it takes to arrive.
   */
  private static final long LEAST_BYTES_PER_SECOND = 8L * 1024 * 1024;

  /**
   * Longer than a part takes at that pace. A client that stops sending holds a thread no longer
   * than this.
   */
  private static final long PATIENCE_MILLIS = 4_000;

  /** The patience for bytes that are all present already. */
  static final ReadDeadline UNLIMITED = () -> Long.MAX_VALUE;

  private final Spool spool;
  private final long begunNanos = System.nanoTime();
  private volatile boolean isCancelled;
  private @Nullable Future<String> tag;

  private EarlyPart(Spool spool) {
    this.spool = spool;
  }

  /** How long to wait for bytes that have not arrived. At 0 the reader stops. */
  interface ReadDeadline {
    long millisLeft();
  }

  /**
   * Cancels a part whose bytes did not arrive in time. The store is not at fault, and the request
   * is not retried.
   */
  static final class PartCancelledException extends IllegalStateException {
    PartCancelledException() {
      super("a part was cancelled because its bytes did not arrive in time");
    }
  }

  /**
   * Starts to send the spool if that pays off and a slot is free; returns null otherwise.
   *
   * @param places slots for parts in progress
   * @param send sends a part and returns its tag
   */
  static @Nullable EarlyPart begin(
      Spool spool, Semaphore places, Workers workers, Function<Payload, String> send) {
    if (spool.length() < LEAST_BYTES
        || !spool.isFilling(LEAST_BYTES_PER_SECOND)
        || !places.tryAcquire()) {
      return null;
    }
    EarlyPart part = new EarlyPart(spool);
    part.tag =
        workers
            .longCall(() -> send.apply(spool.follow(part::millisLeft)))
            .onComplete(done -> places.release());
    return part;
  }

  private long millisLeft() {
    if (isCancelled) {
      return 0;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
    return spool.isFull() ? Long.MAX_VALUE : PATIENCE_MILLIS - millis;
  }

  /** Returns the store's tag of the part. Fails if the part was cancelled or rejected. */
  Future<String> tag() {
    return tag == null ? Future.failedFuture(new PartCancelledException()) : tag;
  }

  /**
   * Returns whether the part failed only because of missing bytes. The store's client may have
   * wrapped that exception.
   */
  static boolean isCancelled(Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof PartCancelledException)) {
      cause = cause.getCause();
    }
    return cause != null;
  }

  /** Cancels the request, which reads no more of the spool. */
  void cancel() {
    isCancelled = true;
    spool.wake();
  }
}
