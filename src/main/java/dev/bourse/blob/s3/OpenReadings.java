package dev.bourse.blob.s3;

import dev.bourse.blob.Reading;
import dev.bourse.blob.StorageBusy;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;

/** The readings of a store that are not closed yet, of which there are no more than may be. */
final class OpenReadings {
  /** Readings that hold up to 2 MiB of what comes next, 32 MiB together; the others one piece. */
  private static final int READ_AHEAD = 16;

  private final Tools tools;
  private final Semaphore aheadPlaces = new Semaphore(READ_AHEAD);

  // The two below are guarded by this object.
  private final Set<S3Reading> open = new HashSet<>();
  private boolean isClosed;

  OpenReadings(Tools tools) {
    this.tools = tools;
  }

  /** A reading of a blob; nothing is asked of the store yet. */
  synchronized Reading begin(S3Rows.Blob blob) {
    if (isClosed) {
      throw S3Blobs.closedStore();
    }
    if (open.size() >= tools.config().openBlobs()) {
      throw new StorageBusy(open.size() + " blobs are being read, the most that are allowed");
    }
    S3Reading reading =
        new S3Reading(blob, tools.calls(), tools.workers(), aheadPlaces, this::forget);
    open.add(reading);
    return reading;
  }

  private synchronized void forget(S3Reading reading) {
    open.remove(reading);
  }

  /** Breaks off all readings; none begins from now on. */
  Future<Void> close() {
    List<S3Reading> ending;
    synchronized (this) {
      isClosed = true;
      ending = new ArrayList<>(open);
    }
    return Future.join(ending.stream().map(S3Reading::close).toList()).mapEmpty();
  }
}
