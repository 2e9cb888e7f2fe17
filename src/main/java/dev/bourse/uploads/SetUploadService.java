package dev.bourse.uploads;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.ByteSource;
import dev.bourse.blob.Reading;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.ConflictReason;
import dev.bourse.checkpoint.ReviewCheck;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.checkpoint.SetStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Takes the bytes of the files of announced sets, each in requests of its own and several files at
 * a time. A file whose last byte came is inspected to its end, must have the digest that was
 * announced, and is made durable; nobody reads it before the set is committed.
 */
public final class SetUploadService {
  private final UploadSessionService sessions;
  private final ResumableUploads uploads;
  private final SetStore sets;
  private final BlobStore blobs;

  /**
   * @param sessions know what a session is for
   */
  public SetUploadService(
      UploadSessionService sessions, ResumableUploads uploads, SetStore sets, BlobStore blobs) {
    this.sessions = sessions;
    this.uploads = uploads;
    this.sets = sets;
    this.blobs = blobs;
  }

  /** A file whose bytes a session brings. */
  private record Awaited(SetFile file, ResumableUploads.Target target) {
    static Awaited of(UploadSessionService.Awaiting set, SetFile file) {
      Checkpoint item = set.item();
      Revision draft = set.draft();
      String upload = BlobName.fileUpload(item.id(), draft.number(), file.number());
      return new Awaited(
          file,
          new ResumableUploads.Target(
              item,
              draft,
              upload,
              file.metadata(),
              file.path(),
              sha256 -> BlobName.fileKey(item.id(), draft.number(), file.number(), sha256)));
    }

    String item() {
      return target.item().id();
    }

    int revision() {
      return target.draft().number();
    }

    String key() {
      return target.key().apply(file.sha256());
    }
  }

  /**
   * Takes bytes of a file, or tells how far it is, as {@link UploadSessionService#put} does for a
   * single file; it is complete once it is whole, of its digest and durable. Also fails with {@code
   * not-found} for a number that was not announced and {@code conflict} for another digest, after
   * which the file begins anew.
   */
  public Future<ResumableUploads.Progress> put(
      String session, int number, Optional<String> contentRange, ByteSource source) {
    ContentRange range = contentRange.map(ContentRange::parse).orElse(ContentRange.WHOLE);
    return sessions
        .awaiting(session)
        .compose(set -> find(set, number))
        .compose(
            awaited -> {
              range.requireFit(awaited.file().metadata(), source.length());
              if (awaited.file().key() != null) {
                return Future.succeededFuture(awaited.target().complete());
              }
              return range.isQuery()
                  ? query(awaited, source)
                  : recordIfDurable(awaited, () -> receive(awaited, range, source));
            });
  }

  private Future<Awaited> find(UploadSessionService.Awaiting set, int number) {
    Checkpoint item = set.item();
    Revision draft = set.draft();
    if (!draft.metadata().isSet()) {
      throw ConflictReason.WRONG_STATUS.of(
          "%s is a single file: send its bytes to session_url", item.id());
    }
    return sets.find(item.id(), draft.number(), number)
        .map(
            found ->
                Awaited.of(
                    set,
                    found.orElseThrow(
                        () ->
                            ApiError.of(
                                ErrorCode.NOT_FOUND,
                                "number: %s was announced with %s files, numbered from 0",
                                item.id(),
                                draft.metadata().files()))));
  }

  /** A file that an earlier request made durable, without its row: the process ended in between. */
  private Future<ResumableUploads.Progress> arriveLate(Awaited awaited) {
    int beginning = (int) Math.min(Inspection.BEGINNING, awaited.file().bytes());
    return (beginning == 0
            ? Future.succeededFuture(Buffer.buffer())
            : blobs
                .read(awaited.key())
                .compose(
                    (Reading reading) ->
                        reading.onlyPiece(0, beginning).eventually(reading::close)))
        .compose(bytes -> arrive(awaited, bytes.getBytes()));
  }

  private Future<ResumableUploads.Progress> recordIfDurable(
      Awaited awaited, Supplier<Future<ResumableUploads.Progress>> otherwise) {
    return blobs
        .exists(awaited.key())
        .compose(durable -> durable ? arriveLate(awaited) : otherwise.get());
  }

  /**
   * Returns how many bytes are stored, and finishes a file whose bytes are all stored. It checks
   * last whether the file is durable, because an upload that another request has finished has no
   * bytes any more.
   */
  private Future<ResumableUploads.Progress> query(Awaited awaited, ByteSource source) {
    ResumableUploads.Target target = awaited.target();
    return uploads.hasAll(target)
        ? receive(awaited, ContentRange.WHOLE, source)
        : blobs
            .stored(target.upload())
            .compose(
                stored ->
                    recordIfDurable(
                        awaited,
                        () ->
                            stored < awaited.file().bytes()
                                ? Future.succeededFuture(target.at(stored))
                                : receive(awaited, ContentRange.WHOLE, source)));
  }

  private Future<ResumableUploads.Progress> receive(
      Awaited awaited, ContentRange range, ByteSource source) {
    ResumableUploads.Target target = awaited.target();
    return uploads.within(
        target.item(),
        () ->
            uploads.receive(
                target,
                range,
                source,
                opened ->
                    uploads
                        .store(
                            target,
                            opened,
                            sha256 -> refusal(awaited.file(), sha256),
                            sha256 -> Future.succeededFuture())
                        .compose(stored -> arrive(awaited, opened.inspection().beginning()))));
  }

  private static Optional<ApiError> refusal(SetFile file, String sha256) {
    return sha256.equals(file.sha256())
        ? Optional.empty()
        : Optional.of(
            ConflictReason.SHA_MISMATCH.of(
                "%s has SHA-256 %s, not %s as announced; send it anew, or announce the set again",
                file.path(), sha256, file.sha256()));
  }

  /** The file is durable; another request may have told of that before. */
  private Future<ResumableUploads.Progress> arrive(Awaited awaited, byte[] beginning) {
    ResumableUploads.Target target = awaited.target();
    SetFile file = awaited.file();
    List<String> findings = new ArrayList<>(ReviewCheck.findings(file.metadata(), beginning));
    // What its name tells is said of the name that each set gives it.
    findings.removeAll(ReviewCheck.findings(file.metadata(), new byte[0]));
    return sets.arrived(target.item(), awaited.revision(), file, awaited.key(), findings)
        .compose(
            stored ->
                stored
                    ? Future.succeededFuture(target.complete())
                    : sets.find(awaited.item(), awaited.revision(), file.number())
                        .map(
                            now -> {
                              if (now.isEmpty() || now.get().key() == null) {
                                throw ResumableUploads.noSession();
                              }
                              return target.complete();
                            }));
  }
}
