package dev.bourse.checkpoint;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Reading;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** Opens stored bytes for reading, even while they are being replaced. */
public final class ContentService {
  /** Attempts to open a revision that is replaced between look-up and opening. */
  private static final int ATTEMPTS = 3;

  private static final Duration ADDRESS_LIFETIME = Duration.ofMinutes(1);

  private final CheckpointStore store;
  private final SetStore sets;
  private final BlobStore blobs;
  private final DownloadShares shares;

  /** Many nodes download the same small file at once when a run starts. */
  private final CoalescedLookups<Wanted, Content> lookups = new CoalescedLookups<>();

  /**
   * @param openFiles files that may be open at once, in total
   */
  public ContentService(CheckpointStore store, SetStore sets, BlobStore blobs, int openFiles) {
    this.store = store;
    this.sets = sets;
    this.blobs = blobs;
    this.shares = new DownloadShares(openFiles, blobs.sharesReadings());
  }

  /**
   * The key of a look-up.
   *
   * @param orgId the organization; empty for the public feed
   * @param id of the item; for a file of a set, followed by its digest
   */
  private record Wanted(String orgId, String id) {}

  /** An open reading, which the caller closes. */
  public record Opened(Content content, Reading bytes) {}

  /**
   * Opens the revision that an organization sees of its item; fails with {@code gone} if there is
   * none.
   */
  public Future<Opened> openShown(String orgId, String id) {
    return openShared(
        new DownloadShares.Reader(false, orgId),
        new Wanted(orgId, id),
        () -> store.findShownContent(orgId, id),
        () -> Checkpoint.unknown(orgId, id));
  }

  /**
   * Opens an item of the public feed; fails with {@code not-found} for any other.
   *
   * @param address the reader's address, whose share of open files it counts against
   */
  public Future<Opened> openPublic(String address, String id) {
    return openShared(
        new DownloadShares.Reader(true, address),
        new Wanted("", id),
        () -> store.findContentOnFeed(id),
        () -> ApiException.notFound("checkpoint", id));
  }

  /** Opens a file of a set as its organization sees it. */
  public Future<Opened> openShownFile(String orgId, String id, String sha256) {
    return openShared(
        new DownloadShares.Reader(false, orgId),
        new Wanted(orgId, id + '/' + sha256),
        () -> requireShown(orgId, id).compose(shown -> sets.findShownFile(orgId, id, sha256)),
        () -> noFile(id, sha256));
  }

  /** Opens the README of a set as its organization sees it; {@code not-found} without one. */
  Future<Opened> openReadme(String orgId, String id) {
    return openShared(
        new DownloadShares.Reader(false, orgId),
        new Wanted(orgId, id + "/readme"),
        () -> requireShown(orgId, id).compose(shown -> sets.findReadme(orgId, id)),
        () ->
            ApiException.of(
                ErrorCode.NOT_FOUND, "checkpoint '%s' has no README.md", Text.shown(id)));
  }

  /** Fails as {@link Checkpoint#unknown} says if the organization has no such item. */
  private Future<Void> requireShown(String orgId, String id) {
    return store
        .find(id)
        .map(
            found -> {
              if (found.filter(listed -> listed.item().orgId().equals(orgId)).isEmpty()) {
                throw Checkpoint.unknown(orgId, id);
              }
              return null;
            });
  }

  /** Opens a file of a set on the public feed; fails with {@code not-found} for any other. */
  public Future<Opened> openPublicFile(String address, String id, String sha256) {
    return openShared(
        new DownloadShares.Reader(true, address),
        new Wanted("", id + '/' + sha256),
        () -> sets.findFileOnFeed(id, sha256),
        () -> noFile(id, sha256));
  }

  /**
   * Returns an address at the object store where the content can be read for a minute, enough for a
   * client that follows at once. Downloads that have started may continue.
   */
  Future<Optional<URI>> address(Opened opened, Map<String, String> headers) {
    String digest = Objects.requireNonNull(opened.content.sha256());
    return blobs.address(opened.content.blobKey(digest), ADDRESS_LIFETIME, headers);
  }

  static ApiException noFile(String id, String sha256) {
    return ApiException.of(
        ErrorCode.NOT_FOUND,
        "checkpoint '%s' has no file with SHA-256 '%s'",
        Text.shown(id),
        sha256);
  }

  private Future<Opened> openShared(
      DownloadShares.Reader reader,
      Wanted wanted,
      Supplier<Future<Optional<Content>>> lookup,
      Supplier<ApiException> unknown) {
    return open(
        reader,
        () -> lookups.find(wanted, () -> lookup.get().map(found -> found.orElseThrow(unknown))),
        ATTEMPTS);
  }

  /**
   * Opens bytes for an operator. Fails like the look-up, and with {@code conflict} {@code
   * object-missing} if the bytes are not complete.
   *
   * @param operator whose share of open files it counts against
   * @param finding looks the bytes up; called again if they were replaced
   */
  public Future<Opened> open(String operator, Supplier<Future<Content>> finding) {
    return open(new DownloadShares.Reader(false, operator), finding, ATTEMPTS);
  }

  private Future<Opened> open(
      DownloadShares.Reader reader, Supplier<Future<Content>> finding, int left) {
    return finding
        .get()
        .compose(
            content -> {
              String sha256 = content.sha256();
              if (sha256 == null) {
                throw missing(content);
              }
              return read(reader, content.blobKey(sha256))
                  .map(reading -> new Opened(content, reading))
                  .recover(
                      e ->
                          e instanceof BlobNotFoundException && left > 1
                              ? open(reader, finding, left - 1)
                              : Future.failedFuture(
                                  e instanceof BlobNotFoundException ? missing(content) : e));
            });
  }

  private Future<Reading> read(DownloadShares.Reader reader, String key) {
    String held = shares.begin(reader, key);
    return Future.succeededFuture()
        .compose(begun -> blobs.read(key))
        .onFailure(e -> shares.end(reader, held))
        .map(reading -> new Shared(reading, () -> shares.end(reader, held)));
  }

  /** A reading that releases its slot when it is closed. */
  private static final class Shared implements Reading {
    private final Reading reading;
    private final Runnable onClosed;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    Shared(Reading reading, Runnable onClosed) {
      this.reading = reading;
      this.onClosed = onClosed;
    }

    @Override
    public long length() {
      return reading.length();
    }

    @Override
    public Optional<FileChannel> file() {
      return reading.file();
    }

    @Override
    public Future<Buffer> piece(long offset, int length) {
      return reading.piece(offset, length);
    }

    @Override
    public Future<Buffer> onlyPiece(long offset, int length) {
      return reading.onlyPiece(offset, length);
    }

    @Override
    public Future<Void> close() {
      if (isClosed.compareAndSet(false, true)) {
        onClosed.run();
      }
      return reading.close();
    }
  }

  private static ApiException missing(Content content) {
    return ConflictReason.OBJECT_MISSING.of(
        "the bytes of revision %s of %s are missing", content.revision(), content.itemId());
  }
}
