package dev.bourse.uploads;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.ByteSource;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.checkpoint.Publication;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.ReviewCheck;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.SetStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Limit;
import dev.bourse.core.Secrets;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes the bytes of announced checkpoints that come in sessions, request after request, and
 * publishes them when they are committed; in the order that {@link DirectUploadService} keeps.
 */
public final class UploadSessionService {
  /** A quarter of what the blob store has; more at once is not faster for whoever sends them. */
  static final int MAX_REQUESTS = 32;

  /** Less than clients and proxies wait; a GiB is read back in some seconds. */
  private static final long READ_BACK_SECONDS = 20;

  private static final long RETRY_READ_BACK_MILLIS = 5_000;

  private final CheckpointService checkpoints;
  private final Publication publication;
  private final CheckpointStore store;
  private final PublishPermission permission;
  private final BlobStore blobs;
  private final OpenUploads open;
  private final SetPublication sets;

  /**
   * The blob store has so many uploads for all; without a share of each owner's the slow requests
   * of a few members would keep everybody else's out.
   */
  private final Limit requests =
      Limit.of("requests that send bytes", Integer.MAX_VALUE).sharing(MAX_REQUESTS);

  private final Clock clock;

  public UploadSessionService(
      CheckpointService checkpoints,
      Publication publication,
      CheckpointStore store,
      PublishPermission permission,
      BlobStore blobs,
      SetStore sets,
      Clock clock) {
    this.checkpoints = checkpoints;
    this.publication = publication;
    this.store = store;
    this.permission = permission;
    this.blobs = blobs;
    this.open = new OpenUploads(blobs, clock);
    this.sets = new SetPublication(sets, publication, blobs);
    this.clock = clock;
  }

  /** Closes uploads whose clients have paused. */
  public Future<Void> closeIdle() {
    return open.closeIdle();
  }

  /**
   * Closes the session that has been longest without a request, to make room for another upload.
   */
  Future<Void> closeIdlest() {
    return open.closeIdlest();
  }

  /**
   * How far a session is.
   *
   * @param stored bytes that are kept, from the first on
   */
  public record Progress(Checkpoint item, Revision draft, long stored) {
    /** Whether all bytes are there and a commit may follow. */
    public boolean isComplete() {
      return stored == draft.metadata().bytes();
    }
  }

  /**
   * Takes bytes of a session, or tells how far it is. What a request brings that is there already
   * is passed over; what would leave a gap is not taken. An interrupted request keeps what arrived.
   *
   * <p>Fails with {@code gone} when there is no such session, its time is over or whoever announced
   * it may not publish it any more, also in the midst of the request; {@code bad-request} for a
   * malformed range, {@code conflict} for another size than announced, {@code secret-detected},
   * {@code overloaded} while another request brings bytes.
   *
   * @param contentRange the header; empty when the request brings the whole
   */
  public Future<Progress> put(String session, Optional<String> contentRange, ByteSource source) {
    ContentRange range = contentRange.map(ContentRange::parse).orElse(ContentRange.WHOLE);
    return awaiting(session)
        .compose(
            awaiting -> {
              Checkpoint item = awaiting.item();
              Revision draft = awaiting.draft();
              if (draft.metadata().isSet()) {
                throw ConflictReason.WRONG_STATUS.of(
                    "%s is a set: send each of its files to session_url/number", item.id());
              }
              requireFit(range, draft.metadata(), source.length());
              return isDurable(item, draft)
                  .compose(
                      durable ->
                          durable
                              ? Future.succeededFuture(
                                  new Progress(item, draft, draft.metadata().bytes()))
                              : range.isQuery()
                                  ? progress(item, draft)
                                  : within(item, () -> resume(item, draft, range, source)));
            });
  }

  /** An item and the draft of it whose bytes a session brings. */
  record Awaiting(Checkpoint item, Revision draft) {}

