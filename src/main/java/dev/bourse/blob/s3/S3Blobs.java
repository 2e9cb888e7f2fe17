package dev.bourse.blob.s3;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.Reading;
import dev.bourse.blob.StorageBusyException;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.Upload;
import dev.bourse.blob.UploadBusyException;
import dev.bourse.blob.Workers;
import dev.bourse.core.Ids;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.retries.api.RetryStrategy;

/** Blobs as objects of a bucket, listed in rows of the database that all processes share. */
public final class S3Blobs implements BlobStore {
  /**
   * The bytes of a part: 3,200 parts for 50 GiB, of the 10,000 an object may have. Some services
   * require parts of one size.
   */
  public static final int PART_BYTES = 16 * 1024 * 1024;

  /** Threads that wait for the store; sixteen of each kind saturate a network of 10 Gbit/s. */
  private static final int CALL_THREADS = 16;

  /** Half of the threads may wait for bytes that have not arrived; the others never do. */
  private static final int EARLY_PARTS = CALL_THREADS / 2;

  private static final int UNIQUE_CHARACTERS = 12;

  private final S3Context context;
  private final Path spools;
  private final RandomGenerator random;

  private final LeftoverCleanup cleanup;
  private final OpenReadings readings;

  // The three below are guarded by this object.
  private final Map<String, Optional<S3Upload>> uploads = new HashMap<>();
  private final Set<String> ending = new HashSet<>();
  private @Nullable Future<Void> closed;

  /**
   * @param spools a folder of this process alone, with one part of each open upload
   */
  private S3Blobs(S3Context context, Path spools, Clock clock, RandomGenerator random) {
    this.context = context;
    cleanup = new LeftoverCleanup(context, clock);
    readings = new OpenReadings(context);
    this.spools = spools;
    this.random = random;
  }

  /**
   * The environment of a store.
   *
   * @param spools a folder of this process alone, created if missing
   * @param listener receives the outcome of each call to the store
   */
  public record Environment(
      Vertx vertx,
      Database database,
      Path spools,
      Clock clock,
      RandomGenerator random,
      CallListener listener) {}

  /**
   * Opens the store if it is usable; otherwise fails with {@link S3UnusableException}, whose
   * message gives the reason.
   */
  public static Future<S3Blobs> open(Environment ground, S3Config config, BlobConfig bounds) {
    return open(
        ground, config, bounds, PART_BYTES, S3Calls.usualRetries(), Completion.FIRST_PAUSE_MILLIS);
  }

  /**
   * Opens the store with another part size and other pauses.
   *
   * @param retries the retry strategy of the library
   * @param completionPauseMillis the first pause between two attempts to complete an upload
   */
  static Future<S3Blobs> open(
      Environment ground,
      S3Config config,
      BlobConfig bounds,
      int partBytes,
      RetryStrategy retries,
      long completionPauseMillis) {
    Vertx vertx = ground.vertx();
    Workers workers = new Workers(vertx.getOrCreateContext(), bounds, CALL_THREADS);
    S3Rows rows = new S3Rows(ground.database(), config.name(), ground.clock());
    return vertx
        .executeBlocking(
            () -> {
              Files.createDirectories(
                  ground.spools(),
                  PosixFilePermissions.asFileAttribute(
                      PosixFilePermissions.fromString("rwx------")));
              S3Calls calls = new S3Calls(config, ground.listener(), retries);
              try {
                calls.check();
              } catch (S3UnusableException e) {
                calls.close();
                throw e;
              }
              return calls;
            },
            false)
        .map(
            calls ->
                new S3Blobs(
                    new S3Context(
                        rows,
                        new S3Lists(ground.database(), config.name()),
                        calls,
                        new Completion(vertx, rows, calls, workers, completionPauseMillis),
                        new CompletionMark(vertx, rows, ground.clock()),
                        workers,
                        new Semaphore(EARLY_PARTS),
                        partBytes,
                        bounds),
                    ground.spools(),
                    ground.clock(),
                    ground.random()))
        .onFailure(e -> workers.close());
  }

