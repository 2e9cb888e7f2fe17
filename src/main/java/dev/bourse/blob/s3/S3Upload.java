package dev.bourse.blob.s3;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.Upload;
import dev.bourse.blob.WorkerPromise;
import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An open upload of an object store: a queue of steps that run one at a time. */
final class S3Upload implements Upload {
  private final S3Rows rows;
  private final S3Calls calls;
  private final Completion completion;
  private final CompletionMark completionMark;
  private final Workers workers;
  private final Inspector inspector;
  private final int waitingBlocks;
  private final InspectorReplay replay;
  private final Runnable onReleased;

  // Used by one step at a time; the volatile ones are also read by other threads.
  private volatile S3Rows.UploadRow row;
  private final Spool spool;
  private final PartSender sender;

  /** The multipart upload of an earlier opening that has no recorded part. */
  private final @Nullable String former;

  private final @Nullable String formerObject;
  private final List<S3Rows.Part> parts;
  private final Tail tail;
  private volatile long sent;
  private volatile long stored;

  /** The stored bytes whose objects exist and whose rows are committed. */
  private volatile long kept;

  private volatile boolean isInspected;

  /**
   * Why further steps fail: the inspector saw bytes that are not stored, or the upload was ended.
   */
  private volatile @Nullable Throwable broken;

  // The four below are guarded by this object.
  private Future<Void> last = Future.succeededFuture();
  private int blocks;
  private @Nullable Throwable refusal;
  private @Nullable Future<Void> released;

  /**
   * @param row the row of this opening
   * @param parts the parts that the store has
   * @param spool an empty spool
   * @param onReleased called when the upload is closed, before the release completes
   */
  S3Upload(
      S3Context context,
      S3Rows.UploadRow row,
      List<S3Rows.Part> parts,
      Spool spool,
      Inspector inspector,
      Runnable onReleased) {
    this.rows = context.rows();
    this.calls = context.calls();
    this.completion = context.completion();
    this.completionMark = context.completionMark();
    this.workers = context.workers();
    this.waitingBlocks = context.config().waitingBlocks();
    // Later requests of an earlier opening go to that opening's multipart upload, so they never
    // become parts of this one.
    boolean isNew = parts.isEmpty() && row.state() == S3Rows.State.OPEN;
    this.former = isNew ? row.multipart() : null;
    this.formerObject = row.object();
    this.row = isNew ? row.withoutMultipart() : row;
    this.parts = new ArrayList<>(parts);
    this.spool = spool;
    this.tail = new Tail(context, spool);
    this.sender = new PartSender(context, spool);
    this.inspector = inspector;
    this.replay = new InspectorReplay(calls, workers, inspector);
    this.onReleased = onReleased;
    this.sent = parts.stream().mapToLong(S3Rows.Part::bytes).sum();
    this.stored = row.state() == S3Rows.State.OPEN ? sent : row.bytes();
    this.kept = stored;
  }

  /** If this fails, the end of the upload or the daily cleanup aborts it. */
  private void abortFormer() {
    String multipart = former;
    String object = formerObject;
    if (multipart != null && object != null) {
      workers.<Void>longCall(
          () -> {
            calls.abort(object, multipart);
            return null;
          });
    }
  }

  /** Continues after an earlier opening, behind its pieces that follow the parts. */
  void continueAfter(List<S3Rows.Piece> found) {
    abortFormer();
    if (row.state() == S3Rows.State.OPEN) {
      tail.takeOver(found, sent);
      stored = sent + spool.length();
      kept = stored;
    }
    isInspected = stored == 0;
  }

  @Override
  public long stored() {
    return stored;
  }

  @Override
  public long kept() {
    return kept;
  }

  @Override
  public Future<Boolean> isCurrent() {
    S3Rows.UploadRow mine = row;
    return rows.find(mine.id()).map(found -> found.filter(mine::isCurrent).isPresent());
  }

  @Override
  public boolean isInspected() {
    return isInspected;
  }

