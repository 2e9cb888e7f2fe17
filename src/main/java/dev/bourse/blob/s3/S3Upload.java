package dev.bourse.blob.s3;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Inspector;
import dev.bourse.blob.StorageBusy;
import dev.bourse.blob.StorageFault;
import dev.bourse.blob.Upload;
import dev.bourse.blob.WorkerPromise;
import dev.bourse.blob.Workers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.ResponseInputStream;

/**
 * An open upload of an object store: a queue of steps, each of which ends before the next begins.
 */
final class S3Upload implements Upload {
  private static final Logger LOG = LoggerFactory.getLogger(S3Upload.class);

  /**
   * From so many pieces on the whole tail is kept as one: each opening reads few objects, one after
   * another, and of a client whose requests are blocks of 256 KiB the store takes each byte no more
   * than six times.
   */
  private static final int MOST_PIECES = 8;

  /** Some tens of milliseconds of a whole object, then others have their turn. */
  private static final int SLICE_BYTES = 16 * 1024 * 1024;

  private final S3Rows rows;
  private final S3Calls calls;
  private final Completion completion;
  private final Workers workers;
  private final Semaphore earlyPlaces;
  private final Inspector inspector;
  private final int waitingBlocks;
  private final int partBytes;
  private final Runnable onReleased;

  // Used by one step at a time; those that others ask for are volatile.
  private volatile S3Rows.Upload row;
  private final Spool spool;
  private final List<S3Rows.Part> parts;
  private final List<S3Rows.Piece> pieces = new ArrayList<>();
  private int madePieces;
  private @Nullable EarlyPart early;
  private volatile long sent;
  private volatile long stored;
  private volatile boolean isInspected;

  /** How much of the whole object the inspector has been shown. */
  private long shown;

