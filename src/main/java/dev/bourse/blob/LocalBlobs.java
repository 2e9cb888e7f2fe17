package dev.bourse.blob;

import dev.bourse.core.Page;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Blobs as files in a folder of the local disk, on a POSIX file system to which no other process
 * writes, because this object alone tracks the open uploads.
 *
 * <p>Appended bytes belong to the operating system at once and survive the process. They are
 * flushed when the upload is published. If the machine crashes, an upload may lose its end, or
 * contain zeros there on some file systems; its digest detects that.
 */
public final class LocalBlobs implements BlobStore {
  /** A few concurrent calls keep a disk busy. */
  private static final int CALL_THREADS = 8;

  private final BlobFiles files;
  private final Workers workers;
  private final OpenBlobs openBlobs;
  private final BlobConfig config;
  private final Clock clock;

  // The three below are guarded by this object.
  private final Map<String, LocalUpload> uploads = new HashMap<>();
  private final Set<String> ending = new HashSet<>();
  private @Nullable Future<Void> closed;

  private LocalBlobs(BlobFiles files, Workers workers, BlobConfig config, Clock clock) {
    this.files = files;
    this.workers = workers;
    openBlobs = new OpenBlobs(files, workers, config.openBlobs());
    this.config = config;
    this.clock = clock;
  }

  /**
   * Opens the store in a folder. A missing folder is created, readable by this user alone. Fails
   * with the {@link IOException} of an unusable folder.
   *
   * @param clock supplies the publication times of blobs
   */
  public static Future<LocalBlobs> open(Vertx vertx, Path folder, BlobConfig config, Clock clock) {
    Context home = vertx.getOrCreateContext();
    return vertx.executeBlocking(
        () -> {
          BlobFiles files = new BlobFiles(folder, config.reserveBytes());
          return new LocalBlobs(files, new Workers(home, config, CALL_THREADS), config, clock);
        },
        false);
  }

  /**
   * Returns the file of a blob within a store's folder, for tools that copy files. An existing file
   * does not change until it is deleted.
   *
   * @throws IllegalArgumentException if the key is not valid
   */
  public static Path fileOf(Path folder, String key) {
    return BlobFiles.blob(folder, BlobStore.checkedName(key));
  }

  /** Returns an id that is unique to this folder and stays when the folder is moved. */
  public Future<String> folderId() {
    return checked(() -> longCall(files::id));
  }

  @Override
  public Future<Upload> open(String uploadId, Inspector inspector) {
    return checked(
        () -> {
          BlobStore.checkedName(uploadId);
          LocalUpload upload =
              new LocalUpload(
                  uploadId,
                  inspector,
                  files,
                  workers,
                  config.waitingBlocks(),
                  () -> forget(uploadId));
          synchronized (this) {
            checkIdle(uploadId);
            if (uploads.size() >= config.openUploads()) {
              throw new StorageBusyException(
                  uploads.size() + " uploads are open, which is the limit");
            }
            uploads.put(uploadId, upload);
          }
          Future<Void> started =
              workers.call(
                  () -> {
                    upload.openFile();
                    return null;
                  });
          if (started.failed()) {
            upload.refuse(started.cause());
          }
          return upload.opened();
        });
  }

  private synchronized void forget(String uploadId) {
    uploads.remove(uploadId);
  }

  /** Under this object's lock. */
  private void checkIdle(String uploadId) {
    if (closed != null) {
      throw OpenBlobs.closedStore();
    }
    if (uploads.containsKey(uploadId)) {
      throw new UploadBusyException("upload " + uploadId + " is open");
    }
    if (ending.contains(uploadId)) {
      throw new UploadBusyException("upload " + uploadId + " is being published or abandoned");
    }
  }

  @Override
  public Future<Long> stored(String uploadId) {
    return call(
        () -> {
          LocalUpload open;
          synchronized (this) {
            open = uploads.get(BlobStore.checkedName(uploadId));
          }
          // While an upload is open, the file may hold a part of the block in progress.
          long known = open == null ? -1 : open.stored();
          return known >= 0 ? known : Math.max(0, files.length(BlobFiles.Area.UPLOADS, uploadId));
        });
  }

