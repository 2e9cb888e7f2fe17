package dev.bourse.checkpoint;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiError;
import dev.bourse.core.Page;
import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The decision on public files. A review is of one revision: when that is replaced or deleted
 * meanwhile, the review is gone too, so nobody approves what they have not seen.
 */
public final class ReviewService {
  private final CheckpointChanges changes;
  private final CheckpointStore store;
  private final SetStore sets;
  private final Clock clock;
  private volatile Look look = new Look(0, 0);

  /**
   * What was last seen of the queue.
   *
   * @param atMillis when; 0 before the first look
   * @param oldestMillis since when the review waits that waits longest; 0 when none does
   */
  private record Look(long atMillis, long oldestMillis) {}

  public ReviewService(
      CheckpointChanges changes, CheckpointStore store, SetStore sets, Clock clock) {
    this.changes = changes;
    this.store = store;
    this.sets = sets;
    this.clock = clock;
  }

  /**
   * A review: of the item's revision that carries its id.
   *
   * @param listed the item and what its organization is called
   */
  public record Review(CheckpointStore.Listed listed, Revision revision) {
    public Checkpoint item() {
      return listed.item();
    }
  }

  /** Open reviews, the one that waits longest first; the cursor is the last one's. */
  public Future<Page<Review>> list(Optional<String> after, int limit) {
    return store
        .listReviews(after.map(CheckpointStore.Cursor::parse), limit)
        .map(
            page ->
                new Page<>(
                    page.items().stream()
                        .map(listed -> new Review(listed, listed.item().shown()))
                        .toList(),
                    page.more()));
  }

  /** Looks which review waits longest; there is no more to do. */
  public Future<Boolean> look() {
    return list(Optional.empty(), 1)
        .map(
            page -> {
              long oldest =
                  page.items().isEmpty() ? 0 : page.items().get(0).item().changedAtMillis();
              look = new Look(clock.millis(), oldest);
              return false;
            });
  }

  /** Shows what {@link #look} saw, and how long ago: a scrape does not ask the store. */
  public void show(Signals signals) {
    signals.gauge(
        "bourse_review_oldest_age_seconds",
        "How long the review of a public file has waited that waits longest; 0 when none does.",
        () -> {
          Look seen = look;
          return seen.oldestMillis() == 0 ? 0 : (clock.millis() - seen.oldestMillis()) / 1e3;
        });
    signals.gauge(
        "bourse_review_look_age_seconds",
        "How long ago the queue of reviews was last looked at; absent before the first look.",
        () -> {
          Look seen = look;
          return seen.atMillis() == 0 ? Double.NaN : (clock.millis() - seen.atMillis()) / 1e3;
        });
  }

  /** Where the page behind a review begins. */
  public String cursor(Review review) {
    return new CheckpointStore.Cursor(review.item().changedAtMillis(), review.item().id()).text();
  }

  /** One review, decided or not; {@code not-found} once its revision was replaced or deleted. */
  public Future<Review> get(String reviewId) {
    return store.findByReview(reviewId).map(found -> review(reviewId, found));
  }

  private static Review review(String reviewId, Optional<CheckpointStore.Listed> found) {
    CheckpointStore.Listed listed = found.orElseThrow(() -> ApiError.notFound("review", reviewId));
    return new Review(listed, revision(listed.item(), reviewId));
  }

  /** The files of a review of a set, in the order of its manifest; none for a single file. */
  public Future<List<SetFile>> listFiles(Review review) {
    return review.revision().metadata().isSet()
        ? sets.list(review.item().id(), review.revision().number()).map(SetFile::sorted)
        : Future.succeededFuture(List.of());
  }

  /** A file of the set that a review is of; {@code not-found} when it has none of this digest. */
  public Future<Content> findFile(String reviewId, String sha256) {
    return get(reviewId)
        .compose(
            review ->
                sets.findFile(review.item().id(), review.revision().number(), sha256)
                    .map(
                        found ->
                            found.orElseThrow(
                                () -> ContentService.noFile(review.item().id(), sha256))));
  }

  /** The revision a review is of; {@code not-found} when the item has none of this review. */
  static Revision revision(Checkpoint item, String reviewId) {
    return item.revisions().stream()
        .filter(revision -> reviewId.equals(revision.reviewId()))
        .findFirst()
        .orElseThrow(() -> ApiError.notFound("review", reviewId));
  }

  /**
   * Puts the revision on the public feed. Fails with {@code conflict} {@code wrong-status} when it
   * is decided.
   *
   * @param actor the operator
   */
  public Future<Review> approve(String actor, String reviewId) {
    return decide(
        actor, reviewId, item -> item.approved(reviewId, clock.millis()), "decision=approved");
  }

  /**
   * Keeps the revision off the feed; the organization still reads it, and the creator is told the
   * reason.
   *
   * @param actor the operator
   */
  public Future<Review> reject(String actor, String reviewId, String reason) {
    return decide(actor, reviewId, item -> item.rejected(reviewId, reason), "decision=rejected");
  }

  private Future<Review> decide(
      String actor, String reviewId, UnaryOperator<Checkpoint> decision, String detail) {
    return changes
        .change(
            () -> get(reviewId).map(Review::item),
            decision,
            after -> List.of(row(actor, after, reviewId, detail)))
        .compose(decided -> get(reviewId));
  }

  private AuditRow row(String actor, Checkpoint item, String reviewId, String detail) {
    return changes.row(
        actor,
        item,
        "checkpoint_review",
        "%s review=%s %s"
            .formatted(CheckpointChanges.describe(item, item.shown()), reviewId, detail));
  }
}
