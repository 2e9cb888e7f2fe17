package dev.bourse.uploads;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.ByteSource;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.checkpoint.Publication;
import dev.bourse.checkpoint.ReviewCheck;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.checkpoint.SetStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/**
 * Takes the bytes of the files of announced sets, each in requests of its own and several files at
 * a time. A file whose last byte came is inspected to its end, must have the digest that was
 * announced, and is made durable; nobody reads it before the set is committed.
 */
public final class SetUploadService {
  private final UploadSessionService sessions;
  private final OpenUploads open;
  private final SetStore sets;
  private final Publication publication;
  private final PublishPermission permission;
  private final BlobStore blobs;

  /**
   * @param sessions know what a session is for, and share one limit per owner with this
   */
  public SetUploadService(
      UploadSessionService sessions,
      SetStore sets,
      Publication publication,
      PublishPermission permission,
      BlobStore blobs) {
    this.sessions = sessions;
    this.open = sessions.open();
    this.sets = sets;
    this.publication = publication;
    this.permission = permission;
    this.blobs = blobs;
  }

  /** A file whose bytes a session brings. */
  private record Target(Checkpoint item, Revision draft, SetFile file) {
    String upload() {
      return BlobName.fileUpload(item.id(), draft.number(), file.number());
    }

    Progress at(long stored, boolean isThere) {
      return new Progress(item, draft, stored, isThere);
    }

    Progress there() {
      return at(file.bytes(), true);
    }
  }

  /**
   * How far a file is.
   *
   * @param stored bytes that are kept, from the first on
   * @param isThere whether the file is whole, of its digest and durable
   */
  public record Progress(Checkpoint item, Revision draft, long stored, boolean isThere) {}

  /**
   * Takes bytes of a file, or tells how far it is, as {@link UploadSessionService#put} does for a
   * single file. Also fails with {@code not-found} for a number that was not announced and {@code
   * conflict} for another digest, after which the file begins anew.
   */
  public Future<Progress> put(
      String session, int number, Optional<String> contentRange, ByteSource source) {
    ContentRange range = contentRange.map(ContentRange::parse).orElse(ContentRange.WHOLE);
    return sessions
        .awaiting(session)
        .compose(awaiting -> find(awaiting, number))
        .compose(
            target -> {
              UploadSessionService.requireFit(range, target.file().metadata(), source.length());
              if (target.file().key() != null) {
                return Future.succeededFuture(target.there());
              }
              return range.isQuery()
                  ? ask(target, source)
                  : sessions.within(target.item(), () -> receive(target, range, source));
            });
  }

  private Future<Target> find(UploadSessionService.Awaiting awaiting, int number) {
    Checkpoint item = awaiting.item();
    Revision draft = awaiting.draft();
    if (!draft.metadata().isSet()) {
      throw ConflictReason.WRONG_STATUS.of(
          "%s is a single file: send its bytes to session_url", item.id());
    }
    return sets.find(item.id(), draft.number(), number)
        .map(
            found ->
                new Target(
                    item,
                    draft,
                    found.orElseThrow(
                        () ->
                            ApiError.of(
                                ErrorCode.NOT_FOUND,
                                "number: %s was announced with %s files, numbered from 0",
                                item.id(),
                                draft.metadata().files()))));
  }

  /** Tells how far a file is; one whose bytes are all there is ended, should that not be done. */
  private Future<Progress> ask(Target target, ByteSource source) {
    return blobs
        .stored(target.upload())
        .compose(
            stored ->
                stored < target.file().bytes()
                    ? Future.succeededFuture(target.at(stored, false))
                    : sessions.within(
                        target.item(), () -> receive(target, ContentRange.WHOLE, source)));
  }

  private Future<Progress> receive(Target target, ContentRange range, ByteSource source) {
    return open.take(target.upload(), target.file().name())
        .compose(
            opened -> {
              long stored = opened.upload().stored();
              if (range.first() > stored) {
                open.giveBack(opened);
                return Future.succeededFuture(target.at(stored, false));
              }
              UploadAppender appending =
                  new UploadAppender(
                      opened.upload(), target.item(), target.file().metadata(), range, permission);
              return appending
                  .readFrom(source, BlobStore.BLOCK_BYTES)
                  .compose(bytes -> opened.upload().keep())
                  .compose(kept -> taken(target, opened))
                  .recover(e -> interrupted(target, opened, appending.isBroken(), e));
            });
  }

  private Future<Progress> taken(Target target, OpenUploads.Opened opened) {
    if (opened.upload().stored() < target.file().bytes()) {
      open.giveBack(opened);
      return Future.succeededFuture(target.at(opened.upload().stored(), false));
    }
    return opened
        .upload()
        .finish()
        .compose(
            finished -> {
              String sha256 = opened.inspection().end();
              return sha256.equals(target.file().sha256())
                  ? publish(target, opened)
                  : refuse(target, opened, sha256);
            });
  }

  private Future<Progress> publish(Target target, OpenUploads.Opened opened) {
    SetFile file = target.file();
    String key =
        BlobName.fileKey(target.item().id(), target.draft().number(), file.number(), file.sha256());
    List<String> findings = ReviewCheck.findings(file.metadata(), opened.inspection().beginning());
    return open.close(opened)
        .compose(closed -> blobs.publish(target.upload(), key))
        .compose(
            durable -> sets.arrived(target.item(), target.draft().number(), file, key, findings))
        .compose(
            stored ->
                stored
                    ? Future.succeededFuture(target.there())
                    : sets.find(target.item().id(), target.draft().number(), file.number())
                        .map(
                            now -> {
                              if (now.isEmpty() || now.get().key() == null) {
                                throw UploadSessionService.noSession();
                              }
                              return target.there();
                            }));
  }

  private Future<Progress> refuse(Target target, OpenUploads.Opened opened, String sha256) {
    return open.close(opened)
        .transform(closed -> blobs.abandon(opened.name()))
        .compose(
            abandoned ->
                Future.failedFuture(
                    ConflictReason.SHA_MISMATCH.of(
                        "%s has SHA-256 %s, not %s as announced; send it anew, or announce the set"
                            + " again",
                        target.file().path(), sha256, target.file().sha256())));
  }

  private Future<Progress> interrupted(
      Target target, OpenUploads.Opened opened, boolean isBroken, Throwable failure) {
    if (failure instanceof Inspection.SecretFound found) {
      return open.close(opened)
          .transform(released -> blobs.abandon(opened.name()))
          .transform(
              abandoned ->
                  publication.refused(
                      UploadSessionService.actor(target.item()),
                      target.item(),
                      target.draft(),
                      target.file().path(),
                      found.finding()));
    }
    if (!isBroken) {
      open.giveBack(opened);
      return Future.failedFuture(failure);
    }
    Throwable told = failure instanceof BlobGone ? UploadSessionService.noSession() : failure;
    return open.close(opened).transform(released -> Future.failedFuture(told));
  }
}
