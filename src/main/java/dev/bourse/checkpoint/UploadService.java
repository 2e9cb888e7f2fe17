package dev.bourse.checkpoint;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.Upload;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Takes the bytes of announced checkpoints and publishes them.
 *
 * <p>The order is always: all bytes there and inspected; durable under a key that no other bytes
 * ever have; then one commit, which moves the item to the new revision and the organization's
 * storage with it. A crash in between leaves the item as it was, and bytes that the sweep deletes.
 */
public final class UploadService {
  private static final int ATTEMPT_CHARACTERS = 16;

  private final CheckpointService checkpoints;
  private final CheckpointStore store;
  private final BlobStore blobs;
  private final OpenUploads open;
  private final Clock clock;
  private final RandomGenerator random;

  public UploadService(
      CheckpointService checkpoints,
      CheckpointStore store,
      BlobStore blobs,
      Clock clock,
      RandomGenerator random) {
    this.checkpoints = checkpoints;
    this.store = store;
    this.blobs = blobs;
    this.open = new OpenUploads(blobs, clock);
    this.clock = clock;
    this.random = random;
  }

  /** Closes uploads whose clients have paused. */
  public Future<Void> closeIdle() {
    return open.closeIdle();
  }

  // Direct uploads.

  /**
   * Takes all bytes of a direct upload and publishes them; gives the item.
   *
   * <p>Fails with {@code gone}, {@code conflict} (not pending, resumable upload, another size or
   * digest than announced), {@code unsupported-media-type} or {@code secret-detected}.
   */
  public Future<CheckpointStore.Listed> putContent(Principal caller, String id, ByteSource source) {
    return checkpoints
        .getCreated(caller, id)
        .compose(
            item -> {
              Revision draft = directDraft(item);
              requireFit(draft.facts(), source);
              return receive(caller, item, draft, source);
            })
        .compose(landed -> checkpoints.get(caller, id));
  }

  private Revision directDraft(Checkpoint item) {
    Revision draft = item.draft();
    if (draft == null || draft.isLate(clock.millis())) {
      throw Refusal.NOT_PENDING.of("checkpoint " + item.id() + " awaits no bytes; announce it");
    }
    if (draft.resumable()) {
      throw Refusal.RESUMABLE_UPLOAD.of(
          "the bytes of " + item.id() + " go to its session_url, then commit");
    }
    return draft;
  }

  private static void requireFit(Facts facts, ByteSource source) {
    String told = source.contentType().orElse("");
    if (!normal(told).equals(normal(facts.contentType()))) {
      throw ApiError.of(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE,
          "Content-Type is "
              + (told.isEmpty() ? "missing" : Text.shown(told))
              + "; expected "
              + facts.contentType()
              + ", as announced");
    }
    OptionalLong length = source.length();
    if (length.isPresent() && length.getAsLong() != facts.bytes()) {
      throw sizeMismatch(facts, length.getAsLong());
    }
  }

  /** Types that differ in case and blanks alone are one. */
  private static String normal(String contentType) {
    return contentType.replaceAll("\\s", "").toLowerCase(Locale.ROOT);
  }

  private static ApiError sizeMismatch(Facts facts, long bytes) {
    return Refusal.SIZE_MISMATCH.of(
        "the body has " + bytes + " bytes; " + facts.bytes() + " were announced");
  }

  private static ApiError tooMany(Facts facts) {
    return Refusal.SIZE_MISMATCH.of(
        "more bytes came than the " + facts.bytes() + " that were announced");
  }

  private Future<Checkpoint> receive(
      Principal caller, Checkpoint item, Revision draft, ByteSource source) {
    String name =
        BlobName.directUpload(item.id(), draft.number(), Ids.base62(random, ATTEMPT_CHARACTERS));
    Inspection inspection = new Inspection(draft.facts().fileName());
    return blobs
        .open(name, inspection)
        .compose(
            upload ->
                source
                    .read(BlobStore.BLOCK_BYTES, new Appending(upload, draft.facts(), 0)::take)
                    .compose(
                        bytes -> {
                          if (bytes != draft.facts().bytes()) {
                            throw sizeMismatch(draft.facts(), bytes);
                          }
                          String sha256 = inspection.end();
                          requireDigest(draft.facts().sha256(), sha256);
                          return upload.release().map(sha256);
                        })
                    .recover(e -> upload.release().transform(released -> Future.failedFuture(e))))
        .compose(
            sha256 ->
                blobs
                    .publish(name, BlobName.key(item.id(), draft.number(), sha256))
                    .compose(durable -> land(caller, item, draft, sha256, inspection)))
        .recover(
            e ->
                blobs
                    .abandon(name)
                    .transform(abandoned -> refused(caller.actor(), item, draft, e)));
  }

