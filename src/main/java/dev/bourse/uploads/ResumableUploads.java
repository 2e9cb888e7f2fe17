package dev.bourse.uploads;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.ByteSource;
import dev.bourse.blob.StorageFault;
import dev.bourse.blob.StorageFull;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.checkpoint.Publication;
import dev.bourse.checkpoint.Revision;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Limit;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the bytes of uploads that come in request after request, of a single file or of each file
 * of a set, up to where all have been inspected. A request has an upload for itself, and whatever
 * becomes of it leaves the upload open for the next, or closed.
 */
public final class ResumableUploads {
  private static final Logger LOG = LoggerFactory.getLogger(ResumableUploads.class);

  /** A quarter of what the blob store has; more at once is not faster for whoever sends them. */
  static final int MAX_REQUESTS = 32;

  /**
   * Less than clients and proxies wait; a GiB is read back in some seconds. The contract says it.
   */
  public static final long WAIT_MILLIS = 20_000;

  private static final long RETRY_MILLIS = 5_000;

  private final Publication publication;
  private final PublishPermission permission;
  private final BlobStore blobs;
  private final OpenUploads open;
  private final long waitMillis;

  /**
   * The blob store has so many uploads for all; without a share of each owner's the slow requests
   * of a few organizations would keep everybody else's out.
   */
  private final Limit requests =
      Limit.of("requests that send bytes", BlobConfig.UPLOADS)
          .sharing(MAX_REQUESTS)
          .sharingFairly();

  /**
   * @param waitMillis how long a request waits for the store to end an upload
   */
  public ResumableUploads(
      Publication publication,
      PublishPermission permission,
      BlobStore blobs,
      Clock clock,
      long waitMillis) {
    this.publication = publication;
    this.permission = permission;
    this.blobs = blobs;
    this.open = new OpenUploads(blobs, clock);
    this.waitMillis = waitMillis;
  }

  /**
   * Bytes that are awaited.
   *
   * @param upload its name
   * @param metadata of the file whose bytes they are
   * @param where what a credential among them is said to be in
   * @param key of the blob that they become, by their digest
   */
  record Target(
      Checkpoint item,
      Revision draft,
      String upload,
      Metadata metadata,
      String where,
      UnaryOperator<String> key) {
    Progress at(long stored) {
      return new Progress(item, draft, stored, false);
    }

    Progress complete() {
      return new Progress(item, draft, metadata.bytes(), true);
    }
  }

  /**
   * How far an upload is.
   *
   * @param stored bytes that are kept, from the first on
   * @param isComplete whether nothing more of it is to be sent
   */
  public record Progress(Checkpoint item, Revision draft, long stored, boolean isComplete) {}

  /** Closes uploads whose clients have paused. */
  public Future<Void> closeIdle() {
    return open.closeIdle();
  }

  /** Closes the upload that has been longest without a request, to make room for another. */
  Future<Void> closeIdlest() {
    return open.closeIdlest();
  }

  /** How many requests bring bytes now. */
  public int running() {
    return requests.running();
  }

  /** Work that takes bytes of an item, within its owner's share of what may be sent at once. */
  <T> Future<T> within(Checkpoint item, Supplier<Future<T>> work) {
    Limit.Place place = requests.enter(item.orgId());
    return Future.succeededFuture()
        .compose(entered -> work.get())
        .onComplete(done -> place.close());
  }

  /**
   * Takes what a request brings. What is there already is passed over; what would leave a gap is
   * not taken. An interrupted request keeps what arrived; one whose client has left before that is
   * not begun.
   *
   * @param whole what follows once all bytes are there; it is given the upload
   */
  Future<Progress> receive(
      Target target,
      ContentRange range,
      ByteSource source,
      Function<OpenUploads.Opened, Future<Progress>> whole) {
    // Else it would take the upload from a process to which its client has turned meanwhile.
    source.requireSender();
    return take(target)
        .compose(
            opened -> {
              if (range.first() > opened.upload().stored()) {
                return Future.succeededFuture(pause(target, opened));
              }
              UploadAppender appending =
                  new UploadAppender(
                      opened.upload(), target.item(), target.metadata(), range, permission);
              return appending
                  .readFrom(source, BlobStore.BLOCK_BYTES)
                  .recover(e -> failed(target, opened, appending.isBroken(), e))
                  .compose(bytes -> keep(target, opened).onFailure(e -> open.giveBack(opened)))
                  .compose(
                      kept ->
                          isWhole(target, opened)
                              ? whole.apply(opened)
                              : Future.succeededFuture(pause(target, opened)));
            });
  }

