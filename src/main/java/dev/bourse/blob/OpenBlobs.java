package dev.bourse.blob;

import io.vertx.core.Future;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files of blobs that are being read. Concurrent readers of one blob share one file, because
 * opening costs more than sending a small file, and so that one client cannot exhaust the limit by
 * reading one blob often.
 */
final class OpenBlobs {
  private final BlobFiles files;
  private final Workers workers;
  private final int most;

  // The three below and the fields of OpenBlob are guarded by this object.
  private final Map<String, OpenBlob> byKey = new HashMap<>();
  private final Set<OpenBlob> all = new HashSet<>();
  private boolean isClosed;

  /**
   * Creates an empty set.
   *
   * @param most files that may be open at once
   */
  OpenBlobs(BlobFiles files, Workers workers, int most) {
    this.files = files;
    this.workers = workers;
    this.most = most;
  }

  private record File(FileChannel channel, long length) {}

  /** A blob and its file, which is closed when its last reader leaves. */
  private static final class OpenBlob {
    private final String key;
    private final Set<LocalReading> readings = new HashSet<>();

    /** Readers that wait for the file to be opened. */
    private final List<WorkerPromise<Reading>> waiting = new ArrayList<>();

    /** Null until the file is open. */
    private @Nullable File file;

    OpenBlob(String key) {
      this.key = key;
    }
  }

  Future<Reading> read(String key) {
    OpenBlob blob;
    WorkerPromise<Reading> answer;
    boolean isFirst;
    synchronized (this) {
      if (isClosed) {
        return Future.failedFuture(closedStore());
      }
      OpenBlob found = byKey.get(key);
      if (found != null && found.file != null) {
        return Future.succeededFuture(reading(found, found.file));
      }
      isFirst = found == null;
      if (isFirst && all.size() >= most) {
        return Future.failedFuture(
            new StorageBusyException(all.size() + " blobs are being read, which is the limit"));
      }
      blob = found == null ? new OpenBlob(key) : found;
      answer = new WorkerPromise<>(workers.home());
      blob.waiting.add(answer);
      if (isFirst) {
        byKey.put(key, blob);
        all.add(blob);
      }
    }
    if (isFirst) {
      workers
          .<Void>call(
              () -> {
                open(blob);
                return null;
              })
          .onFailure(e -> abandon(blob, e));
    }
    return answer.future();
  }

  /** Opens the file, on a worker's thread. */
  private void open(OpenBlob blob) {
    File file = openFile(blob.key);
    Map<WorkerPromise<Reading>, Reading> given = new HashMap<>();
    synchronized (this) {
      if (!isClosed) {
        blob.file = file;
        blob.waiting.forEach(answer -> given.put(answer, reading(blob, file)));
        blob.waiting.clear();
      }
    }
    if (given.isEmpty()) {
      BlobFiles.closeQuietly(file.channel());
      throw closedStore();
    }
    given.forEach(WorkerPromise::succeed);
  }

  private File openFile(String key) {
    FileChannel channel = files.openBlob(key);
    try {
      return new File(channel, channel.size());
    } catch (IOException e) {
      BlobFiles.closeQuietly(channel);
      throw files.failure("cannot look at blob " + key, e);
    }
  }

  private void abandon(OpenBlob blob, Throwable cause) {
    List<WorkerPromise<Reading>> refused;
    synchronized (this) {
      byKey.remove(blob.key, blob);
      all.remove(blob);
      refused = List.copyOf(blob.waiting);
      blob.waiting.clear();
    }
    refused.forEach(answer -> answer.fail(cause));
  }

  /** Under this object's lock. */
  private LocalReading reading(OpenBlob blob, File file) {
    LocalReading reading =
        new LocalReading(
            blob.key, file.channel(), file.length(), files, workers, done -> close(blob, done));
    blob.readings.add(reading);
    return reading;
  }

  /** Removes a deleted blob: current readers continue, new ones do not join them. */
  synchronized void forget(String key) {
    byKey.remove(key);
  }

  private Future<Void> close(OpenBlob blob, LocalReading reading) {
    File file;
    synchronized (this) {
      blob.readings.remove(reading);
      file = blob.file;
      if (!blob.readings.isEmpty() || file == null) {
        return Future.succeededFuture();
      }
      byKey.remove(blob.key, blob);
    }
    return workers.giveBack(
        () -> {
          // If the blob was deleted, this frees its disk space, which takes seconds for many GiB.
          BlobFiles.closeQuietly(file.channel());
          synchronized (this) {
            all.remove(blob);
          }
          return null;
        });
  }

  /** Interrupts all readings and rejects new ones. */
  Future<Void> close() {
    List<LocalReading> open = new ArrayList<>();
    synchronized (this) {
      isClosed = true;
      all.forEach(blob -> open.addAll(blob.readings));
    }
    return Future.join(open.stream().map(LocalReading::close).toList()).mapEmpty();
  }

  static StorageBusyException closedStore() {
    return new StorageBusyException("the blob store is closed");
  }
}