  /** Runs a step after all earlier ones have ended, even if they failed. */
  private synchronized <T> Future<T> then(Supplier<Future<T>> step) {
    WorkerPromise<T> answer = new WorkerPromise<>(workers.home());
    Promise<Void> ended = Promise.promise();
    last.onComplete(
        before ->
            Future.succeededFuture()
                .compose(turn -> step.get())
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

  @Override
  public synchronized Future<Void> append(byte[] bytes, int from, int to) {
    Objects.checkFromToIndex(from, to, bytes.length);
    if (to - from > BlobStore.MAX_BLOCK_BYTES) {
      return Future.failedFuture(
          new IllegalArgumentException(
              "a block of " + (to - from) + " bytes; at most " + BlobStore.MAX_BLOCK_BYTES));
    }
    if (refusal == null && blocks >= waitingBlocks) {
      // Bytes after the missing block would be stored in its place.
      refusal =
          new IllegalStateException(
              "upload " + row.id() + " was given a block while " + blocks + " waited");
    }
    if (refusal != null) {
      return Future.failedFuture(refusal);
    }
    if (row.state() != S3Rows.State.OPEN) {
      return Future.failedFuture(
          new IllegalStateException("upload " + row.id() + " is complete and takes no more bytes"));
    }
    blocks++;
    return then(
        () ->
            requireUsable()
                .compose(open -> take(bytes, from, to))
                .onFailure(e -> broken = broken == null ? e : broken)
                .onComplete(taken -> settled(taken.cause())));
  }

  private synchronized void settled(@Nullable Throwable failure) {
    blocks--;
    if (refusal == null) {
      refusal = failure;
    }
  }

  /** Fails if the upload takes no more bytes. */
  private Future<Void> requireUsable() {
    Throwable why = broken;
    if (why == null && row.state() != S3Rows.State.OPEN) {
      why =
          new IllegalStateException("upload " + row.id() + " is complete and takes no more bytes");
    }
    return why == null ? Future.succeededFuture() : Future.failedFuture(why);
  }

  private Future<Void> take(byte[] bytes, int from, int to) {
    return workers
        .blockCall(
            () -> {
              if (isInspected) {
                inspector.inspect(bytes, from, to);
              }
              return write(bytes, from, to);
            })
        .compose(next -> writeToSpool(bytes, next, to));
  }

  /** Writes a block to the spool, and sends the spool each time it is full. */
  private Future<Void> writeToSpool(byte[] bytes, int next, int to) {
    stored = sent + spool.length();
    if (!spool.isFull()) {
      sender.beginEarly(row, parts.size() + 1);
      return Future.succeededFuture();
    }
    return sendPart()
        .compose(
            gone ->
                next == to
                    ? Future.succeededFuture()
                    : workers
                        .blockCall(() -> write(bytes, next, to))
                        .compose(more -> writeToSpool(bytes, more, to)));
  }

  private int write(byte[] bytes, int from, int to) {
    try {
      return from + spool.write(bytes, from, to);
    } catch (IOException e) {
      throw new StorageFaultException("cannot write the spool of upload " + row.id(), e);
    }
  }

  private Future<Void> sendPart() {
    int number = parts.size() + 1;
    long bytes = spool.length();
    return tail.fill(sent)
        .compose(filled -> multipart())
        .compose(begun -> sender.send(begun, number))
        .recover(this::interpretFailure)
        .map(tag -> new S3Rows.Part(number, tag, bytes))
        .compose(part -> rows.recordPart(row, part).map(part))
        .map(
            part -> {
              parts.add(part);
              sent = parts.stream().mapToLong(S3Rows.Part::bytes).sum();
              spool.clear();
              stored = sent;
              kept = sent;
              tail.clear();
              return null;
            });
  }

  /** Loads all bytes of the spool onto this machine. */
  private Future<Void> fill() {
    return tail.fill(sent).recover(this::interpretFailure);
  }

  /**
   * Interprets that the store does not know the multipart upload or a piece. Either another process
   * took over the upload, or the store lost its parts, perhaps through a lifecycle rule that ends
   * old uploads. In the second case the upload is deleted and has to restart.
   */
  private <T> Future<T> interpretFailure(Throwable failure) {
    return failure instanceof BlobNotFoundException
        ? rows.requireCurrentEpoch(row)
            .compose(mine -> completion.abandon(row))
            .compose(deleted -> discardUpload(failure))
        : Future.failedFuture(failure);
  }

  /** Deletes the upload, so that the next opening restarts it. */
  private <T> Future<T> discardUpload(Throwable cause) {
    StorageFaultException fault =
        new StorageFaultException("upload " + row.id() + " is lost; start it again", cause);
    broken = fault;
    stored = 0;
    kept = 0;
    return Future.failedFuture(fault);
  }

  private static String object(S3Rows.UploadRow row) {
    return Objects.requireNonNull(row.object(), "an upload that has begun has an object");
  }

  private Future<S3Rows.UploadRow> multipart() {
    if (row.multipart() != null) {
      return Future.succeededFuture(row);
    }
    String object = row.objectOfEpoch(row.epoch());
    return workers
        .longCall(() -> calls.begin(object))
        .compose(
            id ->
                rows.recordMultipart(row, object, id)
                    .map(noted -> row.withMultipart(object, id))
                    .onFailure(e -> completion.undo(e, () -> calls.abort(object, id))))
        .onSuccess(begun -> row = begun);
  }

  @Override
  public Future<Void> keep() {
    // A complete upload is stored as its object or its parts.
    return then(
        () ->
            row.state() != S3Rows.State.OPEN && broken == null
                ? Future.succeededFuture()
                : requireUsable()
                    .compose(open -> tail.isOfMany() ? fill() : Future.succeededFuture())
                    .compose(ready -> keepTail()));
  }

  private Future<Void> keepTail() {
    long all = stored;
    return tail.keep(row, sent).onSuccess(done -> kept = all);
  }

  @Override
  public Future<Void> finish() {
    return then(
        () ->
            completionMark.during(
                row, () -> refresh().compose(known -> complete()).compose(whole -> inspect())));
  }

  /** Reads the row again, because a commit whose answer was lost may have advanced it. */
  private Future<Void> refresh() {
    return rows.find(row.id())
        .map(
            found -> {
              row = found.filter(row::isSameOpening).orElse(row);
              return null;
            });
  }

  private Future<Void> complete() {
    return switch (row.state()) {
      case OPEN -> parts.isEmpty() ? putWhole() : completeParts();
      case COMPLETING -> driveCompletion();
      case COMPLETE -> Future.succeededFuture();
      case ABORTING -> throw new IllegalStateException("an aborted upload cannot be open");
    };
  }

  /**
   * Puts an upload smaller than a part. A row names its object like a piece until the upload owns
   * it.
   */
  private Future<Void> putWhole() {
    String object = row.objectOfEpoch(row.epoch());
    long bytes = spool.length();
    S3Rows.Piece whole = new S3Rows.Piece(row.id(), object, 0, bytes);
    return requireUsable()
        .compose(open -> fill())
        .compose(filled -> rows.recordPendingPiece(row, whole))
        .compose(
            named ->
                workers.longCall(
                    () -> {
                      calls.put(object, spool.read(0, bytes));
                      return null;
                    }))
        .compose(
            made ->
                rows.recordCompleted(row, whole)
                    .onFailure(e -> completion.undo(e, () -> calls.delete(object))))
        .onSuccess(
            known -> {
              row = row.withState(S3Rows.State.COMPLETE, object, bytes);
              kept = bytes;
            });
  }

  private Future<Void> completeParts() {
    return requireUsable()
        .compose(open -> spool.length() == 0 ? Future.succeededFuture() : sendPart())
        .compose(all -> rows.recordCompleting(row, sent))
        .compose(
            noted -> {
              row = row.withState(S3Rows.State.COMPLETING, object(row), sent);
              return driveCompletion();
            });
  }

  private Future<Void> driveCompletion() {
    return completion
        .complete(row)
        .recover(e -> e instanceof PartsLostException ? discardUpload(e) : Future.failedFuture(e))
        .onSuccess(done -> row = row.withState(S3Rows.State.COMPLETE, object(row), row.bytes()));
  }

  private Future<Void> inspect() {
    return isInspected
        ? Future.succeededFuture()
        : replay.start(object(row), row.bytes(), () -> broken).onSuccess(all -> isInspected = true);
  }

  @Override
  public synchronized Future<Void> release() {
    if (refusal == null) {
      refusal = new IllegalStateException("upload " + row.id() + " was released");
    }
    if (released == null) {
      released =
          then(
              () ->
                  workers.giveBack(
                      () -> {
                        sender.stop();
                        replay.stop();
                        spool.close();
                        onReleased.run();
                        return null;
                      }));
    }
    Future<Void> ending = released;
    WorkerPromise<Void> answer = new WorkerPromise<>(workers.home());
    ending.onComplete(closed -> answer.succeed(null));
    return answer.future();
  }

  /** Releases the upload without running its waiting steps, which fail with the reason. */
  synchronized Future<Void> end(RuntimeException reason) {
    refusal = reason;
    broken = reason;
    return release();
  }
}