  /**
   * Whether all bytes were taken by this process, kept or not: whoever asks has them kept, for only
   * what is kept may be told, and need not send them again.
   */
  boolean hasAll(Target target) {
    return open.hasTaken(target.upload(), target.metadata().bytes());
  }

  private static boolean isWhole(Target target, OpenUploads.Opened opened) {
    return opened.upload().stored() == target.metadata().bytes();
  }

  /** What is finished before it is answered need not be kept in between. */
  private static Future<Void> keep(Target target, OpenUploads.Opened opened) {
    return isWhole(target, opened) && opened.upload().isInspected()
        ? Future.succeededFuture()
        : opened.upload().keep();
  }

  /** Has the upload for one request, until it is paused, stored, discarded or fails. */
  Future<OpenUploads.Opened> take(Target target) {
    return open.take(target.upload(), target.metadata().fileName())
        .compose(
            opened ->
                opened.upload().stored() > 0
                    ? Future.succeededFuture(opened)
                    : begin(target, opened));
  }

  /**
   * An upload that holds nothing may be one that ended while this request waited, in a process that
   * was slow or frozen. Nobody would come for its bytes, so it begins only where they are awaited.
   */
  private Future<OpenUploads.Opened> begin(Target target, OpenUploads.Opened opened) {
    return whyNotAwaited(target)
        .transform(
            looked -> {
              if (looked.failed()) {
                // Another process may have taken it over by now: it is not for this one to delete.
                return open.close(opened).transform(closed -> Future.failedFuture(looked.cause()));
              }
              return looked.result().isEmpty()
                  ? Future.succeededFuture(opened)
                  : discard(opened).transform(ended -> Future.failedFuture(looked.result().get()));
            });
  }

  /** Empty where bytes are awaited. */
  private Future<Optional<RuntimeException>> whyNotAwaited(Target target) {
    return publication
        .draft(target.item(), target.draft().number())
        .compose(
            draft -> {
              if (draft.isEmpty()) {
                return Future.succeededFuture(Optional.of(noSession()));
              }
              String announced = target.metadata().sha256();
              String digest = announced == null ? draft.get().sha256() : announced;
              return digest == null
                  ? Future.succeededFuture(Optional.empty())
                  : blobs
                      .exists(target.key().apply(digest))
                      .map(isDurable -> isDurable ? Optional.of(isBlob(target)) : Optional.empty());
            });
  }

  private static BlobGone isBlob(Target target) {
    return new BlobGone("upload " + target.upload() + " is a blob by now");
  }

  /** Leaves the upload to the next request; tells what another process would find of it. */
  Progress pause(Target target, OpenUploads.Opened opened) {
    open.giveBack(opened);
    return target.at(opened.upload().kept());
  }

  /**
   * Has all bytes inspected and gives their digest. Where that takes long, as when other processes
   * took some of them, which are read back, this fails with {@code overloaded} and a later request
   * finds it done. Once this has failed the request has the upload no more.
   */
  Future<String> finish(Target target, OpenUploads.Opened opened) {
    Future<String> ending = inspected(target, opened);
    return awaited(
        target,
        ending,
        () -> {
          ending.onSuccess(late -> open.giveBack(opened));
          return stillEnding();
        });
  }

  private Future<String> inspected(Target target, OpenUploads.Opened opened) {
    return opened
        .upload()
        .finish()
        .map(finished -> opened.inspection().end())
        .recover(
            e -> goesOn(target, opened, e) ? leave(opened, e) : failed(target, opened, true, e));
  }

