package dev.bourse.blob.s3;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.UploadBusyException;
import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends uploads: completes their object, or deletes all their data. Every step is idempotent, may be
 * run by any process, and resumes after an interruption.
 */
final class Completion {
  private static final Logger LOG = LoggerFactory.getLogger(Completion.class);

  /**
   * Attempts to complete, besides the library's own retries of transient faults; after that, the
   * caller has to ask again.
   */
  private static final int TRIES = 4;

  static final long FIRST_PAUSE_MILLIS = 500;

  /**
   * A completion that failed after this time is not retried here; the client's next request retries
   * it.
   */
  private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Vertx vertx;
  private final S3Rows rows;
  private final S3Calls calls;
  private final Workers workers;
  private final long firstPauseMillis;

  /**
   * @param firstPauseMillis the pause after the first attempt; it doubles after each further
   *     attempt
   */
  Completion(Vertx vertx, S3Rows rows, S3Calls calls, Workers workers, long firstPauseMillis) {
    this.vertx = vertx;
    this.rows = rows;
    this.calls = calls;
    this.workers = workers;
    this.firstPauseMillis = firstPauseMillis;
  }

  /**
   * Completes the object of an upload whose row is in state {@link S3Rows.State#COMPLETING}, or
   * finds that it is complete. If the parts no longer exist, deletes the upload and fails with
   * {@link PartsLostException}.
   */
  Future<Void> complete(S3Rows.UploadRow upload) {
    return rows.parts(upload.id())
        .compose(parts -> attempt(upload, parts, TRIES, firstPauseMillis))
        .compose(whole -> rows.recordCompleted(upload))
        .recover(
            e -> e instanceof PartsLostException ? discard(upload, e) : Future.failedFuture(e));
  }

  private Future<Void> attempt(
      S3Rows.UploadRow upload, List<S3Rows.Part> parts, int left, long pauseMillis) {
    long begun = System.nanoTime();
    return workers
        .<Void>longCall(
            () -> {
              completeOrFind(upload, parts);
              return null;
            })
        .recover(
            e ->
                left > 1
                        && System.nanoTime() - begun < LONG_NANOS
                        && (e instanceof StorageFaultException || e instanceof PartsLostException)
                    ? pause(pauseMillis)
                        .compose(later -> attempt(upload, parts, left - 1, 2 * pauseMillis))
                    : Future.failedFuture(e));
  }

  private Future<Void> pause(long millis) {
    return vertx.timer(millis).mapEmpty();
  }

  private void completeOrFind(S3Rows.UploadRow upload, List<S3Rows.Part> parts) {
    String object = String.valueOf(upload.object());
    try {
      calls.complete(object, String.valueOf(upload.multipart()), parts);
    } catch (BlobNotFoundException e) {
      // An earlier completion with a lost answer leaves the object and no multipart upload.
      OptionalLong length = calls.length(object);
      if (length.isEmpty()) {
        throw new PartsLostException("neither the parts nor the object of upload " + upload.id());
      }
      if (length.getAsLong() != upload.bytes()) {
        throw new PartsLostException(
            "%s has %s bytes, not %s".formatted(object, length.getAsLong(), upload.bytes()));
      }
    }
  }

  /**
   * Only after the last attempt, because an upload looks as if it had no parts while a completion
   * is in progress.
   */
  private Future<Void> discard(S3Rows.UploadRow upload, Throwable lost) {
    return rows.abort(
            upload, List.of(S3Rows.State.COMPLETING, S3Rows.State.COMPLETE, S3Rows.State.ABORTING))
        .compose(noted -> delete(upload))
        .compose(deleted -> Future.failedFuture(lost));
  }

  /**
   * Deletes an upload in any state. An upload that is completing is completed first, because a
   * completion that was requested may still happen later.
   */
  Future<Void> abandon(String id) {
    return rows.find(id)
        .compose(found -> found.map(this::abandon).orElseGet(Future::succeededFuture));
  }

  /** Does the same if the row still is of this upload. A later upload of the same name stays. */
  Future<Void> abandon(S3Rows.UploadRow upload) {
    return (upload.state() == S3Rows.State.COMPLETING
            ? complete(upload)
                .recover(
                    e ->
                        e instanceof PartsLostException
                            ? Future.succeededFuture()
                            : Future.failedFuture(e))
            : Future.<Void>succeededFuture())
        .compose(
            known ->
                rows.abort(
                    upload,
                    List.of(S3Rows.State.OPEN, S3Rows.State.COMPLETE, S3Rows.State.ABORTING)))
        .compose(noted -> delete(upload));
  }

  private Future<Void> delete(S3Rows.UploadRow aborted) {
    String id = aborted.id();
    return rows.find(id)
        .map(found -> found.filter(aborted::isSame))
        .compose(
            found -> {
              if (found.isEmpty()) {
                return Future.succeededFuture();
              }
              S3Rows.UploadRow upload = found.get();
              if (upload.state() != S3Rows.State.ABORTING) {
                return Future.failedFuture(
                    new UploadBusyException("upload " + id + " is being completed"));
              }
              return rows.keptPieces(upload)
                  .compose(this::deleteAll)
                  .compose(
                      gone ->
                          workers.<Void>longCall(
                              () -> {
                                deleteObjects(upload);
                                return null;
                              }))
                  .compose(deleted -> rows.deleteUpload(upload));
            });
  }

  private Future<Void> deleteAll(List<S3Rows.Piece> pieces) {
    Future<Void> done = Future.succeededFuture();
    for (S3Rows.Piece piece : pieces) {
      done = done.compose(before -> delete(piece));
    }
    return done;
  }

  Future<Void> delete(S3Rows.Piece piece) {
    return workers
        .<Void>longCall(
            () -> {
              calls.delete(piece.object());
              return null;
            })
        .compose(deleted -> rows.forget(piece));
  }

  private void deleteObjects(S3Rows.UploadRow upload) {
    String object = upload.object();
    if (object == null) {
      return;
    }
    if (upload.multipart() != null) {
      calls.abort(object, upload.multipart());
    }
    calls.delete(object);
  }

  /**
   * Deletes an object that was made for an upload which another process has taken over. If this
   * process dies first, cleanup deletes an object that a row names, and a multipart upload a day
   * later. A commit that failed for another reason may have been applied, so its objects stay.
   */
  void undo(Throwable failure, Runnable deletion) {
    if (!(failure instanceof UploadBusyException)) {
      return;
    }
    workers
        .longCall(
            () -> {
              deletion.run();
              return null;
            })
        .onFailure(
            e -> LOG.debug("an unused object could not be deleted; cleanup will delete it", e));
  }

  /** Deletes pieces without a use. Cleanup deletes the rest after a fault. */
  void forget(List<S3Rows.Piece> useless) {
    Future<Void> done = Future.succeededFuture();
    for (S3Rows.Piece piece : useless) {
      done = done.compose(before -> delete(piece));
    }
    done.onFailure(e -> LOG.debug("a piece could not be deleted; cleanup will delete it", e));
  }
}
