package dev.bourse.blob.s3;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.WorkerPromise;
import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;

/**
 * A reading of a blob of an object store. Consecutive pieces share one response of the store; a
 * piece elsewhere starts another request. For a sequential reader, the next pieces are read ahead
 * while earlier ones are sent.
 */
final class S3Reading implements Reading {
  /**
   * Attempts to read one piece after interrupted responses; a store that interrupts more of them is
   * at fault.
   */
  private static final int TRIES = 4;

  private final S3Rows.Blob blob;
  private final S3Calls calls;
  private final Workers workers;
  private final Semaphore aheadPlaces;
  private final Consumer<S3Reading> onClosed;

  // Used by one call at a time.
  private @Nullable ResponseInputStream<?> stream;
  private long at;
  private long streamEnd;

  // The six below are guarded by this object.
  private @Nullable Ahead current;
  private @Nullable Ahead ahead;
  private boolean hasPlace;

  /** The offset after the last requested piece. */
  private long behind = -1;

  private Future<Void> last = Future.succeededFuture();
  private @Nullable Future<Void> closed;

  /** Pieces that were read ahead of their request, in one go. */
  private record Ahead(long offset, int count, Future<Buffer> bytes) {
    boolean has(long from, int bytes) {
      return from >= offset && from + bytes <= offset + count;
    }
  }

  /**
   * @param aheadPlaces slots for readings that hold more than one piece ahead
   * @param onClosed called when the reading is closed
   */
  S3Reading(
      S3Rows.Blob blob,
      S3Calls calls,
      Workers workers,
      Semaphore aheadPlaces,
      Consumer<S3Reading> onClosed) {
    this.blob = blob;
    this.calls = calls;
    this.workers = workers;
    this.aheadPlaces = aheadPlaces;
    this.onClosed = onClosed;
  }

  @Override
  public long length() {
    return blob.bytes();
  }

  @Override
  public Optional<FileChannel> file() {
    return Optional.empty();
  }

  @Override
  public Future<Buffer> piece(long offset, int count) {
    return piece(offset, count, blob.bytes());
  }

  /**
   * Requests these bytes alone, because cancelling a response costs a connection and the bytes in
   * transit.
   */
  @Override
  public Future<Buffer> onlyPiece(long offset, int count) {
    return piece(offset, count, offset + count);
  }

  private synchronized Future<Buffer> piece(long offset, int count, long end) {
    if (count < 1
        || count > BlobStore.MAX_BLOCK_BYTES
        || offset < 0
        || offset > blob.bytes() - count) {
      return Future.failedFuture(
          new IllegalArgumentException(
              "%s bytes at %s are not a valid piece of a blob of %s; expected 1 to %s bytes within it"
                  .formatted(count, offset, blob.bytes(), BlobStore.MAX_BLOCK_BYTES)));
    }
    return closed != null
        ? Future.failedFuture(
            new IllegalStateException("the reading of " + blob.object() + " is closed"))
        : next(offset, count, end);
  }

  /** Under this object's lock. */
  private Future<Buffer> next(long offset, int count, long end) {
    boolean isInOrder = offset == behind;
    behind = offset + count;
    if (ahead != null && ahead.has(offset, count)) {
      current = ahead;
      ahead = readAhead(current.offset + current.count, count);
    }
    if (current != null && current.has(offset, count)) {
      return handedOver(current, offset, count);
    }
    Future<Buffer> piece = then(() -> read(offset, count, end), false);
    current = null;
    ahead = isInOrder ? readAhead(behind, count) : null;
    return piece;
  }

  /**
   * Reads ahead as many pieces as one call may hold; passing each one on separately halves the
   * throughput.
   */
  private @Nullable Ahead readAhead(long from, int piece) {
    if (!hasPlace) {
      hasPlace = aheadPlaces.tryAcquire();
    }
    int pieces = hasPlace ? BlobStore.MAX_BLOCK_BYTES / piece : 1;
    int count = (int) Math.min((long) pieces * piece, blob.bytes() - from);
    return count <= 0
        ? null
        : new Ahead(from, count, then(() -> read(from, count, blob.bytes()), false));
  }

  /**
   * Returns a piece that was read ahead, on the caller's context, or reads it again if that failed.
   */
  private Future<Buffer> handedOver(Ahead known, long offset, int count) {
    WorkerPromise<Buffer> answer = new WorkerPromise<>(workers.home());
    known.bytes.onComplete(
        read -> {
          if (read.succeeded()) {
            int from = (int) (offset - known.offset);
            answer.succeed(read.result().slice(from, from + count));
          } else {
            readAgain(offset, count).onComplete(answer::succeed, answer::fail);
          }
        });
    return answer.future();
  }

  private synchronized Future<Buffer> readAgain(long offset, int count) {
    current = null;
    ahead = null;
    return then(() -> read(offset, count, blob.bytes()), false);
  }

  private synchronized <T> Future<T> then(Callable<T> call, boolean givesBack) {
    WorkerPromise<T> answer = new WorkerPromise<>(workers.home());
    Promise<Void> ended = Promise.promise();
    last.onComplete(
        before ->
            (givesBack ? workers.giveBack(call) : workers.call(call))
                .onComplete(
                    done -> {
                      ended.complete();
                      if (done.succeeded()) {
                        answer.succeed(done.result());
                      } else {
                        answer.fail(done.cause());
                      }
                    }));
    last = ended.future();
    return answer.future();
  }

  private Buffer read(long offset, int count, long end) {
    byte[] bytes = new byte[count];
    for (int tries = 1; ; tries++) {
      try {
        readOrStop(bytes, offset, end);
        return Buffer.buffer(bytes);
      } catch (IOException e) {
        // The connection was cut; the store has the rest.
        if (tries == TRIES) {
          throw new StorageFaultException("cannot read " + blob.object(), e);
        }
      } catch (BlobNotFoundException e) {
        throw new StorageFaultException("the store has lost " + blob.object(), e);
      }
    }
  }

  /** After any failure the position of the response is unknown, so it is closed. */
  private void readOrStop(byte[] bytes, long offset, long end) throws IOException {
    boolean isRead = false;
    try {
      readInto(bytes, offset, end);
      isRead = true;
    } finally {
      if (!isRead) {
        stop();
      }
    }
  }

  private void readInto(byte[] bytes, long offset, long end) throws IOException {
    ResponseInputStream<?> source = stream;
    if (source == null || at != offset) {
      stop();
      source = calls.get(blob.object(), offset, end);
      streamEnd = end;
      stream = source;
      at = offset;
    }
    int read = source.readNBytes(bytes, 0, bytes.length);
    at += read;
    if (read < bytes.length) {
      throw new IOException("it ends at " + at + " of " + blob.bytes() + " bytes");
    }
    if (at == streamEnd) {
      // A response that was read to its end leaves a reusable connection.
      stream = null;
      source.close();
    }
  }

  /** Cancels the response, because reading the rest of it could take gigabytes. */
  private void stop() {
    ResponseInputStream<?> source = stream;
    stream = null;
    if (source != null) {
      source.abort();
    }
  }

  @Override
  public synchronized Future<Void> close() {
    if (closed == null) {
      closed =
          then(
              () -> {
                stop();
                giveBackPlace();
                onClosed.accept(this);
                return null;
              },
              true);
    }
    return closed;
  }

  private synchronized void giveBackPlace() {
    if (hasPlace) {
      hasPlace = false;
      aheadPlaces.release();
    }
  }
}