  /**
   * What is ending when its client is told to ask again goes on; nobody but the log hears of what
   * fails then.
   *
   * @param onLate makes the answer
   */
  private <T> Future<T> awaited(Target target, Future<T> ending, Supplier<ApiError> onLate) {
    if (ending.isComplete()) {
      return ending;
    }
    return ending
        .timeout(waitMillis, TimeUnit.MILLISECONDS)
        .recover(
            e -> {
              if (!(e instanceof TimeoutException) || ending.failed()) {
                return Future.failedFuture(ending.failed() ? ending.cause() : e);
              }
              ending.onFailure(
                  late -> {
                    if (!(late instanceof ApiError)) {
                      LOG.warn("upload {} is not ended yet: {}", target.upload(), late.toString());
                    }
                  });
              return Future.failedFuture(onLate.get());
            });
  }

  /**
   * Finishes an upload as {@link #finish} does, and makes it durable under the key of its digest,
   * which this gives; also after the client was told to ask again, for its next request may come to
   * a process that has seen none of the bytes. The request has the upload no more.
   *
   * @param refusal why bytes of a digest are not wanted: they are then discarded
   * @param note is done before they are made durable
   */
  Future<String> store(
      Target target,
      OpenUploads.Opened opened,
      Function<String, Optional<ApiError>> refusal,
      Function<String, Future<?>> note) {
    // What the client is told, which the first of two decides: the digest or the time.
    AtomicReference<@Nullable ApiError> told = new AtomicReference<>();
    Future<String> stored =
        inspected(target, opened)
            .compose(
                sha256 -> {
                  Optional<ApiError> refused = refusal.apply(sha256);
                  if (refused.isEmpty()) {
                    return Future.succeededFuture()
                        .compose(wanted -> note.apply(sha256))
                        .onFailure(e -> open.giveBack(opened))
                        .compose(noted -> open.close(opened))
                        .compose(closed -> blobs.publish(opened.name(), target.key().apply(sha256)))
                        .map(sha256);
                  }
                  return told.compareAndSet(null, refused.get())
                      ? discard(opened).transform(gone -> Future.failedFuture(refused.get()))
                      // Whoever asks next has to be told.
                      : leave(opened, refused.get());
                });
    return awaited(
        target,
        stored,
        () -> {
          ApiError ending = stillEnding();
          ApiError first = told.compareAndExchange(null, ending);
          return first == null ? ending : first;
        });
  }

  /** A store that has just failed is not asked to keep what it has not got yet. */
  private <T> Future<T> leave(OpenUploads.Opened opened, Throwable failure) {
    open.giveBack(opened);
    return Future.failedFuture(failure);
  }

  /** Whether an upload that could not be finished may be asked again without being read anew. */
  private static boolean goesOn(Target target, OpenUploads.Opened opened, Throwable failure) {
    return (failure instanceof StorageFault || failure instanceof StorageFull)
        && isWhole(target, opened);
  }

  private static ApiError stillEnding() {
    return ApiError.retryLater(
        ErrorCode.OVERLOADED,
        "all bytes are there and still being stored and inspected; ask again",
        RETRY_MILLIS);
  }

  /** The request ends in a failure; what may be kept of the upload is. */
  private <T> Future<T> failed(
      Target target, OpenUploads.Opened opened, boolean isBroken, Throwable failure) {
    if (failure instanceof Inspection.SecretFound found) {
      return discard(opened)
          .transform(
              discarded ->
                  publication.refused(
                      actor(target.item()),
                      target.item(),
                      target.draft(),
                      target.where(),
                      found.finding()));
    }
    if (!isBroken) {
      return opened
          .upload()
          .keep()
          .transform(
              kept -> {
                open.giveBack(opened);
                return Future.failedFuture(failure);
              });
    }
    Throwable told = failure instanceof BlobGone ? noSession() : failure;
    return open.close(opened).transform(released -> Future.failedFuture(told));
  }

  /** The actor of a session: whoever announced the item that it belongs to. */
  static String actor(Checkpoint item) {
    return item.isPlatform() ? item.creator() : "member:" + item.creator();
  }

  /** The answer about a session that is over. */
  static ApiError noSession() {
    return ApiError.of(
        ErrorCode.GONE,
        "this session is committed, replaced, withdrawn, too old, or was never there");
  }

  /** Gives up all bytes of the upload, which then begins anew. */
  Future<Void> discard(OpenUploads.Opened opened) {
    return open.close(opened).transform(closed -> blobs.abandon(opened.name()));
  }
}
