package dev.bourse.uploads;

import dev.bourse.blob.BlobStore;
import dev.bourse.blob.ByteSource;
import dev.bourse.blob.StorageBusyException;
import dev.bourse.blob.Upload;
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
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/**
 * Receives the bytes of announced checkpoints in one request, and publishes them.
 *
 * <p>The order is always: receive and inspect all bytes; store them durably under a key that no
 * other bytes ever have; then move the item to the new revision and update its owner's storage in
 * one commit. A crash in between leaves the item unchanged, and bytes that the sweep deletes.
 */
public final class DirectUploadService {
  private static final int ATTEMPT_CHARACTERS = 16;
  private static final String CHARSET = ";charset=";

  private static final Pattern CHARSET_PARAMETER =
      Pattern.compile(CHARSET + "(\"[^\"]*\"|[^;\"]+)");

  private final CheckpointService checkpoints;
  private final Publication publication;
  private final ResumableUploads resumable;
  private final PublishPermission permission;
  private final BlobStore blobs;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param resumable closes idle uploads when too many are open, and shares one limit per owner
   *     with direct uploads
   */
  public DirectUploadService(
      CheckpointService checkpoints,
      Publication publication,
      ResumableUploads resumable,
      PublishPermission permission,
      BlobStore blobs,
      Clock clock,
      RandomGenerator random) {
    this.checkpoints = checkpoints;
    this.publication = publication;
    this.resumable = resumable;
    this.permission = permission;
    this.blobs = blobs;
    this.clock = clock;
    this.random = random;
  }

  /**
   * Receives all bytes of a direct upload and publishes them; returns the item.
   *
   * <p>Fails with {@code gone}, {@code conflict} (not pending, resumable upload, another size or
   * digest than announced), {@code forbidden} if the public feed has been closed to the
   * organization, {@code unsupported-media-type} or {@code secret-detected}.
   */
  public Future<CheckpointStore.Listed> put(Publisher publisher, String id, ByteSource source) {
    return checkpoints
        .getCreated(publisher, id)
        .compose(
            item -> {
              Revision draft = directDraft(item);
              publisher.requireOpen(item.visibility());
              requireFit(draft.metadata(), source);
              return resumable.within(item, () -> receive(publisher.actor(), item, draft, source));
            })
        .compose(published -> checkpoints.get(publisher.orgId(), id));
  }

  private Revision directDraft(Checkpoint item) {
    Revision draft = item.draft();
    if (draft == null || draft.isLate(clock.millis())) {
      throw ConflictReason.NOT_PENDING.of(
          "checkpoint %s accepts no more bytes; announce it again", item.id());
    }
    if (draft.resumable()) {
      throw ConflictReason.RESUMABLE_UPLOAD.of(
          "send the bytes of %s to its session_url, then commit", item.id());
    }
    return draft;
  }

  private static void requireFit(Metadata metadata, ByteSource source) {
    String sent = source.contentType().orElse("");
    if (!isType(normal(sent), normal(metadata.contentType()))) {
      throw ApiException.of(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE,
          "Content-Type is %s; expected %s, as announced",
          sent.isEmpty() ? "missing" : Text.shown(sent),
          metadata.contentType());
    }
    OptionalLong length = source.length();
    if (length.isPresent() && length.getAsLong() != metadata.bytes()) {
      throw sizeMismatch(metadata, length.getAsLong());
    }
  }

  /** Returns true if a body's type is the announced one; HTTP clients may add a charset. */
  private static boolean isType(String sent, String announced) {
    return sent.equals(announced)
        || (!announced.contains(CHARSET)
            && CHARSET_PARAMETER.matcher(sent).replaceFirst("").equals(announced));
  }

  /** Normalizes a type: case and blanks do not matter. */
  private static String normal(String contentType) {
    return contentType.replaceAll("\\s", "").toLowerCase(Locale.ROOT);
  }

  private static ApiException sizeMismatch(Metadata metadata, long bytes) {
    return ConflictReason.SIZE_MISMATCH.of(
        "the body has %s bytes; %s were announced", bytes, metadata.bytes());
  }

  private Future<Upload> open(String name, Inspection inspection) {
    return blobs
        .open(name, inspection)
        .recover(
            e ->
                e instanceof StorageBusyException
                    ? resumable.closeLongestIdle().compose(closed -> blobs.open(name, inspection))
                    : Future.failedFuture(e));
  }

  private Future<Checkpoint> receive(
      String actor, Checkpoint item, Revision draft, ByteSource source) {
    String name =
        BlobName.directUpload(item.id(), draft.number(), Ids.base62(random, ATTEMPT_CHARACTERS));
    Inspection inspection = new Inspection(draft.metadata().fileName());
    return open(name, inspection)
        .compose(
            upload ->
                new UploadAppender(upload, item, draft.metadata(), ContentRange.WHOLE, permission)
                    .readFrom(source, BlobStore.BLOCK_BYTES)
                    .compose(
                        bytes -> {
                          if (bytes != draft.metadata().bytes()) {
                            throw sizeMismatch(draft.metadata(), bytes);
                          }
                          return upload.finish();
                        })
                    .compose(
                        finished -> {
                          String sha256 = inspection.end();
                          Inspection.requireDigest(draft.metadata().sha256(), sha256);
                          return upload.release().map(sha256);
                        })
                    .recover(e -> upload.release().transform(released -> Future.failedFuture(e))))
        .compose(
            sha256 ->
                blobs
                    .publish(name, BlobName.key(item.id(), draft.number(), sha256))
                    .compose(
                        durable ->
                            publication.publish(
                                actor,
                                item,
                                draft,
                                sha256,
                                ReviewCheck.findings(draft.metadata(), inspection.beginning()))))
        .recover(
            e ->
                blobs
                    .abandon(name)
                    .transform(
                        abandoned ->
                            e instanceof Inspection.SecretFoundException found
                                ? publication.refused(
                                    actor, item, draft, Publication.CONTENT, found.finding())
                                : Future.failedFuture(e)));
  }
}
