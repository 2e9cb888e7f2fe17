package dev.bourse.blob.s3;

import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A part that is sent while its bytes still come, so that taking and sending go on at once and yet
 * no more than this one part is unrecorded. It is a part only if the spool becomes full: else the
 * request is broken off, the store forgets what it has of it, and the tail is kept in another way.
 */
final class EarlyPart {
  /** The store is asked once a client has shown with so many bytes that more are likely. */
  private static final int LEAST_BYTES = 1024 * 1024;

  /** A slower client gains nothing, for its part is sent in a fraction of the time it takes. */
  private static final long LEAST_BYTES_PER_SECOND = 8L * 1024 * 1024;

  /** Longer than a part takes at that pace; a client that stops holds a thread no longer. */
  private static final long PATIENCE_MILLIS = 4_000;

  /** Of bytes that are all there already. */
  static final Patience NEVER_GIVEN_UP = () -> Long.MAX_VALUE;

  private final Spool spool;
  private final long begunNanos = System.nanoTime();
  private volatile boolean isGivenUp;
  private @Nullable Future<String> tag;

  private EarlyPart(Spool spool) {
    this.spool = spool;
  }

  /** How long bytes that are still to come are waited for; nothing is read once that is 0. */
  interface Patience {
    long millisLeft();
  }

  /** The bytes did not come; nothing is wrong with the store. No try is to follow. */
  static final class GivenUp extends IllegalStateException {
    GivenUp() {
      super("a part was given up, for its bytes did not come soon enough");
    }
  }

  /**
   * Begins to send what is being spooled, if that is worth it and a place is free.
   *
   * @param places how many may be under way
   * @param send sends a part and gives its tag
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
    if (isGivenUp) {
      return 0;
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
    return spool.isFull() ? Long.MAX_VALUE : PATIENCE_MILLIS - millis;
  }

  /** The store's tag of it; fails when it was given up or not taken. */
  Future<String> tag() {
    return tag == null ? Future.failedFuture(new GivenUp()) : tag;
  }

  /** Whether it failed for want of bytes alone; the store's client may have wrapped that. */
  static boolean isGivenUp(Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof GivenUp)) {
      cause = cause.getCause();
    }
    return cause != null;
  }

  /** Breaks it off: from now on it reads nothing of the spool. */
  void giveUp() {
    isGivenUp = true;
    spool.wake();
  }
}