  /** What a session is for; {@code gone} when there is none. */
  Future<Awaiting> awaiting(String session) {
    return store
        .findBySession(Secrets.stored(session))
        .map(
            found -> {
              Checkpoint item = found.orElseThrow(UploadSessionService::noSession);
              Revision draft = item.draft();
              if (draft == null
                  || draft.isLate(clock.millis())
                  || !Secrets.stored(session).equals(draft.sessionSha256())) {
                throw noSession();
              }
              return new Awaiting(item, draft);
            });
  }

  /** Work that takes bytes of an item, within its owner's share of what may be sent at once. */
  <T> Future<T> within(Checkpoint item, Supplier<Future<T>> work) {
    Limit.Place place = requests.enter(item.orgId());
    return Future.succeededFuture()
        .compose(entered -> work.get())
        .onComplete(done -> place.close());
  }

  /** The uploads that stay open between requests. */
  OpenUploads open() {
    return open;
  }

  /** How many requests bring bytes now. */
  public int running() {
    return requests.running();
  }

  static ApiError noSession() {
    return ApiError.of(
        ErrorCode.GONE,
        "this session is committed, replaced, withdrawn, too old, or was never there");
  }

  static void requireFit(ContentRange range, Metadata metadata, OptionalLong length) {
    long total = range.total().orElse(metadata.bytes());
    if (total != metadata.bytes()) {
      throw ConflictReason.SIZE_MISMATCH.of(
          "Content-Range tells of %s bytes; %s were announced", total, metadata.bytes());
    }
    if (range.isQuery() || length.isEmpty()) {
      return;
    }
    long bytes = length.getAsLong();
    if (range.last().isPresent() && bytes != range.last().getAsLong() - range.first() + 1) {
      throw range.otherThan(bytes + " bytes");
    }
    if (range.first() + bytes > metadata.bytes()) {
      throw UploadAppender.tooMany(metadata);
    }
  }

  /** Whether an earlier commit has already made the blob durable. */
  private Future<Boolean> isDurable(Checkpoint item, Revision draft) {
    String sha256 = draft.sha256();
    return sha256 == null
        ? Future.succeededFuture(false)
        : blobs.exists(BlobName.key(item.id(), draft.number(), sha256));
  }

  private Future<Progress> progress(Checkpoint item, Revision draft) {
    String name = BlobName.upload(item.id(), draft.number());
    return blobs.stored(name).map(stored -> new Progress(item, draft, stored));
  }

  private Future<Progress> resume(
      Checkpoint item, Revision draft, ContentRange range, ByteSource source) {
    return open.take(BlobName.upload(item.id(), draft.number()), draft.metadata().fileName())
        .compose(
            opened -> {
              long stored = opened.upload().stored();
              if (range.first() > stored) {
                open.giveBack(opened);
                return Future.succeededFuture(new Progress(item, draft, stored));
              }
              UploadAppender appending =
                  new UploadAppender(opened.upload(), item, draft.metadata(), range, permission);
              return appending
                  .readFrom(source, BlobStore.BLOCK_BYTES)
                  .compose(bytes -> taken(item, draft, opened))
                  .recover(e -> interrupted(item, draft, opened, appending.isBroken(), e));
            });
  }

  private Future<Progress> taken(Checkpoint item, Revision draft, OpenUploads.Opened opened) {
    Progress progress = new Progress(item, draft, opened.upload().stored());
    return opened
        .upload()
        .keep()
        .compose(
            kept -> {
              if (!progress.isComplete()) {
                open.giveBack(opened);
                return Future.succeededFuture(progress);
              }
              if (!opened.upload().isInspected()) {
                // Other processes took some of the bytes, which are read back: nobody waits for
                // that.
                inspected(item, draft, opened);
                return Future.succeededFuture(progress);
              }
              // A credential in the last bytes is reported to the client that has just sent them.
              return opened
                  .upload()
                  .finish()
                  .map(
                      finished -> {
                        opened.inspection().end();
                        open.giveBack(opened);
                        return progress;
                      });
            });
  }