  private @Nullable ResponseInputStream<?> showing;

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
      S3Blobs.Tools tools,
      S3Rows.Upload row,
      List<S3Rows.Part> parts,
      Spool spool,
      Inspector inspector,
      Runnable onReleased) {
    this.rows = tools.rows();
    this.calls = tools.calls();
    this.completion = tools.completion();
    this.workers = tools.workers();
    this.earlyPlaces = tools.earlyPlaces();
    this.waitingBlocks = tools.config().waitingBlocks();
    this.partBytes = tools.partBytes();
    this.row = row;
    this.parts = new ArrayList<>(parts);
    this.spool = spool;
    this.inspector = inspector;
    this.onReleased = onReleased;
    this.sent = parts.stream().mapToLong(S3Rows.Part::bytes).sum();
    this.stored = row.state() == S3Rows.State.OPEN ? sent : row.bytes();
    this.isInspected = stored == 0;
  }

  /** Fills the spool with the pieces of an earlier opening that follow on the parts. */
  Future<Void> restore(List<S3Rows.Piece> found) {
    if (row.state() != S3Rows.State.OPEN) {
      return Future.succeededFuture();
    }
    List<S3Rows.Piece> useless = new ArrayList<>();
    long end = sent;
    for (S3Rows.Piece piece : found) {
      if (piece.start() == end) {
        pieces.add(piece);
        end = piece.end();
      } else {
        useless.add(piece);
      }
    }
    forget(useless);
    return then(
        () ->
            workers
                .<Void>longCall(
                    () -> {
                      for (S3Rows.Piece piece : pieces) {
                        restore(piece);
                      }
                      return null;
                    })
                .onSuccess(read -> stored = sent + spool.length()));
  }

  private void restore(S3Rows.Piece piece) {
    byte[] bytes = new byte[BlobStore.BLOCK_BYTES];
    long left = piece.bytes();
    try (InputStream source = calls.get(piece.object(), 0)) {
      while (left > 0) {
        int read = source.read(bytes, 0, (int) Math.min(bytes.length, left));
        if (read < 0) {
          throw new IOException("it is shorter than " + piece.bytes() + " bytes");
        }
        if (isInspected) {
          inspector.inspect(bytes, 0, read);
        }
        spool.write(bytes, 0, read);
        left -= read;
      }
    } catch (IOException e) {
      throw new StorageFault("cannot read " + piece.object(), e);
    }
  }

  @Override
  public long stored() {
    return stored;
  }

  @Override
  public Future<Boolean> isCurrent() {
    int mine = row.epoch();
    return rows.find(row.id()).map(found -> found.isPresent() && found.get().epoch() == mine);
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
      sendEarly();
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
    return multipart()
        .compose(begun -> tagOf(number, bytes))
        .recover(this::explained)
        .map(tag -> new S3Rows.Part(number, tag, bytes))
        .compose(part -> rows.sent(row, part).map(part))
        .map(
            part -> {
              parts.add(part);
              sent = parts.stream().mapToLong(S3Rows.Part::bytes).sum();
              spool.clear();
              stored = sent;
              forget(List.copyOf(pieces));
              pieces.clear();
              return null;
            });
  }

  /** From the second part on, for of the first nobody knows whether there will be one. */
  private void sendEarly() {
    if (early == null && row.multipart() != null) {
      int number = parts.size() + 1;
      early = EarlyPart.begin(spool, earlyPlaces, workers, bytes -> send(number, partBytes, bytes));
    }
  }

  private Future<String> tagOf(int number, long bytes) {
    EarlyPart begun = takeEarly();
    if (begun != null && spool.isFull()) {
      return begun.tag().recover(e -> sendSpool(number, bytes));
    }
    if (begun != null) {
      begun.giveUp();
    }
    return sendSpool(number, bytes);
  }

  private @Nullable EarlyPart takeEarly() {
    EarlyPart begun = early;
    early = null;
    return begun;
  }

  private Future<String> sendSpool(int number, long bytes) {
    return workers.longCall(() -> send(number, bytes, () -> spool.read(0, bytes)));
  }

  private String send(int number, long bytes, Supplier<InputStream> source) {
    return calls.send(object(row), String.valueOf(row.multipart()), number, bytes, source);
  }

  /**
   * What it means that the store does not know the multipart upload: another process has the upload
   * and completed it, or the store lost its parts, perhaps by a rule of its own that ends what is
   * old. Then the upload is deleted, to begin anew.
   */
  private <T> Future<T> explained(Throwable failure) {
    return failure instanceof BlobGone
        ? rows.requireMine(row)
            .compose(mine -> completion.abandon(row.id()))
            .compose(deleted -> lost(failure))
        : Future.failedFuture(failure);
  }

  /** Nothing is kept any more; whoever opens the upload again begins it anew. */
  private <T> Future<T> lost(Throwable cause) {
    StorageFault fault =
        new StorageFault("upload " + row.id() + " is lost and has to begin anew", cause);
    broken = fault;
    stored = 0;
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
                    .onFailure(e -> undo(e, () -> calls.abort(object, id))))
        .onSuccess(begun -> row = begun);
  }

  /**
   * Deletes what was made for an upload that another process has by now. If this process dies
   * first, an object that a row names is tidied up, and a multipart upload a day later. A commit
   * that failed in another way may have happened, so that what it names stays.
   */
  private void undo(Throwable failure, Runnable deletion) {
    if (!(failure instanceof StorageBusy)) {
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
  private void forget(List<S3Rows.Piece> useless) {
    Future<Void> done = Future.succeededFuture();
    for (S3Rows.Piece piece : useless) {
      done = done.compose(before -> completion.delete(piece));
    }
    done.onFailure(e -> LOG.debug("a piece is left to be tidied up", e));
  }

  @Override
  public Future<Void> keep() {
    // The object, or its parts, are all there is once it is complete.
    return then(
        () ->
            row.state() != S3Rows.State.OPEN && broken == null
                ? Future.succeededFuture()
                : usable().compose(open -> keepTail()));
  }

  private Future<Void> keepTail() {
    long kept = pieces.isEmpty() ? sent : pieces.get(pieces.size() - 1).end();
    if (kept == sent + spool.length()) {
      return Future.succeededFuture();
    }
    boolean isWhole = pieces.size() >= MOST_PIECES;
    long start = isWhole ? sent : kept;
    S3Rows.Piece piece =
        new S3Rows.Piece(
            row.id(),
            "pieces/%s.%s.%s".formatted(row.base(), row.epoch(), ++madePieces),
            start,
            sent + spool.length() - start);
    return rows.keeping(row, piece)
        .compose(
            named ->
                workers.longCall(
                    () -> {
                      calls.put(
                          piece.object(),
                          piece.bytes(),
                          () -> spool.read(start - sent, piece.bytes()));
                      return null;
                    }))
        .compose(
            made ->
                rows.kept(row, piece).onFailure(e -> undo(e, () -> calls.delete(piece.object()))))
        .onSuccess(
            known -> {
              if (isWhole) {
                forget(List.copyOf(pieces));
                pieces.clear();
              }
              pieces.add(piece);
            });
  }

  @Override
  public Future<Void> finish() {
    return then(() -> refresh().compose(known -> complete()).compose(whole -> inspect()));
  }

  /** An earlier call may have come further than it was told, when a commit's answer was lost. */
  private Future<Void> refresh() {
    return rows.find(row.id())
        .map(
            found -> {
              row = found.filter(now -> now.epoch() == row.epoch()).orElse(row);
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
        .compose(open -> rows.keeping(row, whole))
        .compose(
            named ->
                workers.longCall(
                    () -> {
                      calls.put(object, bytes, () -> spool.read(0, bytes));
                      return null;
                    }))
        .compose(
            made -> rows.completed(row, whole).onFailure(e -> undo(e, () -> calls.delete(object))))
        .onSuccess(known -> row = row.in(S3Rows.State.COMPLETE, object, bytes));
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

  /**
   * Shows the inspector what earlier openings took, from the object, which is whole by now. In
   * slices, between which others have their turn; after a fault it goes on where it was.
   */
  private Future<Void> inspect() {
    Promise<Void> done = Promise.promise();
    inspect(done);
    return done.future();
  }

  /** Each slice begins on a turn of its own, however many there are. */
  private void inspect(Promise<Void> done) {
    if (isInspected) {
      done.complete();
      return;
    }
    workers
        .checkCall(this::showSlice)
        .onComplete(
            isWhole -> {
              isInspected = isWhole;
              inspect(done);
            },
            done::fail);
  }

  private boolean showSlice() {
    Throwable why = broken;
    if (why instanceof RuntimeException reason) {
      throw reason;
    }
    byte[] bytes = new byte[BlobStore.BLOCK_BYTES];
    long end = Math.min(row.bytes(), shown + SLICE_BYTES);
    try {
      if (showing == null) {
        showing = calls.get(object(row), shown);
      }
      while (shown < end) {
        int read = showing.read(bytes, 0, (int) Math.min(bytes.length, end - shown));
        if (read < 0) {
          throw new IOException("it ends at " + shown + " of " + row.bytes() + " bytes");
        }
        inspector.inspect(bytes, 0, read);
        shown += read;
      }
      if (shown == row.bytes()) {
        stopShowing();
      }
      return shown == row.bytes();
    } catch (IOException e) {
      stopShowing();
      throw new StorageFault("cannot read " + row.object(), e);
    } catch (RuntimeException e) {
      stopShowing();
      throw e;
    }
  }

  private void stopShowing() {
    ResponseInputStream<?> stream = showing;
    showing = null;
    if (stream != null) {
      stream.abort();
    }
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
                        EarlyPart begun = takeEarly();
                        if (begun != null) {
                          begun.giveUp();
                        }
                        stopShowing();
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
