package dev.bourse.uploads;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.ByteSource;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.checkpoint.Publication;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.ReviewCheck;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.SetStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Secrets;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes the bytes of announced checkpoints that come in sessions, request after request, and
 * publishes them when they are committed; in the order that {@link DirectUploadService} keeps.
 */
public final class UploadSessionService {
  private final CheckpointService checkpoints;
  private final Publication publication;
  private final CheckpointStore store;
  private final ResumableUploads uploads;
  private final BlobStore blobs;
  private final SetPublication sets;
  private final Clock clock;

  public UploadSessionService(
      CheckpointService checkpoints,
      Publication publication,
      CheckpointStore store,
      ResumableUploads uploads,
      BlobStore blobs,
      SetStore sets,
      Clock clock) {
    this.checkpoints = checkpoints;
    this.publication = publication;
    this.store = store;
    this.uploads = uploads;
    this.blobs = blobs;
    this.sets = new SetPublication(sets, publication, blobs);
    this.clock = clock;
  }

  /** An item and the draft of it whose bytes a session brings. */
  record Awaiting(Checkpoint item, Revision draft) {
    /** The draft as a single file. */
    private ResumableUploads.Target file() {
      return new ResumableUploads.Target(
          item,
          draft,
          BlobName.upload(item.id(), draft.number()),
          draft.metadata(),
          Publication.CONTENT,
          sha256 -> BlobName.key(item.id(), draft.number(), sha256));
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
  public Future<ResumableUploads.Progress> put(
      String session, Optional<String> contentRange, ByteSource source) {
    ContentRange range = contentRange.map(ContentRange::parse).orElse(ContentRange.WHOLE);
    return awaiting(session)
        .compose(
            awaiting -> {
              if (awaiting.draft().metadata().isSet()) {
                throw ConflictReason.WRONG_STATUS.of(
                    "%s is a set: send each of its files to session_url/number",
                    awaiting.item().id());
              }
              ResumableUploads.Target file = awaiting.file();
              range.requireFit(file.metadata(), source.length());
              return isDurable(awaiting)
                  .compose(
                      durable ->
                          durable
                              ? Future.succeededFuture(file.complete())
                              : range.isQuery() && !uploads.hasAll(file)
                                  ? progress(file)
                                  : receive(file, range, source));
            });
  }

  /** What a session is for; {@code gone} when there is none. */
  Future<Awaiting> awaiting(String session) {
    return store
        .findBySession(Secrets.stored(session))
        .map(
            found -> {
              Checkpoint item = found.orElseThrow(ResumableUploads::noSession);
              Revision draft = item.draft();
              if (draft == null
                  || draft.isLate(clock.millis())
                  || !Secrets.stored(session).equals(draft.sessionSha256())) {
                throw ResumableUploads.noSession();
              }
              return new Awaiting(item, draft);
            });
  }

  /** Whether an earlier commit has already made the blob durable. */
  private Future<Boolean> isDurable(Awaiting awaiting) {
    Revision draft = awaiting.draft();
    String sha256 = draft.sha256();
    return sha256 == null
        ? Future.succeededFuture(false)
        : blobs.exists(BlobName.key(awaiting.item().id(), draft.number(), sha256));
  }

  private Future<ResumableUploads.Progress> receive(
      ResumableUploads.Target file, ContentRange range, ByteSource source) {
    ContentRange brought = range.isQuery() ? ContentRange.WHOLE : range;
    return uploads.within(
        file.item(), () -> uploads.receive(file, brought, source, opened -> end(file, opened)));
  }

  private Future<ResumableUploads.Progress> progress(ResumableUploads.Target file) {
    return blobs
        .stored(file.upload())
        .map(stored -> stored == file.metadata().bytes() ? file.complete() : file.at(stored));
  }

  /**
   * A credential in the last bytes is reported to the client that has just sent them. What other
   * processes took would have to be read back first: that is left to the commit, which may come to
   * any of them.
   */
  private Future<ResumableUploads.Progress> end(
      ResumableUploads.Target file, OpenUploads.Opened opened) {
    Future<?> seen =
        opened.upload().isInspected() ? uploads.finish(file, opened) : Future.succeededFuture();
    return seen.map(
        ended -> {
          uploads.pause(file, opened);
          return file.complete();
        });
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
   * @param sha256 the digest it believes they have, in hex
   */
  public Future<CheckpointStore.Listed> commit(
      Publisher publisher, String id, long bytes, Optional<String> sha256) {
    return checkpoints
        .getCreated(publisher, id)
        .compose(
            item -> {
              Revision draft = sessionDraft(item, bytes);
              publisher.requireOpen(item.visibility());
              String wanted =
                  sha256
                      .map(digest -> digest.toLowerCase(Locale.ROOT))
                      .orElse(draft.metadata().sha256());
              if (draft.metadata().sha256() != null && !draft.metadata().sha256().equals(wanted)) {
                throw ConflictReason.SHA_MISMATCH.of(
                    "sha256: %s was announced, not %s", draft.metadata().sha256(), wanted);
              }
              return draft.metadata().isSet()
                  ? sets.commit(publisher.actor(), item, draft, wanted)
                  : publish(publisher.actor(), new Awaiting(item, draft), wanted);
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

  private Future<Checkpoint> publish(String actor, Awaiting awaiting, @Nullable String wanted) {
    // When an earlier commit was cut short, its digest holds for the blob, which was flushed whole.
    // For an upload left behind it may not, so that is inspected again.
    return isDurable(awaiting)
        .compose(
            durable -> {
              if (!durable) {
                return publish(actor, awaiting.file(), wanted);
              }
              Revision draft = awaiting.draft();
              String sha256 = String.valueOf(draft.sha256());
              Inspection.requireDigest(wanted, sha256);
              return publication.publish(actor, awaiting.item(), draft, sha256, draft.findings());
            });
  }

  private Future<Checkpoint> publish(
      String actor, ResumableUploads.Target file, @Nullable String wanted) {
    return uploads
        .take(file)
        .compose(
            opened -> {
              long stored = opened.upload().stored();
              if (stored < file.metadata().bytes()) {
                uploads.pause(file, opened);
                throw ConflictReason.OBJECT_MISSING.of(
                    "%s of %s bytes of %s have arrived",
                    stored, file.metadata().bytes(), file.item().id());
              }
              return publish(actor, file, wanted, opened);
            });
  }

  private Future<Checkpoint> publish(
      String actor,
      ResumableUploads.Target file,
      @Nullable String wanted,
      OpenUploads.Opened opened) {
    Checkpoint item = file.item();
    Revision draft = file.draft();
    Supplier<List<String>> findings =
        () -> ReviewCheck.findings(file.metadata(), opened.inspection().beginning());
    return uploads
        .store(
            file,
            opened,
            sha256 -> Inspection.refusal(wanted, sha256),
            sha256 -> publication.note(item, draft, sha256, findings.get()))
        .recover(
            e ->
                Future.failedFuture(
                    e instanceof BlobGone
                        ? ConflictReason.OBJECT_MISSING.of(
                            "the bytes of %s are lost; send them again", item.id())
                        : e))
        .compose(sha256 -> publication.publish(actor, item, draft, sha256, findings.get()));
  }
}
