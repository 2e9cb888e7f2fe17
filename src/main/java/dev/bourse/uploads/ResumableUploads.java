package dev.bourse.uploads;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.ByteSource;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.StorageFullException;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.checkpoint.Publication;
import dev.bourse.checkpoint.Revision;
import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.ErrorCode;
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
 * Receives uploads that take several requests, of a single file or of each file of a set, until all
 * bytes are inspected. A request has an upload for itself and, even if it fails, leaves it open for
 * the next request, or closed.
 */
public final class ResumableUploads {
  private static final Logger LOG = LoggerFactory.getLogger(ResumableUploads.class);

  /** A quarter of the blob store's limit; more at once is not faster for the sender. */
  static final int MAX_REQUESTS = 32;

  /**
   * Less than the usual time-outs of clients and proxies; reading back a GiB takes some seconds.
   * The contract states it.
   */
  public static final long WAIT_MILLIS = 20_000;

  private static final long RETRY_MILLIS = 5_000;

  private final Publication publication;
  private final PublishPermission permission;
  private final BlobStore blobs;
  private final OpenUploads open;
  private final long waitMillis;

  /**
   * Limits requests per owner, because the blob store's limit is shared: otherwise slow requests of
   * a few organizations would block all others.
   */
  private final Bulkhead requests =
      Bulkhead.of("requests that send bytes", BlobConfig.UPLOADS)
          .sharing(MAX_REQUESTS)
          .sharingFairly();

  /**
   * @param waitMillis how long a request waits for the store to finish an upload
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
   * An upload to receive.
   *
   * @param upload its name
   * @param metadata of its file
   * @param where names the bytes in errors about credentials
   * @param key of the resulting blob, by digest
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
   * The progress of an upload.
   *
   * @param stored bytes that are stored, from the start
   * @param isComplete whether no more bytes are needed
   */
  public record Progress(Checkpoint item, Revision draft, long stored, boolean isComplete) {}

  /** Closes uploads that have been idle for too long. */
  public Future<Void> closeIdle() {
    return open.closeIdle();
  }

  /** Closes the upload that has been idle for longest, to make room for another. */
  Future<Void> closeLongestIdle() {
    return open.closeLongestIdle();
  }

  /** Returns the number of requests that are sending bytes. */
  public int running() {
    return requests.running();
  }

  /** Runs work that receives bytes of an item, within its owner's share of concurrent requests. */
  <T> Future<T> within(Checkpoint item, Supplier<Future<T>> work) {
    Bulkhead.Place place = requests.enter(item.orgId());
    return Future.succeededFuture()
        .compose(entered -> work.get())
        .onComplete(done -> place.close());
  }

