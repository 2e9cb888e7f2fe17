package dev.bourse.blob.s3;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;

/**
 * Passes a whole object to an inspector, because earlier openings took some of its bytes. Works in
 * slices, between which other uploads get a turn, and resumes after a fault.
 */
final class InspectorReplay {
  /** A slice takes some tens of milliseconds; between slices other uploads get a turn. */
  private static final int SLICE_BYTES = 16 * 1024 * 1024;

  private final S3Calls calls;
  private final Workers workers;
  private final Inspector inspector;

  // Used by one slice at a time.
  private long replayed;
  private @Nullable ResponseInputStream<?> stream;

  InspectorReplay(S3Calls calls, Workers workers, Inspector inspector) {
    this.calls = calls;
    this.workers = workers;
    this.inspector = inspector;
  }

  /**
   * Succeeds when the inspector has seen every byte.
   *
   * @param broken returns the reason to stop, or null while there is none
   */
  Future<Void> start(String object, long bytes, Supplier<@Nullable Throwable> broken) {
    Promise<Void> done = Promise.promise();
    replayNext(object, bytes, broken, done);
    return done.future();
  }

  /**
   * Each slice starts on a stack of its own, so the number of slices is not limited by the stack.
   */
  private void replayNext(
      String object, long bytes, Supplier<@Nullable Throwable> broken, Promise<Void> done) {
    workers
        .checkCall(() -> replaySlice(object, bytes, broken.get()))
        .onComplete(
            isWhole -> {
              if (isWhole) {
                done.complete();
              } else {
                replayNext(object, bytes, broken, done);
              }
            },
            done::fail);
  }

  private boolean replaySlice(String object, long all, @Nullable Throwable broken) {
    if (broken instanceof RuntimeException reason) {
      throw reason;
    }
    byte[] bytes = new byte[BlobStore.BLOCK_BYTES];
    long end = Math.min(all, replayed + SLICE_BYTES);
    boolean hasMore = false;
    try {
      ResponseInputStream<?> source = stream == null ? calls.get(object, replayed, all) : stream;
      stream = source;
      while (replayed < end) {
        int read = source.read(bytes, 0, (int) Math.min(bytes.length, end - replayed));
        if (read < 0) {
          throw new IOException("it ends at " + replayed + " of " + all + " bytes");
        }
        inspector.inspect(bytes, 0, read);
        replayed += read;
      }
      hasMore = replayed < all;
      return !hasMore;
    } catch (IOException e) {
      throw new StorageFaultException("cannot read " + object, e);
    } finally {
      if (!hasMore) {
        stop();
      }
    }
  }

  /** Cancels the current read. */
  void stop() {
    ResponseInputStream<?> source = stream;
    stream = null;
    if (source != null) {
      source.abort();
    }
  }
}
