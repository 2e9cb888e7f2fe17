package dev.bourse.uploads;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageBusyException;
import dev.bourse.blob.Upload;
import dev.bourse.blob.UploadBusyException;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps uploads of sessions open between their requests, because a reopened upload must inspect all
 * its bytes again.
 *
 * <p>At most one request has an upload at a time. If too many wait for their next request, or the
 * blob store has reached its limit of open uploads, the one idle for longest is closed.
 */
final class OpenUploads {
  /**
   * A client that pauses longer costs another inspection of the bytes it has sent, some two seconds
   * per GiB.
   */
  static final long IDLE_MILLIS = 3_600_000;

  /**
   * Idle uploads, at most. Each has an open file and an inspection of some 80 KiB. Half of the blob
   * store's open uploads remain for other requests without closing any.
   */
  static final int MOST_IDLE = 64;

  private static final long RETRY_MILLIS = 1_000;

  private final BlobStore blobs;
  private final Clock clock;

  /** Guarded by this object, including the values. */
  private final Map<String, Held> held = new LinkedHashMap<>();

  OpenUploads(BlobStore blobs, Clock clock) {
    this.blobs = blobs;
    this.clock = clock;
  }

  /** An open upload and its inspection. */
  record Opened(String name, Upload upload, Inspection inspection) {}

  private static final class Held {
    Optional<Opened> opened = Optional.empty();
    boolean busy = true;
    long idleSinceMillis;

    boolean isOf(Opened one) {
      return opened.filter(one::equals).isPresent();
    }
  }

  /**
   * Returns the upload, for this request alone until {@link #giveBack} or {@link #close}. Fails
   * with {@code overloaded} while another request has it, and like {@link BlobStore#open}.
   */
  Future<Opened> take(String name, String fileName) {
    Optional<Opened> ready;
    synchronized (this) {
      Held known = held.get(name);
      if (known != null && known.busy) {
        return Future.failedFuture(busy());
      }
      Held taken = known == null ? new Held() : known;
      taken.busy = true;
      held.put(name, taken);
      ready = taken.opened;
    }
    return ready.map(one -> current(one, fileName)).orElseGet(() -> opened(name, fileName));
  }

  /** Returns the upload if it is still this process's; otherwise reopens it. */
  private Future<Opened> current(Opened known, String fileName) {
    return known
        .upload()
        .isCurrent()
        .compose(
            isCurrent ->
                isCurrent
                    ? Future.succeededFuture(known)
                    : known.upload().release().compose(released -> opened(known.name(), fileName)))
        .onFailure(e -> giveBack(known));
  }

  private Future<Opened> opened(String name, String fileName) {
    return open(name, fileName)
        .recover(
            e ->
                e instanceof StorageBusyException && !(e instanceof UploadBusyException)
                    ? closeLongestIdle().compose(closed -> open(name, fileName))
                    : Future.failedFuture(e))
        .onFailure(e -> forget(name));
  }

  private Future<Opened> open(String name, String fileName) {
    Inspection inspection = new Inspection(fileName);
    return blobs
        .open(name, inspection)
        .map(
            upload -> {
              Opened opened = new Opened(name, upload, inspection);
              synchronized (this) {
                Held taken = held.get(name);
                if (taken != null) {
                  taken.opened = Optional.of(opened);
                }
              }
              return opened;
            });
  }

  private static ApiException busy() {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED, "another request of this upload is in progress", RETRY_MILLIS);
  }

  /**
   * Returns true if this process has received this many bytes of an upload and still has it open.
   */
  synchronized boolean hasTaken(String name, long bytes) {
    Held known = held.get(name);
    return known != null
        && known.opened.filter(opened -> opened.upload().stored() == bytes).isPresent();
  }

  /** Ends the request; the upload stays open for the next one. */
  void giveBack(Opened opened) {
    boolean areTooMany;
    synchronized (this) {
      Held known = held.get(opened.name());
      // After a failed end, the name may already belong to another request.
      if (known != null && known.isOf(opened)) {
        known.busy = false;
        known.idleSinceMillis = clock.millis();
      }
      areTooMany = held.values().stream().filter(one -> !one.busy).count() > MOST_IDLE;
    }
    if (areTooMany) {
      closeLongestIdle();
    }
  }

  /** Ends the request and closes the upload; its inspection is lost. */
  Future<Void> close(Opened opened) {
    return opened
        .upload()
        .release()
        .eventually(
            () -> {
              forget(opened);
              return Future.succeededFuture();
            });
  }

  private synchronized void forget(Opened opened) {
    Held known = held.get(opened.name());
    if (known != null && known.isOf(opened)) {
      held.remove(opened.name());
    }
  }

  private synchronized void forget(String name) {
    held.remove(name);
  }

  /** Closes the upload that has been idle for longest, if there is one. */
  Future<Void> closeLongestIdle() {
    return closeIdle(1, Long.MAX_VALUE);
  }

  /** Closes uploads that have been idle for too long. */
  Future<Void> closeIdle() {
    return closeIdle(Integer.MAX_VALUE, clock.millis() - IDLE_MILLIS);
  }

  private Future<Void> closeIdle(int most, long idleSinceMillis) {
    List<Opened> closing = new ArrayList<>();
    synchronized (this) {
      held.values().stream()
          .filter(one -> !one.busy && one.opened.isPresent())
          .filter(one -> one.idleSinceMillis <= idleSinceMillis)
          .sorted(Comparator.comparingLong(one -> one.idleSinceMillis))
          .limit(most)
          .forEach(
              one -> {
                one.busy = true;
                closing.add(one.opened.get());
              });
    }
    return Future.join(closing.stream().map(this::close).toList()).mapEmpty();
  }
}