  /**
   * Receives the bytes of a request. Bytes that are stored already are skipped; a request that
   * would leave a gap stores nothing. An interrupted request keeps the received bytes; a request
   * whose client has disconnected does not start.
   *
   * @param whole receives the upload when it is complete
   */
  Future<Progress> receive(
      Target target,
      ContentRange range,
      ByteSource source,
      Function<OpenUploads.Opened, Future<Progress>> whole) {
    // Otherwise the request would take the upload from a process to which its client has moved on.
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
   * Returns true if this process received all bytes, flushed or not. The caller has them flushed,
   * because only flushed bytes may be acknowledged, and the client need not send them again.
   */
  boolean hasAll(Target target) {
    return open.hasTaken(target.upload(), target.metadata().bytes());
  }

  private static boolean isWhole(Target target, OpenUploads.Opened opened) {
    return opened.upload().stored() == target.metadata().bytes();
  }

  /** Bytes that are finished before the answer need no flush in between. */
  private static Future<Void> keep(Target target, OpenUploads.Opened opened) {
    return isWhole(target, opened) && opened.upload().isInspected()
        ? Future.succeededFuture()
        : opened.upload().keep();
  }

  /** Takes the upload for one request, until it is paused, stored, discarded or fails. */
  Future<OpenUploads.Opened> take(Target target) {
    return open.take(target.upload(), target.metadata().fileName())
        .compose(
            opened ->
                opened.upload().stored() > 0
                    ? Future.succeededFuture(opened)
                    : begin(target, opened));
  }

  /**
   * Starts an empty upload only if its bytes are still expected. It may have been finished by
   * another process while this one was slow or frozen, and its bytes would be orphaned.
   */
  private Future<OpenUploads.Opened> begin(Target target, OpenUploads.Opened opened) {
    return findRejection(target)
        .transform(
            looked -> {
              if (looked.failed()) {
                // Another process may have taken it over, so this one must not delete it.
                return open.close(opened).transform(closed -> Future.failedFuture(looked.cause()));
              }
              return looked.result().isEmpty()
                  ? Future.succeededFuture(opened)
                  : discard(opened).transform(ended -> Future.failedFuture(looked.result().get()));
            });
  }

  /** Returns why bytes are not expected; empty if they are. */
  private Future<Optional<RuntimeException>> findRejection(Target target) {
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

  private static BlobNotFoundException isBlob(Target target) {
    return new BlobNotFoundException("upload " + target.upload() + " is already a blob");
  }

  /**
   * Releases the upload to the next request; returns the progress that another process would see.
   */
  Progress pause(Target target, OpenUploads.Opened opened) {
    open.giveBack(opened);
    return target.at(opened.upload().kept());
  }

  /**
   * Finishes the inspection of all bytes and returns their digest. If that takes long, because
   * bytes received by other processes have to be read back, it fails with {@code overloaded}, and a
   * later request finds it done. After a failure the request no longer has the upload.
   */
  Future<String> finish(Target target, OpenUploads.Opened opened) {
    Future<String> ending = finishInspection(target, opened);
    return awaitEnd(
        target,
        ending,
        () -> {
          ending.onSuccess(late -> open.giveBack(opened));
          return stillEnding();
        });
  }

  private Future<String> finishInspection(Target target, OpenUploads.Opened opened) {
    return opened
        .upload()
        .finish()
        .map(finished -> opened.inspection().end())
        .recover(
            e ->
                isRetryable(target, opened, e)
                    ? leave(opened, e)
                    : failed(target, opened, true, e));
  }

  /**
   * Waits for the end of an upload for a limited time. The end continues after the client was asked
   * to retry; a failure after that is only logged.
   *
   * @param onLate returns the error for the client
   */
  private <T> Future<T> awaitEnd(Target target, Future<T> ending, Supplier<ApiException> onLate) {
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
                    if (!(late instanceof ApiException)) {
                      LOG.warn(
                          "upload {} is not finished yet: {}", target.upload(), late.toString());
                    }
                  });
              return Future.failedFuture(onLate.get());
            });
  }

  /**
   * Finishes an upload like {@link #finish}, and stores it durably under the key of its digest,
   * which it returns. It does so even after it has asked the client to retry, because the next
   * request may reach a process that has seen no bytes. The request no longer has the upload.
   *
   * @param refusal returns why bytes with a digest are rejected; they are then discarded
   * @param note runs before the bytes are stored durably
   */
  Future<String> store(
      Target target,
      OpenUploads.Opened opened,
      Function<String, Optional<ApiException>> refusal,
      Function<String, Future<?>> note) {
    // The answer to the client, set by the first of two events: the digest or the time-out.
    AtomicReference<@Nullable ApiException> outcome = new AtomicReference<>();
    Future<String> stored =
        finishInspection(target, opened)
            .compose(
                sha256 -> {
                  Optional<ApiException> refused = refusal.apply(sha256);
                  if (refused.isEmpty()) {
                    return Future.succeededFuture()
                        .compose(wanted -> note.apply(sha256))
                        .onFailure(e -> open.giveBack(opened))
                        .compose(noted -> open.close(opened))
                        .compose(closed -> blobs.publish(opened.name(), target.key().apply(sha256)))
                        .map(sha256);
                  }
                  return outcome.compareAndSet(null, refused.get())
                      ? discard(opened).transform(gone -> Future.failedFuture(refused.get()))
                      // The next request must get the error.
                      : leave(opened, refused.get());
                });
    return awaitEnd(
        target,
        stored,
        () -> {
          ApiException ending = stillEnding();
          ApiException first = outcome.compareAndExchange(null, ending);
          return first == null ? ending : first;
        });
  }

  /** Skips the flush, because the store has just failed. */
  private <T> Future<T> leave(OpenUploads.Opened opened, Throwable failure) {
    open.giveBack(opened);
    return Future.failedFuture(failure);
  }

  /**
   * Returns true if an upload that could not be finished may be retried without reading it again.
   */
  private static boolean isRetryable(Target target, OpenUploads.Opened opened, Throwable failure) {
    return (failure instanceof StorageFaultException || failure instanceof StorageFullException)
        && isWhole(target, opened);
  }

  private static ApiException stillEnding() {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED,
        "all bytes have arrived and are being inspected and stored; try again later",
        RETRY_MILLIS);
  }

  /** Ends a failed request; keeps the bytes that may be kept. */
  private <T> Future<T> failed(
      Target target, OpenUploads.Opened opened, boolean isBroken, Throwable failure) {
    if (failure instanceof Inspection.SecretFoundException found) {
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
    Throwable error = failure instanceof BlobNotFoundException ? noSession() : failure;
    return open.close(opened).transform(released -> Future.failedFuture(error));
  }

  /** The actor of a session: the member who announced its item. */
  static String actor(Checkpoint item) {
    return item.isPlatform() ? item.creator() : "member:" + item.creator();
  }

  /** The error for a session that has ended. */
  static ApiException noSession() {
    return ApiException.of(
        ErrorCode.GONE,
        "this session is committed, replaced, withdrawn or expired, or never existed");
  }

  /** Discards all bytes of the upload, which then starts again. */
  Future<Void> discard(OpenUploads.Opened opened) {
    return open.close(opened).transform(closed -> blobs.abandon(opened.name()));
  }
}