  /** Hands blocks to an upload, up to what was announced. */
  private static final class Appending {
    private final Upload upload;
    private final Facts facts;
    private long skipped;
    private long taken;
    private boolean broken;

    /**
     * @param skipping bytes that are there already and are passed over
     */
    Appending(Upload upload, Facts facts, long skipping) {
      this.upload = upload;
      this.facts = facts;
      this.skipped = skipping;
      this.taken = upload.stored();
    }

    Future<Void> take(byte[] bytes, int from, int to) {
      int first = from + (int) Math.min(skipped, to - from);
      skipped -= first - from;
      taken += to - first;
      if (taken > facts.bytes()) {
        return Future.failedFuture(tooMany(facts));
      }
      return first == to
          ? Future.succeededFuture()
          : upload.append(bytes, first, to).onFailure(e -> broken = true);
    }

    /** Whether the inspection has seen bytes that are not kept. */
    boolean isBroken() {
      return broken;
    }
  }

  private static void requireDigest(@Nullable String announced, String sha256) {
    if (announced != null && !announced.equals(sha256)) {
      throw Refusal.SHA_MISMATCH.of(
          "the bytes have SHA-256 " + sha256 + ", not " + announced + "; nothing was kept");
    }
  }

  /** The one commit that makes durable bytes readable. */
  private Future<Checkpoint> land(
      Principal caller, Checkpoint item, Revision draft, String sha256, Inspection inspection) {
    List<String> findings = ReviewCheck.findings(draft.facts(), inspection.beginning());
    return land(caller, item, draft, sha256, findings);
  }

  private Future<Checkpoint> land(
      Principal caller, Checkpoint item, Revision draft, String sha256, List<String> findings) {
    String reviewId = Ids.next("rev", random);
    return checkpoints.change(
        () -> store.find(item.id()).map(found -> stillThere(item.id(), found)),
        now -> now.landed(draft.number(), sha256, reviewId, findings, clock.millis()),
        after ->
            List.of(
                checkpoints.row(
                    caller.actor(),
                    after,
                    "checkpoint_publish",
                    CheckpointService.describe(after, draft)
                        + " sha256="
                        + sha256
                        + (after.needsReview() ? " review=" + reviewId : ""))));
  }

  private static Checkpoint stillThere(String id, Optional<CheckpointStore.Listed> found) {
    return found.orElseThrow(() -> Checkpoint.gone(id)).item();
  }

  /** A credential takes the announcement with it: nothing of the file is kept. */
  private <T> Future<T> refused(String actor, Checkpoint item, Revision draft, Throwable failure) {
    if (!(failure instanceof Inspection.SecretFound found)) {
      return Future.failedFuture(failure);
    }
    ApiError refusal = CheckpointService.secretDetected("the content", found.finding());
    AuditRow row =
        checkpoints.row(
            actor,
            item,
            "checkpoint_refuse",
            CheckpointService.describe(item, draft)
                + " rule="
                + found.finding().rule()
                + " offset="
                + found.finding().offset());
    return checkpoints
        .retried(
            () ->
                store
                    .find(item.id())
                    .compose(
                        now -> {
                          Optional<Checkpoint> before =
                              now.map(CheckpointStore.Listed::item)
                                  .filter(one -> isDraft(one, draft.number()));
                          return before.isEmpty()
                              ? Future.<Void>succeededFuture()
                              : checkpoints.commit(
                                  new Move(before, before.get().withoutDraft()), List.of(row));
                        }))
        .compose(discarded -> Future.failedFuture(refusal));
  }

  private static boolean isDraft(Checkpoint item, int number) {
    Revision draft = item.draft();
    return draft != null && draft.number() == number;
  }

  // Sessions.

  /**
   * How far a session is.
   *
   * @param stored bytes that are kept, from the first on
   */
  public record Progress(Checkpoint item, Revision draft, long stored) {
    /** Whether all bytes are there and a commit may follow. */
    public boolean isComplete() {
      return stored == draft.facts().bytes();
    }
  }