  @Override
  public Future<Void> publish(String uploadId, String key) {
    return checked(
        () -> {
          BlobStore.checkedName(uploadId);
          BlobStore.checkedName(key);
          synchronized (this) {
            checkIdle(uploadId);
            ending.add(uploadId);
          }
          return end(uploadId, () -> files.publish(uploadId, key, clock.instant()));
        });
  }

  @Override
  public Future<Void> abandon(String uploadId) {
    return checked(
        () -> {
          BlobStore.checkedName(uploadId);
          LocalUpload open;
          synchronized (this) {
            open = uploads.get(uploadId);
            if (open == null) {
              checkIdle(uploadId);
              ending.add(uploadId);
            }
          }
          if (open == null) {
            return end(uploadId, () -> files.deleteUpload(uploadId));
          }
          // If a caller reopens the upload after the release, that opening is abandoned in its
          // turn.
          return open.end(new BlobNotFoundException("upload " + uploadId + " was abandoned"))
              .compose(v -> abandon(uploadId));
        });
  }

  /** Runs the final operation of an upload that is marked as ending. */
  private Future<Void> end(String uploadId, Runnable deed) {
    return workers
        .<Void>longCall(
            () -> {
              deed.run();
              return null;
            })
        .eventually(
            () -> {
              synchronized (this) {
                ending.remove(uploadId);
              }
              return Future.succeededFuture();
            });
  }

  @Override
  public Future<Void> delete(String key, Instant before) {
    return longCall(
        () -> {
          if (files.deleteBlob(BlobStore.checkedName(key), before)) {
            openBlobs.forget(key);
          }
          return null;
        });
  }

  @Override
  public Future<Boolean> exists(String key) {
    return call(() -> files.length(BlobFiles.Area.BLOBS, BlobStore.checkedName(key)) >= 0);
  }

  @Override
  public Future<Reading> read(String key) {
    return checked(() -> openBlobs.read(BlobStore.checkedName(key)));
  }

  @Override
  public boolean sharesReadings() {
    return true;
  }

  /** Returns empty because a local file has no address. */
  @Override
  public Future<Optional<URI>> address(String key, Duration lifetime, Map<String, String> headers) {
    return checked(
        () -> {
          BlobStore.checkAddress(key, lifetime, headers);
          return Future.succeededFuture(Optional.empty());
        });
  }

  @Override
  public Future<Page<String>> listUploads(Instant before, String after, int limit) {
    return list(BlobFiles.Area.UPLOADS, before, after, limit);
  }

  @Override
  public Future<Page<String>> listBlobs(Instant before, String after, int limit) {
    return list(BlobFiles.Area.BLOBS, before, after, limit);
  }

  private Future<Page<String>> list(BlobFiles.Area area, Instant before, String after, int limit) {
    return checked(
        () -> {
          if (limit < 1 || limit > 1_000) {
            throw new IllegalArgumentException("limit: " + limit + " is not within 1 to 1000");
          }
          if (!after.isEmpty()) {
            BlobStore.checkedName(after);
          }
          return longCall(() -> files.list(area, before, after, limit));
        });
  }

  /** Does nothing: a crash leaves only uploads and blobs here. */
  @Override
  public Future<Integer> tidy() {
    return Future.succeededFuture(0);
  }

  @Override
  public synchronized Future<Void> close() {
    if (closed == null) {
      StorageBusyException reason = OpenBlobs.closedStore();
      List<Future<Void>> ends = new ArrayList<>();
      // A copy, because each upload removes itself from the collection when it ends.
      List.copyOf(uploads.values()).forEach(upload -> ends.add(upload.end(reason)));
      ends.add(openBlobs.close());
      closed = Future.join(ends).transform(all -> workers.close());
    }
    return closed;
  }

  private <T> Future<T> call(Callable<T> call) {
    return isClosed() ? closedFailure() : workers.call(call);
  }

  private <T> Future<T> longCall(Callable<T> call) {
    return isClosed() ? closedFailure() : workers.longCall(call);
  }

  private synchronized boolean isClosed() {
    return closed != null;
  }

  private static <T> Future<T> closedFailure() {
    return Future.failedFuture(OpenBlobs.closedStore());
  }

  /** Validates arguments and state on the caller's thread. */
  private static <T> Future<T> checked(Callable<Future<T>> call) {
    try {
      return call.call();
    } catch (Exception e) {
      return Future.failedFuture(e);
    }
  }
}
