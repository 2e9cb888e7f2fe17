package dev.bourse.blob.s3;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.StorageFault;
import dev.bourse.blob.UploadBusy;
import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of uploads: their object whole, or everything of them deleted. Each of it may be done
 * twice, by any process, and goes on where it was left.
 */
final class Completion {
  private static final Logger LOG = LoggerFactory.getLogger(Completion.class);

  /** Besides the library's own repetitions of what it takes for passing; then the caller asks. */
  private static final int TRIES = 4;

  static final long FIRST_PAUSE_MILLIS = 500;

  /** What failed after so long is not asked for again here: the next request does that. */
  private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Vertx vertx;
  private final S3Rows rows;
  private final S3Calls calls;
  private final Workers workers;
  private final long firstPauseMillis;

  /**
   * @param firstPauseMillis the pause after the first try, which doubles with each further one
   */
  Completion(Vertx vertx, S3Rows rows, S3Calls calls, Workers workers, long firstPauseMillis) {
    this.vertx = vertx;
    this.rows = rows;
    this.calls = calls;
    this.workers = workers;
    this.firstPauseMillis = firstPauseMillis;
  }

  /**
   * Makes the object of an upload whose completion is noted, or finds that this was done. When the
   * parts are not there any more the upload is deleted, and this fails with {@link PartsLost}.
   */
  Future<Void> complete(S3Rows.Upload upload) {
    return rows.parts(upload.id())
        .compose(parts -> attempt(upload, parts, TRIES, firstPauseMillis))
        .compose(whole -> rows.completed(upload))
        .recover(e -> e instanceof PartsLost ? discard(upload, e) : Future.failedFuture(e));
  }

  private Future<Void> attempt(
      S3Rows.Upload upload, List<S3Rows.Part> parts, int left, long pauseMillis) {
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
                        && (e instanceof StorageFault || e instanceof PartsLost)
                    ? pause(pauseMillis)
                        .compose(later -> attempt(upload, parts, left - 1, 2 * pauseMillis))
                    : Future.failedFuture(e));
  }

  private Future<Void> pause(long millis) {
    return vertx.timer(millis).mapEmpty();
  }

  private void completeOrFind(S3Rows.Upload upload, List<S3Rows.Part> parts) {
    String object = String.valueOf(upload.object());
    try {
      calls.complete(object, String.valueOf(upload.multipart()), parts);
    } catch (BlobGone e) {
      // An earlier completion whose answer was lost leaves no upload, but the object.
      OptionalLong length = calls.length(object);
      if (length.isEmpty()) {
        throw new PartsLost("neither the parts nor the object of upload " + upload.id());
      }
      if (length.getAsLong() != upload.bytes()) {
        throw new PartsLost(
            "%s has %s bytes, not %s".formatted(object, length.getAsLong(), upload.bytes()));
      }
    }
  }

  /** Only after the last try: a completion that is under way still looks like one of no parts. */
  private Future<Void> discard(S3Rows.Upload upload, Throwable lost) {
    return rows.abort(
            upload, List.of(S3Rows.State.COMPLETING, S3Rows.State.COMPLETE, S3Rows.State.ABORTING))
        .compose(noted -> delete(upload))
        .compose(deleted -> Future.failedFuture(lost));
  }

  /**
   * Deletes an upload, whatever there is of it; one that is completing is completed first, for an
   * end that was asked for may happen at any later time.
   */
  Future<Void> abandon(String id) {
    return rows.find(id)
        .compose(found -> found.map(this::abandon).orElseGet(Future::succeededFuture));
  }

  /** The same, where it still is this upload: one that began anew under its name stays. */
  Future<Void> abandon(S3Rows.Upload upload) {
    return (upload.state() == S3Rows.State.COMPLETING
            ? complete(upload)
                .recover(
                    e -> e instanceof PartsLost ? Future.succeededFuture() : Future.failedFuture(e))
            : Future.<Void>succeededFuture())
        .compose(
            known ->
                rows.abort(
                    upload,
                    List.of(S3Rows.State.OPEN, S3Rows.State.COMPLETE, S3Rows.State.ABORTING)))
        .compose(noted -> delete(upload));
  }

  private Future<Void> delete(S3Rows.Upload aborted) {
    String id = aborted.id();
    return rows.find(id)
        .map(found -> found.filter(aborted::isSame))
        .compose(
            found -> {
              if (found.isEmpty()) {
                return Future.succeededFuture();
              }
              S3Rows.Upload upload = found.get();
              if (upload.state() != S3Rows.State.ABORTING) {
                return Future.failedFuture(new UploadBusy("upload " + id + " is being completed"));
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
                  .compose(deleted -> rows.aborted(upload));
            });
  }

  private Future<Void> deleteAll(List<S3Rows.Piece> pieces) {
    Future<Void> done = Future.succeededFuture();
    for (S3Rows.Piece piece : pieces) {
      done = done.compose(before -> delete(piece));
    }
    return done;
  }

  /** Deletes a piece and its row. */
  Future<Void> delete(S3Rows.Piece piece) {
    return workers
        .<Void>longCall(
            () -> {
              calls.delete(piece.object());
              return null;
            })
        .compose(deleted -> rows.forget(piece));
  }

  private void deleteObjects(S3Rows.Upload upload) {
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
   * Deletes what was made for an upload that another process has by now. If this process dies
   * first, an object that a row names is tidied up, and a multipart upload a day later. A commit
   * that failed in another way may have happened, so that what it names stays.
   */
  void undo(Throwable failure, Runnable deletion) {
    if (!(failure instanceof UploadBusy)) {
      return;
    }
    workers
        .longCall(
            () -> {
              deletion.run();
              return null;
            })
        .onFailure(e -> LOG.debug("what was made for nothing is left to be tidied up", e));
  }

  /** Deletes pieces that nobody needs; what is left of them after a fault is tidied up later. */
  void forget(List<S3Rows.Piece> useless) {
    Future<Void> done = Future.succeededFuture();
    for (S3Rows.Piece piece : useless) {
      done = done.compose(before -> delete(piece));
    }
    done.onFailure(e -> LOG.debug("a piece is left to be tidied up", e));
  }
}