  /**
   * Takes bytes of a session, or tells how far it is. What a request brings that is there already
   * is passed over; what would leave a gap is not taken. An interrupted request keeps what arrived.
   *
   * <p>Fails with {@code gone} when there is no such session or its time is over, {@code
   * bad-request} for a malformed range, {@code conflict} for another size than announced, {@code
   * secret-detected}, {@code overloaded} while another request brings bytes.
   *
   * @param contentRange the header; empty when the request brings the whole
   */
  public Future<Progress> putSession(
      String session, Optional<String> contentRange, ByteSource source) {
    ContentRange range = contentRange.map(ContentRange::parse).orElse(ContentRange.WHOLE);
    return store
        .findBySession(CheckpointService.sessionDigest(session))
        .compose(
            found -> {
              Checkpoint item = found.orElseThrow(UploadService::noSession);
              Revision draft = item.draft();
              if (draft == null
                  || draft.isLate(clock.millis())
                  || !CheckpointService.sessionDigest(session).equals(draft.sessionSha256())) {
                throw noSession();
              }
              requireFit(range, draft.facts(), source.length());
              return isDurable(item, draft)
                  .compose(
                      durable ->
                          durable
                              ? Future.succeededFuture(
                                  new Progress(item, draft, draft.facts().bytes()))
                              : range.isQuery()
                                  ? progress(item, draft)
                                  : resume(item, draft, range, source));
            });
  }

  private static ApiError noSession() {
    return ApiError.of(
        ErrorCode.GONE, "this session is committed, replaced, too old, or was never there");
  }

  private static void requireFit(ContentRange range, Facts facts, OptionalLong length) {
    long total = range.total().orElse(facts.bytes());
    if (total != facts.bytes()) {
      throw Refusal.SIZE_MISMATCH.of(
          "Content-Range tells of " + total + " bytes; " + facts.bytes() + " were announced");
    }
    if (range.isQuery() || length.isEmpty()) {
      return;
    }
    long bytes = length.getAsLong();
    if (range.last().isPresent() && bytes != range.last().getAsLong() - range.first() + 1) {
      throw ApiError.badField(
          "Content-Range",
          range.first() + "-" + range.last().getAsLong(),
          "a range of " + bytes + " bytes, as the body has");
    }
    if (range.first() + bytes > facts.bytes()) {
      throw tooMany(facts);
    }
  }

  /** Whether an earlier commit came as far as a whole blob. */
  private Future<Boolean> isDurable(Checkpoint item, Revision draft) {
    String sha256 = draft.sha256();
    return sha256 == null
        ? Future.succeededFuture(false)
        : blobs.exists(BlobName.key(item.id(), draft.number(), sha256));
  }

  private Future<Progress> progress(Checkpoint item, Revision draft) {
    String name = BlobName.upload(item.id(), draft.number());
    return open.stored(name)
        .map(Future::succeededFuture)
        .orElseGet(() -> blobs.stored(name))
        .map(stored -> new Progress(item, draft, stored));
  }

  private Future<Progress> resume(
      Checkpoint item, Revision draft, ContentRange range, ByteSource source) {
    return open.take(BlobName.upload(item.id(), draft.number()), draft.facts().fileName())
        .compose(
            opened -> {
              long stored = opened.upload().stored();
              if (range.first() > stored) {
                open.giveBack(opened);
                return Future.succeededFuture(new Progress(item, draft, stored));
              }
              Appending appending =
                  new Appending(opened.upload(), draft.facts(), stored - range.first());
              return source
                  .read(BlobStore.BLOCK_BYTES, appending::take)
                  .compose(bytes -> taken(item, draft, opened))
                  .recover(e -> interrupted(item, draft, opened, appending.isBroken(), e));
            });
  }

  private Future<Progress> taken(Checkpoint item, Revision draft, OpenUploads.Opened opened) {
    Progress progress = new Progress(item, draft, opened.upload().stored());
    if (progress.isComplete()) {
      // What the last bytes hold is told now, while somebody listens who has just sent them.
      opened.inspection().end();
    }
    open.giveBack(opened);
    return Future.succeededFuture(progress);
  }

  private Future<Progress> interrupted(
      Checkpoint item,
      Revision draft,
      OpenUploads.Opened opened,
      boolean isBroken,
      Throwable failure) {
    if (failure instanceof Inspection.SecretFound) {
      return open.close(opened)
          .transform(released -> blobs.abandon(opened.name()))
          .transform(abandoned -> refused(actor(item), item, draft, failure));
    }
    if (!isBroken) {
      open.giveBack(opened);
      return Future.failedFuture(failure);
    }
    Throwable told = failure instanceof BlobGone ? noSession() : failure;
    return open.close(opened).transform(released -> Future.failedFuture(told));
  }

  /** Who a session acts for: whoever announced the item it belongs to. */
  private static String actor(Checkpoint item) {
    return "member:" + item.creator();
  }

