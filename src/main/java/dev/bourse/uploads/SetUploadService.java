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
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Receives the files of announced sets, each in requests of its own and several at a time. A
 * complete file is inspected, compared with its announced digest and stored durably; it is not
 * readable before the set is committed.
 */
public final class SetUploadService {
  private final UploadSessionService sessions;
  private final ResumableUploads uploads;
  private final SetStore sets;
  private final BlobStore blobs;

  /**
   * @param sessions look up sessions
   */
  public SetUploadService(
      UploadSessionService sessions, ResumableUploads uploads, SetStore sets, BlobStore blobs) {
    this.sessions = sessions;
    this.uploads = uploads;
    this.sets = sets;
    this.blobs = blobs;
  }

  /** A file that a session receives. */
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
   * Receives bytes of a file, or returns its progress, like {@link UploadSessionService#put} for a
   * single file; the file is complete when it is whole, has its digest and is durable. Also fails
   * with {@code not-found} for a number that was not announced and {@code conflict} for another
   * digest, after which the file starts again.
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
                            // The rows of a set end with its draft, perhaps since it was read.
                            number >= 0 && number < draft.metadata().files()
                                ? ResumableUploads.noSession()
                                : ApiException.of(
                                    ErrorCode.NOT_FOUND,
                                    "number: %s was announced with %s files, numbered from 0",
                                    item.id(),
                                    draft.metadata().files()))));
  }

  /** Records a file that an earlier request stored durably before its process died. */
  private Future<ResumableUploads.Progress> recordLateArrival(Awaited awaited) {
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
        .compose(durable -> durable ? recordLateArrival(awaited) : otherwise.get());
  }

  /**
   * Returns how many bytes are stored, and finishes a file whose bytes are all stored. Checks last
   * whether the file is durable, because an upload that another request has finished has no bytes
   * any more.
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

  private static Optional<ApiException> refusal(SetFile file, String sha256) {
    return sha256.equals(file.sha256())
        ? Optional.empty()
        : Optional.of(
            ConflictReason.SHA_MISMATCH.of(
                "%s has SHA-256 %s, not the announced %s; send it again, or announce the set again",
                file.path(), sha256, file.sha256()));
  }

  /** Records that the file is durable, unless another request has recorded it. */
  private Future<ResumableUploads.Progress> arrive(Awaited awaited, byte[] beginning) {
    ResumableUploads.Target target = awaited.target();
    SetFile file = awaited.file();
    List<String> findings = new ArrayList<>(ReviewCheck.findings(file.metadata(), beginning));
    // Remarks about the name are excluded, because each set names the file itself.
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
