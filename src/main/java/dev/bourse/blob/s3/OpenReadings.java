package dev.bourse.blob.s3;

import dev.bourse.blob.Reading;
import dev.bourse.blob.StorageBusyException;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;

/** A store's open readings, whose number is bounded. */
final class OpenReadings {
  /** Readings that may hold up to 2 MiB ahead, 32 MiB together. Other readings hold one piece. */
  private static final int READ_AHEAD = 16;

  private final S3Context context;
  private final Semaphore aheadPlaces = new Semaphore(READ_AHEAD);

  // The two below are guarded by this object.
  private final Set<S3Reading> open = new HashSet<>();
  private boolean isClosed;

  OpenReadings(S3Context context) {
    this.context = context;
  }

  /** Creates a reading of a blob without a call to the store. */
  synchronized Reading begin(S3Rows.Blob blob) {
    if (isClosed) {
      throw S3Blobs.closedStore();
    }
    if (open.size() >= context.config().openBlobs()) {
      throw new StorageBusyException(open.size() + " blobs are being read, which is the limit");
    }
    S3Reading reading =
        new S3Reading(blob, context.calls(), context.workers(), aheadPlaces, this::forget);
    open.add(reading);
    return reading;
  }

  private synchronized void forget(S3Reading reading) {
    open.remove(reading);
  }

  /** Interrupts all readings and rejects new ones. */
  Future<Void> close() {
    List<S3Reading> ending;
    synchronized (this) {
      isClosed = true;
      ending = new ArrayList<>(open);
    }
    return Future.join(ending.stream().map(S3Reading::close).toList()).mapEmpty();
  }
}