  /**
   * Publishes the bytes of a session; gives the item.
   *
   * <p>Fails with {@code gone}, {@code upload-timeout}, {@code secret-detected} or {@code
   * conflict}: not pending, a direct upload, bytes missing, another size or digest. After another
   * digest the session begins anew.
   *
   * @param bytes what the client believes to have sent
   * @param sha256 the digest it believes they have, in lower-case hex
   */
  public Future<CheckpointStore.Listed> commit(
      Principal caller, String id, long bytes, Optional<String> sha256) {
    return checkpoints
        .getCreated(caller, id)
        .compose(
            item -> {
              Revision draft = sessionDraft(item, bytes);
              String wanted = sha256.orElse(draft.facts().sha256());
              if (draft.facts().sha256() != null && !draft.facts().sha256().equals(wanted)) {
                throw Refusal.SHA_MISMATCH.of(
                    "sha256: " + draft.facts().sha256() + " was announced, not " + wanted);
              }
              return publish(caller, item, draft, wanted);
            })
        .compose(landed -> checkpoints.get(caller, id));
  }

  private Revision sessionDraft(Checkpoint item, long bytes) {
    Revision draft = item.draft();
    if (draft == null) {
      throw Refusal.NOT_PENDING.of("checkpoint " + item.id() + " awaits no commit");
    }
    if (!draft.resumable()) {
      throw Refusal.WRONG_STATUS.of(
          "the upload of " + item.id() + " is direct: send its bytes to its content");
    }
    if (draft.isLate(clock.millis())) {
      throw ApiError.of(
          ErrorCode.UPLOAD_TIMEOUT,
          "the session of " + item.id() + " is over; announce the checkpoint again");
    }
    if (bytes != draft.facts().bytes()) {
      throw Refusal.SIZE_MISMATCH.of(
          "bytes: " + bytes + " is not the " + draft.facts().bytes() + " that were announced");
    }
    return draft;
  }

  private Future<Checkpoint> publish(
      Principal caller, Checkpoint item, Revision draft, @Nullable String wanted) {
    // When an earlier commit was cut short, its digest holds for the blob, which was flushed whole.
    // For an upload left behind it may not, so that is inspected again.
    return isDurable(item, draft)
        .compose(
            durable -> {
              if (!durable) {
                return publishUpload(caller, item, draft, wanted);
              }
              String sha256 = String.valueOf(draft.sha256());
              requireDigest(wanted, sha256);
              return land(caller, item, draft, sha256, draft.findings());
            });
  }

  private Future<Checkpoint> publishUpload(
      Principal caller, Checkpoint item, Revision draft, @Nullable String wanted) {
    return open.take(BlobName.upload(item.id(), draft.number()), draft.facts().fileName())
        .compose(
            opened ->
                Future.succeededFuture(opened)
                    .map(one -> digest(item, draft, one))
                    .compose(sha256 -> publish(caller, item, draft, wanted, opened, sha256))
                    .recover(e -> notPublished(item, draft, opened, e)));
  }

  private static String digest(Checkpoint item, Revision draft, OpenUploads.Opened opened) {
    long stored = opened.upload().stored();
    if (stored < draft.facts().bytes()) {
      throw Refusal.OBJECT_MISSING.of(
          stored + " of " + draft.facts().bytes() + " bytes of " + item.id() + " have arrived");
    }
    return opened.inspection().end();
  }

  private Future<Checkpoint> publish(
      Principal caller,
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
                requireDigest(wanted, sha256);
                throw new IllegalStateException("the digests differ");
              });
    }
    List<String> findings = ReviewCheck.findings(draft.facts(), opened.inspection().beginning());
    return checkpoints
        .change(
            () -> store.find(item.id()).map(found -> stillThere(item.id(), found)),
            now -> now.arrived(draft.number(), sha256, findings, clock.millis()),
            after -> List.of())
        .compose(noted -> open.close(opened))
        .compose(
            closed -> blobs.publish(opened.name(), BlobName.key(item.id(), draft.number(), sha256)))
        .compose(durable -> land(caller, item, draft, sha256, findings));
  }

  private Future<Checkpoint> notPublished(
      Checkpoint item, Revision draft, OpenUploads.Opened opened, Throwable failure) {
    if (failure instanceof Inspection.SecretFound) {
      return interrupted(item, draft, opened, true, failure).mapEmpty();
    }
    if (failure instanceof BlobGone) {
      return Future.failedFuture(
          Refusal.OBJECT_MISSING.of("the bytes of " + item.id() + " are lost; send them again"));
    }
    open.giveBack(opened);
    return Future.failedFuture(failure);
  }
}
