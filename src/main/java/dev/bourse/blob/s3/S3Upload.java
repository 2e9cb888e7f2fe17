package dev.bourse.blob.s3;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.StorageFault;
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

/**
 * An open upload of an object store: a queue of steps, each of which ends before the next begins.
 */
final class S3Upload implements Upload {
  private final S3Rows rows;
  private final S3Calls calls;
  private final Completion completion;
  private final Finishing finishing;
  private final Workers workers;
  private final Inspector inspector;
  private final int waitingBlocks;
  private final Showing showing;
  private final Runnable onReleased;

  // Used by one step at a time; those that others ask for are volatile.
  private volatile S3Rows.Upload row;
  private final Spool spool;
  private final PartSender sender;

  /** The multipart upload of an earlier opening, of which no part was noted. */
  private final @Nullable String former;

  private final @Nullable String formerObject;
  private final List<S3Rows.Part> parts;
  private final Tail tail;
  private volatile long sent;
  private volatile long stored;

  /** Rows tell of them and their objects are there. */
  private volatile long kept;

  private volatile boolean isInspected;

  /** Why nothing more is done: the inspector saw what is not kept, or the upload was ended. */
  private volatile @Nullable Throwable broken;

  // The four below are guarded by this object.
  private Future<Void> last = Future.succeededFuture();
  private int blocks;
  private @Nullable Throwable refusal;
  private @Nullable Future<Void> released;

  /**
   * @param row as this opening has it
   * @param parts what the store has of it
   * @param spool empty
   * @param onReleased told when it is closed, before anybody else is
   */
  S3Upload(
      Tools tools,
      S3Rows.Upload row,
      List<S3Rows.Part> parts,
      Spool spool,
      Inspector inspector,
      Runnable onReleased) {
    this.rows = tools.rows();
    this.calls = tools.calls();
    this.completion = tools.completion();
    this.finishing = tools.finishing();
    this.workers = tools.workers();
    this.waitingBlocks = tools.config().waitingBlocks();
    // What an earlier opening may still send goes to its own multipart, and is never one of ours.
    boolean isNew = parts.isEmpty() && row.state() == S3Rows.State.OPEN;
    this.former = isNew ? row.multipart() : null;
    this.formerObject = row.object();
    this.row = isNew ? row.anew() : row;
    this.parts = new ArrayList<>(parts);
    this.spool = spool;
    this.tail = new Tail(tools, spool);
    this.sender = new PartSender(tools, spool);
    this.inspector = inspector;
    this.showing = new Showing(calls, workers, inspector);
    this.onReleased = onReleased;
    this.sent = parts.stream().mapToLong(S3Rows.Part::bytes).sum();
    this.stored = row.state() == S3Rows.State.OPEN ? sent : row.bytes();
    this.kept = stored;
  }

  /** What fails here is found by the list of each day, or ends with the upload. */
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

  /** Goes on where an earlier opening was, behind its pieces that follow on the parts. */
  void goOnBehind(List<S3Rows.Piece> found) {
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
    S3Rows.Upload mine = row;
    return rows.find(mine.id()).map(found -> found.filter(mine::isCurrent).isPresent());
  }

  @Override
  public boolean isInspected() {
    return isInspected;
  }