  /** Has all bytes of an upload inspected, which goes on whoever waits for it. */
  private Future<Void> inspected(Checkpoint item, Revision draft, OpenUploads.Opened opened) {
    return opened
        .upload()
        .finish()
        .map(
            finished -> {
              opened.inspection().end();
              open.giveBack(opened);
              return (Void) null;
            })
        .recover(e -> interrupted(item, draft, opened, true, e).mapEmpty());
  }

  private Future<Progress> interrupted(
      Checkpoint item,
      Revision draft,
      OpenUploads.Opened opened,
      boolean isBroken,
      Throwable failure) {
    if (failure instanceof Inspection.SecretFound found) {
      return open.close(opened)
          .transform(released -> blobs.abandon(opened.name()))
          .transform(
              abandoned ->
                  publication.refused(
                      actor(item), item, draft, Publication.CONTENT, found.finding()));
    }
    if (!isBroken) {
      open.giveBack(opened);
      return Future.failedFuture(failure);
    }
    Throwable told = failure instanceof BlobGone ? noSession() : failure;
    return open.close(opened).transform(released -> Future.failedFuture(told));
  }

  /** The actor of a session: whoever announced the item that it belongs to. */
  static String actor(Checkpoint item) {
    return item.isPlatform() ? item.creator() : "member:" + item.creator();
  }

  /**
   * Publishes the bytes of a session; gives the item.
   *
   * <p>Fails with {@code gone}, {@code upload-timeout}, {@code secret-detected}, {@code forbidden}
   * when the public feed is closed to the organization by now, or {@code conflict}: not pending, a
   * direct upload, bytes missing, another size or digest. After another digest the session begins
   * anew.
   *
   * @param bytes what the client believes to have sent
   * @param sha256 the digest it believes they have, in lower-case hex
   */
  public Future<CheckpointStore.Listed> commit(
      Publisher publisher, String id, long bytes, Optional<String> sha256) {
    return checkpoints
        .getCreated(publisher, id)
        .compose(
            item -> {
              Revision draft = sessionDraft(item, bytes);
              publisher.requireOpen(item.visibility());
              String wanted = sha256.orElse(draft.metadata().sha256());
              if (draft.metadata().sha256() != null && !draft.metadata().sha256().equals(wanted)) {
                throw ConflictReason.SHA_MISMATCH.of(
                    "sha256: %s was announced, not %s", draft.metadata().sha256(), wanted);
              }
              return draft.metadata().isSet()
                  ? sets.commit(publisher.actor(), item, draft, wanted)
                  : publish(publisher.actor(), item, draft, wanted);
            })
        .compose(published -> checkpoints.get(publisher.orgId(), id));
  }

  private Revision sessionDraft(Checkpoint item, long bytes) {
    Revision draft = item.draft();
    if (draft == null) {
      throw ConflictReason.NOT_PENDING.of("checkpoint %s awaits no commit", item.id());
    }
    if (!draft.resumable()) {
      throw ConflictReason.WRONG_STATUS.of(
          "the upload of %s is direct: send its bytes to its content", item.id());
    }
    if (draft.isLate(clock.millis())) {
      throw ApiError.of(
          ErrorCode.UPLOAD_TIMEOUT,
          "the session of %s is over; announce the checkpoint again",
          item.id());
    }
    if (bytes != draft.metadata().bytes()) {
      throw ConflictReason.SIZE_MISMATCH.of(
          "bytes: %s is not the %s that were announced", bytes, draft.metadata().bytes());
    }
    return draft;
  }

  private Future<Checkpoint> publish(
      String actor, Checkpoint item, Revision draft, @Nullable String wanted) {
    // When an earlier commit was cut short, its digest holds for the blob, which was flushed whole.
    // For an upload left behind it may not, so that is inspected again.
    return isDurable(item, draft)
        .compose(
            durable -> {
              if (!durable) {
                return publishUpload(actor, item, draft, wanted);
              }
              String sha256 = String.valueOf(draft.sha256());
              Inspection.requireDigest(wanted, sha256);
              return publication.publish(actor, item, draft, sha256, draft.findings());
            });
  }