  @Override
  public Future<Upload> open(String uploadId, Inspector inspector) {
    return checked(
        () -> {
          BlobStore.checkedName(uploadId);
          synchronized (this) {
            checkIdle(uploadId);
            if (uploads.size() >= context.config().openUploads()) {
              throw new StorageBusyException(
                  uploads.size() + " uploads are open, which is the limit");
            }
            uploads.put(uploadId, Optional.empty());
          }
          String base = "blobs/" + uploadId + '.' + Ids.base62(random, UNIQUE_CHARACTERS);
          return context
              .rows()
              .open(uploadId, base)
              .compose(row -> opened(row, inspector))
              .onFailure(e -> forget(uploadId));
        });
  }

  private Future<Upload> opened(S3Rows.UploadRow row, Inspector inspector) {
    return context
        .rows()
        .parts(row.id())
        .compose(
            parts ->
                context
                    .workers()
                    .call(this::spool)
                    .map(
                        spool ->
                            new S3Upload(
                                context, row, parts, spool, inspector, () -> forget(row.id()))))
        .compose(
            upload ->
                admit(row.id(), upload)
                    .compose(admitted -> context.rows().keptPieces(row))
                    .map(
                        pieces -> {
                          upload.continueAfter(pieces);
                          return (Upload) upload;
                        })
                    .recover(e -> upload.release().transform(released -> Future.failedFuture(e))));
  }

  private Spool spool() throws IOException {
    return new Spool(spools, context.partBytes());
  }

  private synchronized Future<Void> admit(String uploadId, S3Upload upload) {
    if (closed != null) {
      return Future.failedFuture(closedStore());
    }
    uploads.put(uploadId, Optional.of(upload));
    return Future.succeededFuture();
  }

  private synchronized void forget(String uploadId) {
    uploads.remove(uploadId);
  }

  /** Under this object's lock. */
  private void checkIdle(String uploadId) {
    if (closed != null) {
      throw closedStore();
    }
    if (uploads.containsKey(uploadId)) {
      throw new UploadBusyException("upload " + uploadId + " is open");
    }
    if (ending.contains(uploadId)) {
      throw new UploadBusyException("upload " + uploadId + " is being published or abandoned");
    }
  }

  static StorageBusyException closedStore() {
    return new StorageBusyException("the blob store is closed");
  }

  @Override
  public Future<Long> stored(String uploadId) {
    return checked(
        () -> {
          Optional<S3Upload> open;
          synchronized (this) {
            open = uploads.getOrDefault(BlobStore.checkedName(uploadId), Optional.empty());
          }
          return open.isEmpty()
              ? context.rows().find(uploadId).compose(this::kept)
              : open.get()
                  .isCurrent()
                  .compose(
                      isCurrent ->
                          isCurrent
                              ? Future.succeededFuture(open.get().kept())
                              : context.rows().find(uploadId).compose(this::kept));
        });
  }

  private Future<Long> kept(Optional<S3Rows.UploadRow> found) {
    if (found.isEmpty() || found.get().state() == S3Rows.State.ABORTING) {
      return Future.succeededFuture(0L);
    }
    S3Rows.UploadRow row = found.get();
    if (row.state() != S3Rows.State.OPEN) {
      return Future.succeededFuture(row.bytes());
    }
    return context
        .rows()
        .parts(row.id())
        .compose(
            parts ->
                context
                    .rows()
                    .keptPieces(row)
                    .map(
                        pieces -> {
                          long end = parts.stream().mapToLong(S3Rows.Part::bytes).sum();
                          for (S3Rows.Piece piece : pieces) {
                            end = piece.start() == end ? piece.end() : end;
                          }
                          return end;
                        }));
  }

  @Override
  public Future<Void> publish(String uploadId, String key) {
    return checked(
        () -> {
          BlobStore.checkedName(key);
          return end(
              uploadId,
              () ->
                  context
                      .rows()
                      .renew(key)
                      .compose(
                          isThere ->
                              isThere
                                  ? context.completion().abandon(uploadId)
                                  : context
                                      .rows()
                                      .find(uploadId)
                                      .compose(found -> publish(uploadId, key, found))));
        });
  }