  /** Does a step when those before it have ended, however they did. */
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
      // Whatever came behind the missing block would be stored in its place.
      refusal =
          new IllegalStateException(
              "upload " + row.id() + " was given a block while " + blocks + " waited");
    }
    if (refusal != null) {
      return Future.failedFuture(refusal);
    }
    if (row.state() != S3Rows.State.OPEN) {
      return Future.failedFuture(
          new IllegalStateException("upload " + row.id() + " has all its bytes"));
    }
    blocks++;
    return then(
        () ->
            usable()
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

  /** Whether there is still something to be done to the upload's bytes. */
  private Future<Void> usable() {
    Throwable why = broken;
    if (why == null && row.state() != S3Rows.State.OPEN) {
      why = new IllegalStateException("upload " + row.id() + " has all its bytes");
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
        .compose(next -> spooled(bytes, next, to));
  }

  /** Sends the spool as often as it is full, until all of a block is in it. */
  private Future<Void> spooled(byte[] bytes, int next, int to) {
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
                        .compose(more -> spooled(bytes, more, to)));
  }

  private int write(byte[] bytes, int from, int to) {
    try {
      return from + spool.write(bytes, from, to);
    } catch (IOException e) {
      throw new StorageFault("cannot write the spool of upload " + row.id(), e);
    }
  }

  private Future<Void> sendPart() {
    int number = parts.size() + 1;
    long bytes = spool.length();
    return tail.fill(sent)
        .compose(filled -> multipart())
        .compose(begun -> sender.send(begun, number))
        .recover(this::explained)
        .map(tag -> new S3Rows.Part(number, tag, bytes))
        .compose(part -> rows.sent(row, part).map(part))
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

  /** Has all of the spool here. */
  private Future<Void> fill() {
    return tail.fill(sent).recover(this::explained);
  }

  /**
   * What it means that the store does not know the multipart upload or a piece: another process has
   * the upload and went on with it, or the store lost its parts, perhaps by a rule of its own that
   * ends what is old. Then the upload is deleted, to begin anew.
   */
  private <T> Future<T> explained(Throwable failure) {
    return failure instanceof BlobGone
        ? rows.requireMine(row)
            .compose(mine -> completion.abandon(row))
            .compose(deleted -> lost(failure))
        : Future.failedFuture(failure);
  }

  /** Nothing is kept any more; whoever opens the upload again begins it anew. */
  private <T> Future<T> lost(Throwable cause) {
    StorageFault fault =
        new StorageFault("upload " + row.id() + " is lost and has to begin anew", cause);
    broken = fault;
    stored = 0;
    kept = 0;
    return Future.failedFuture(fault);
  }

  private static String object(S3Rows.Upload row) {
    return Objects.requireNonNull(row.object(), "an upload that has begun has an object");
  }

  private Future<S3Rows.Upload> multipart() {
    if (row.multipart() != null) {
      return Future.succeededFuture(row);
    }
    String object = row.objectOfEpoch(row.epoch());
    return workers
        .longCall(() -> calls.begin(object))
        .compose(
            id ->
                rows.begun(row, object, id)
                    .map(noted -> row.begun(object, id))
                    .onFailure(e -> completion.undo(e, () -> calls.abort(object, id))))
        .onSuccess(begun -> row = begun);
  }

  @Override
  public Future<Void> keep() {
    // The object, or its parts, are all there is once it is complete.
    return then(
        () ->
            row.state() != S3Rows.State.OPEN && broken == null
                ? Future.succeededFuture()
                : usable()
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
            finishing.during(
                row, () -> refresh().compose(known -> complete()).compose(whole -> inspect())));
  }

  /** An earlier call may have come further than it was told, when a commit's answer was lost. */
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
      case ABORTING -> throw new IllegalStateException("nobody opens an upload that is aborted");
    };
  }

  /** Of less than a part; its object is named by a row like a piece until the upload has it. */
  private Future<Void> putWhole() {
    String object = row.objectOfEpoch(row.epoch());
    long bytes = spool.length();
    S3Rows.Piece whole = new S3Rows.Piece(row.id(), object, 0, bytes);
    return usable()
        .compose(open -> fill())
        .compose(filled -> rows.keeping(row, whole))
        .compose(
            named ->
                workers.longCall(
                    () -> {
                      calls.put(object, spool.read(0, bytes));
                      return null;
                    }))
        .compose(
            made ->
                rows.completed(row, whole)
                    .onFailure(e -> completion.undo(e, () -> calls.delete(object))))
        .onSuccess(
            known -> {
              row = row.in(S3Rows.State.COMPLETE, object, bytes);
              kept = bytes;
            });
  }

  private Future<Void> completeParts() {
    return usable()
        .compose(open -> spool.length() == 0 ? Future.succeededFuture() : sendPart())
        .compose(all -> rows.completing(row, sent))
        .compose(
            noted -> {
              row = row.in(S3Rows.State.COMPLETING, object(row), sent);
              return driveCompletion();
            });
  }

  private Future<Void> driveCompletion() {
    return completion
        .complete(row)
        .recover(e -> e instanceof PartsLost ? lost(e) : Future.failedFuture(e))
        .onSuccess(done -> row = row.in(S3Rows.State.COMPLETE, object(row), row.bytes()));
  }

  private Future<Void> inspect() {
    return isInspected
        ? Future.succeededFuture()
        : showing.show(object(row), row.bytes(), () -> broken).onSuccess(all -> isInspected = true);
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
                        showing.stop();
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

  /** Releases the upload without doing what waits; that fails with the reason. */
  synchronized Future<Void> end(RuntimeException reason) {
    refusal = reason;
    broken = reason;
    return release();
  }
}