  private Future<Checkpoint> publishUpload(
      String actor, Checkpoint item, Revision draft, @Nullable String wanted) {
    return open.take(BlobName.upload(item.id(), draft.number()), draft.metadata().fileName())
        .compose(
            opened ->
                opened.upload().isInspected()
                    ? publishOpened(actor, item, draft, wanted, opened)
                    : readBack(item, draft, opened)
                        .compose(read -> publishOpened(actor, item, draft, wanted, opened)));
  }

  /**
   * Waits a while for bytes that are read back. If that takes longer, a later commit finds it done.
   */
  private Future<Void> readBack(Checkpoint item, Revision draft, OpenUploads.Opened opened) {
    return Future.succeededFuture()
        .compose(taken -> requireAll(item, draft, opened))
        .onFailure(e -> open.giveBack(opened))
        .compose(
            all ->
                opened
                    .upload()
                    .finish()
                    .timeout(READ_BACK_SECONDS, TimeUnit.SECONDS)
                    .recover(e -> notReadBack(item, draft, opened, e)));
  }

  private Future<Void> notReadBack(
      Checkpoint item, Revision draft, OpenUploads.Opened opened, Throwable failure) {
    if (failure instanceof TimeoutException) {
      inspected(item, draft, opened);
      return Future.failedFuture(stillReadingBack());
    }
    return interrupted(item, draft, opened, true, failure).mapEmpty();
  }

  private static ApiError stillReadingBack() {
    return ApiError.retryLater(
        ErrorCode.OVERLOADED,
        "these bytes came by several servers and are being read back; commit again",
        RETRY_READ_BACK_MILLIS);
  }

  private Future<Checkpoint> publishOpened(
      String actor,
      Checkpoint item,
      Revision draft,
      @Nullable String wanted,
      OpenUploads.Opened opened) {
    return Future.succeededFuture()
        .compose(taken -> requireAll(item, draft, opened))
        .compose(all -> opened.upload().finish())
        .map(finished -> opened.inspection().end())
        .compose(sha256 -> publish(actor, item, draft, wanted, opened, sha256))
        .recover(e -> notPublished(item, draft, opened, e));
  }

  private static Future<Void> requireAll(
      Checkpoint item, Revision draft, OpenUploads.Opened opened) {
    long stored = opened.upload().stored();
    if (stored < draft.metadata().bytes()) {
      throw ConflictReason.OBJECT_MISSING.of(
          "%s of %s bytes of %s have arrived", stored, draft.metadata().bytes(), item.id());
    }
    return Future.succeededFuture();
  }

  private Future<Checkpoint> publish(
      String actor,
      Checkpoint item,
      Revision draft,
      @Nullable String wanted,
      OpenUploads.Opened opened,
      String sha256) {
    if (wanted != null && !wanted.equals(sha256)) {
      return open.close(opened)
          .transform(closed -> blobs.abandon(opened.name()))
          .compose(
              abandoned -> {
                Inspection.requireDigest(wanted, sha256);
                throw new IllegalStateException("the digests differ");
              });
    }
    List<String> findings = ReviewCheck.findings(draft.metadata(), opened.inspection().beginning());
    return publication
        .note(item, draft, sha256, findings)
        .compose(noted -> open.close(opened))
        .compose(
            closed -> blobs.publish(opened.name(), BlobName.key(item.id(), draft.number(), sha256)))
        .compose(durable -> publication.publish(actor, item, draft, sha256, findings));
  }

  private Future<Checkpoint> notPublished(
      Checkpoint item, Revision draft, OpenUploads.Opened opened, Throwable failure) {
    if (failure instanceof Inspection.SecretFound) {
      return interrupted(item, draft, opened, true, failure).mapEmpty();
    }
    if (failure instanceof BlobGone) {
      return Future.failedFuture(
          ConflictReason.OBJECT_MISSING.of("the bytes of %s are lost; send them again", item.id()));
    }
    open.giveBack(opened);
    return Future.failedFuture(failure);
  }
}