  private Future<Void> publish(String uploadId, String key, Optional<S3Rows.UploadRow> found) {
    if (found.isEmpty()) {
      throw new BlobNotFoundException(
          "there is neither an upload " + uploadId + " nor a blob " + key);
    }
    S3Rows.UploadRow row = found.get();
    if (row.state() != S3Rows.State.COMPLETE) {
      throw new StorageFaultException("upload " + uploadId + " was not finished", null);
    }
    return context
        .rows()
        .publish(row, key)
        .onSuccess(
            stored -> context.rows().keptPieces(row).onSuccess(context.completion()::forget));
  }

  @Override
  public Future<Void> abandon(String uploadId) {
    return checked(
        () -> {
          BlobStore.checkedName(uploadId);
          Optional<S3Upload> open;
          synchronized (this) {
            open = uploads.getOrDefault(uploadId, Optional.empty());
          }
          return open.isEmpty()
              ? end(uploadId, () -> context.completion().abandon(uploadId))
              // If a caller reopens the upload after the release, that opening is abandoned in its
              // turn.
              : open.get()
                  .end(new BlobNotFoundException("upload " + uploadId + " was abandoned"))
                  .compose(released -> abandon(uploadId));
        });
  }

  /** Runs the final operation of an upload that is marked as ending. */
  private Future<Void> end(String uploadId, Supplier<Future<Void>> deed) {
    synchronized (this) {
      checkIdle(BlobStore.checkedName(uploadId));
      ending.add(uploadId);
    }
    return Future.succeededFuture()
        .compose(marked -> deed.get())
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
    return checked(
        () ->
            blob(key)
                .compose(
                    found ->
                        found.isEmpty()
                            ? Future.succeededFuture()
                            : context
                                .rows()
                                .detachBlob(key, found.get(), before.toEpochMilli())
                                .compose(
                                    orphan ->
                                        orphan.isEmpty()
                                            ? Future.succeededFuture()
                                            : context.completion().delete(orphan.get()))));
  }

  @Override
  public Future<Boolean> exists(String key) {
    return checked(() -> blob(key).map(Optional::isPresent));
  }

  private Future<Optional<S3Rows.Blob>> blob(String key) {
    BlobStore.checkedName(key);
    synchronized (this) {
      if (closed != null) {
        throw closedStore();
      }
    }
    return context.rows().blob(key);
  }

  private Future<S3Rows.Blob> existing(String key) {
    return blob(key)
        .map(found -> found.orElseThrow(() -> new BlobNotFoundException("no blob " + key)));
  }

  @Override
  public Future<Reading> read(String key) {
    return checked(() -> existing(key).map(readings::begin));
  }

  /** Returns false because each reading requests its own bytes at its own pace. */
  @Override
  public boolean sharesReadings() {
    return false;
  }

  @Override
  public Future<Optional<URI>> address(String key, Duration lifetime, Map<String, String> headers) {
    return checked(
        () -> {
          BlobStore.checkAddress(key, lifetime, headers);
          return existing(key)
              .compose(
                  blob ->
                      context
                          .workers()
                          .call(
                              () ->
                                  Optional.of(
                                      context.calls().address(blob.object(), lifetime, headers))));
        });
  }

  @Override
  public Future<Page<String>> listUploads(Instant before, String after, int limit) {
    return checked(() -> context.lists().uploads(before.toEpochMilli(), after, limit));
  }

  @Override
  public Future<Page<String>> listBlobs(Instant before, String after, int limit) {
    return checked(() -> context.lists().blobs(before.toEpochMilli(), after, limit));
  }

  @Override
  public Future<Integer> tidy() {
    return checked(cleanup::tidy);
  }

  @Override
  public synchronized Future<Void> close() {
    if (closed == null) {
      StorageBusyException reason = closedStore();
      List<Future<Void>> ends = new ArrayList<>();
      // Copies, because each item removes itself from its collection when it ends.
      List.copyOf(uploads.values())
          .forEach(upload -> upload.ifPresent(one -> ends.add(one.end(reason))));
      ends.add(readings.close());
      closed =
          Future.join(ends)
              .transform(all -> context.workers().close())
              .onComplete(done -> context.calls().close());
    }
    return closed;
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
