package dev.bourse.blob.s3;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.StorageFault;
import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;

/**
 * Shows an inspector a whole object, for earlier openings took some of its bytes. In slices,
 * between which others have their turn; after a fault it goes on where it was.
 */
final class Showing {
  /** Some tens of milliseconds of a whole object, then others have their turn. */
  private static final int SLICE_BYTES = 16 * 1024 * 1024;

  private final S3Calls calls;
  private final Workers workers;
  private final Inspector inspector;

  // Used by one slice at a time.
  private long shown;
  private @Nullable ResponseInputStream<?> stream;

  Showing(S3Calls calls, Workers workers, Inspector inspector) {
    this.calls = calls;
    this.workers = workers;
    this.inspector = inspector;
  }

  /**
   * Succeeds when the inspector has seen everything.
   *
   * @param broken why to stop; null while there is no reason
   */
  Future<Void> show(String object, long bytes, Supplier<@Nullable Throwable> broken) {
    Promise<Void> done = Promise.promise();
    goOn(object, bytes, broken, done);
    return done.future();
  }

  /** Each slice begins on a turn of its own, however many there are. */
  private void goOn(
      String object, long bytes, Supplier<@Nullable Throwable> broken, Promise<Void> done) {
    workers
        .checkCall(() -> showSlice(object, bytes, broken.get()))
        .onComplete(
            isWhole -> {
              if (isWhole) {
                done.complete();
              } else {
                goOn(object, bytes, broken, done);
              }
            },
            done::fail);
  }

  private boolean showSlice(String object, long all, @Nullable Throwable broken) {
    if (broken instanceof RuntimeException reason) {
      throw reason;
    }
    byte[] bytes = new byte[BlobStore.BLOCK_BYTES];
    long end = Math.min(all, shown + SLICE_BYTES);
    boolean goesOn = false;
    try {
      ResponseInputStream<?> source = stream == null ? calls.get(object, shown, all) : stream;
      stream = source;
      while (shown < end) {
        int read = source.read(bytes, 0, (int) Math.min(bytes.length, end - shown));
        if (read < 0) {
          throw new IOException("it ends at " + shown + " of " + all + " bytes");
        }
        inspector.inspect(bytes, 0, read);
        shown += read;
      }
      goesOn = shown < all;
      return !goesOn;
    } catch (IOException e) {
      throw new StorageFault("cannot read " + object, e);
    } finally {
      if (!goesOn) {
        stop();
      }
    }
  }

  /** Breaks off what is being read. */
  void stop() {
    ResponseInputStream<?> source = stream;
    stream = null;
    if (source != null) {
      source.abort();
    }
  }
}
