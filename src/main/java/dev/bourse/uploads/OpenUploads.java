package dev.bourse.uploads;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.StorageBusy;
import dev.bourse.blob.Upload;
import dev.bourse.blob.UploadBusy;
import dev.bourse.core.ApiError;
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
 * Uploads of sessions that stay open between their requests: opening one again would have all its
 * bytes inspected anew.
 *
 * <p>At most one request has an upload at a time. When too many wait for their next request, or the
 * blob store has as many open as it may, the one longest without a request is closed.
 */
final class OpenUploads {
  /**
   * A client that pauses longer pays with another inspection of what it has sent, some two seconds
   * for each GiB.
   */
  static final long IDLE_MILLIS = 3_600_000;

  /**
   * How many may wait for their next request. Each has an open file and an inspection of some 80
   * KiB, and with these half of the uploads the blob store may have open are left to others without
   * closing any.
   */
  static final int MOST_IDLE = 64;

  private static final long RETRY_MILLIS = 1_000;

  private final BlobStore blobs;
  private final Clock clock;

  /** Guarded by this object, as what is in it. */
  private final Map<String, Held> held = new LinkedHashMap<>();

  OpenUploads(BlobStore blobs, Clock clock) {
    this.blobs = blobs;
    this.clock = clock;
  }

  /** An open upload and what was seen of it. */
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
   * The upload, for this request alone until {@link #giveBack} or {@link #close}. Fails with {@code
   * overloaded} while another request has it, and as {@link BlobStore#open} does.
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

  /** The same when it still is this process's; else as it is now. */
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
                e instanceof StorageBusy && !(e instanceof UploadBusy)
                    ? closeIdlest().compose(closed -> open(name, fileName))
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

  private static ApiError busy() {
    return ApiError.retryLater(
        ErrorCode.OVERLOADED, "another request of this upload is under way", RETRY_MILLIS);
  }

  /** Whether so many bytes of an upload were taken here, by an opening that still is open. */
  synchronized boolean hasTaken(String name, long bytes) {
    Held known = held.get(name);
    return known != null
        && known.opened.filter(opened -> opened.upload().stored() == bytes).isPresent();
  }

  /** The request is done; the upload stays open for the next. */
  void giveBack(Opened opened) {
    boolean areTooMany;
    synchronized (this) {
      Held known = held.get(opened.name());
      // After a failed end the name may be another request's already.
      if (known != null && known.isOf(opened)) {
        known.busy = false;
        known.idleSinceMillis = clock.millis();
      }
      areTooMany = held.values().stream().filter(one -> !one.busy).count() > MOST_IDLE;
    }
    if (areTooMany) {
      closeIdlest();
    }
  }

  /** The request is done, and the upload closed: what was seen of it is of no more use. */
  Future<Void> close(Opened opened) {
    return opened.upload().release().onComplete(released -> forget(opened));
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

  /** Makes room for another upload, when one has no request now. */
  Future<Void> closeIdlest() {
    return closeIdle(1, Long.MAX_VALUE);
  }

  /** Closes uploads that have had no request for a while. */
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
