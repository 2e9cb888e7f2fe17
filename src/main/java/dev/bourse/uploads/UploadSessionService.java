package dev.bourse.uploads;

import dev.bourse.blob.BlobNotFoundException;
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
import dev.bourse.core.ApiException;
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
 * Receives the bytes of announced checkpoints in sessions of several requests, and publishes them
 * when they are committed, in the same order as {@link DirectUploadService}.
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

  /** An item and the draft that a session receives. */
  record Awaiting(Checkpoint item, Revision draft) {
    /** Returns the draft as a single file. */
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
   * Receives bytes of a session, or returns its progress. Bytes that are stored already are
   * skipped; a request that would leave a gap stores nothing. An interrupted request keeps the
   * received bytes.
   *
   * <p>Fails with {@code gone} if there is no such session, it has expired or the member who
   * announced it may no longer publish it, also in the middle of a request; {@code bad-request} for
   * a malformed range, {@code conflict} for another size than announced, {@code secret-detected},
   * {@code overloaded} while another request sends bytes.
   *
   * @param contentRange the header; empty if the request contains the whole file
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

  /** Returns the item and draft of a session; fails with {@code gone} if there is none. */
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

  /** Returns true if an earlier commit has already stored the blob durably. */
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
   * Reports a credential in the last bytes to the client that has just sent them. If other
   * processes received earlier bytes, which would have to be read back first, that is left to the
   * commit, which may reach any process.
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
   * Publishes the bytes of a session; returns the item.
   *
   * <p>Fails with {@code gone}, {@code upload-timeout}, {@code secret-detected}, {@code forbidden}
   * if the public feed has been closed to the organization, or {@code conflict}: not pending, a
   * direct upload, bytes missing, another size or digest. After another digest the session starts
   * again.
   *
   * @param bytes the length that the client has sent
   * @param sha256 the digest that the client has computed, in hex
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
      throw ConflictReason.NOT_PENDING.of("checkpoint %s has no upload to commit", item.id());
    }
    if (!draft.resumable()) {
      throw ConflictReason.WRONG_STATUS.of(
          "the upload of %s is direct: send its bytes to its content", item.id());
    }
    if (draft.isLate(clock.millis())) {
      throw ApiException.of(
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
    // If an earlier commit was interrupted, its digest is valid for the blob, which was flushed as
    // a whole. It may not be valid for a leftover upload, so that is inspected again.
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
                    e instanceof BlobNotFoundException
                        ? ConflictReason.OBJECT_MISSING.of(
                            "the bytes of %s are lost; send them again", item.id())
                        : e))
        .compose(sha256 -> publication.publish(actor, item, draft, sha256, findings.get()));
  }
}
