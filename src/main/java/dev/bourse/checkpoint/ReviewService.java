package dev.bourse.checkpoint;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Decisions on public files. A review belongs to one revision and disappears if the revision is
 * replaced or deleted, so nobody approves bytes they have not seen.
 */
public final class ReviewService {
  private final CheckpointChanges changes;
  private final CheckpointStore store;
  private final SetStore sets;
  private final Clock clock;
  private volatile Look look = new Look(0, 0);

  /**
   * The last known state of the queue.
   *
   * @param atMillis when it was read; 0 before the first read
   * @param oldestMillis when the oldest open review began; 0 if there is none
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
   * A review of the item's revision that carries its id.
   *
   * @param listed the item and its organization's display name
   */
  public record Review(CheckpointStore.Listed listed, Revision revision) {
    public Checkpoint item() {
      return listed.item();
    }
  }

  /** Returns open reviews, oldest first; the cursor is that of the last one. */
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

  /** Reads the oldest open review; always returns false. */
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

  /** Registers the metrics of the last read, because a scrape does not query the store. */
  public void registerMetrics(Signals signals) {
    signals.gauge(
        "bourse_review_oldest_age_seconds",
        "Age of the oldest open review of a public file; 0 if there is none.",
        () -> {
          Look seen = look;
          return seen.oldestMillis() == 0 ? 0 : (clock.millis() - seen.oldestMillis()) / 1e3;
        });
    signals.gauge(
        "bourse_review_look_age_seconds",
        "Age of the last read of the review queue; absent before the first.",
        () -> {
          Look seen = look;
          return seen.atMillis() == 0 ? Double.NaN : (clock.millis() - seen.atMillis()) / 1e3;
        });
  }

  /** Returns the cursor of the page after a review. */
  public static String cursor(Review review) {
    return new CheckpointStore.Cursor(review.item().changedAtMillis(), review.item().id()).text();
  }

  /**
   * Returns a review, decided or not; fails with {@code not-found} if its revision was replaced or
   * deleted.
   */
  public Future<Review> get(String reviewId) {
    return store.findByReview(reviewId).map(found -> review(reviewId, found));
  }

  private static Review review(String reviewId, Optional<CheckpointStore.Listed> found) {
    CheckpointStore.Listed listed =
        found.orElseThrow(() -> ApiException.notFound("review", reviewId));
    return new Review(listed, revision(listed.item(), reviewId));
  }

  /**
   * Returns the files of a review of a set, in the order of its manifest; empty for a single file.
   */
  public Future<List<SetFile>> listFiles(Review review) {
    return review.revision().metadata().isSet()
        ? sets.list(review.item().id(), review.revision().number()).map(SetFile::sorted)
        : Future.succeededFuture(List.of());
  }

  /**
   * Returns a file of the set under review; fails with {@code not-found} if it has none with this
   * digest.
   */
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

  /** Returns the revision under a review; fails with {@code not-found} if the item has none. */
  static Revision revision(Checkpoint item, String reviewId) {
    return item.revisions().stream()
        .filter(revision -> reviewId.equals(revision.reviewId()))
        .findFirst()
        .orElseThrow(() -> ApiException.notFound("review", reviewId));
  }

  /**
   * Publishes the revision on the public feed. Fails with {@code conflict} {@code wrong-status} if
   * the review is decided.
   *
   * @param actor the operator
   */
  public Future<Review> approve(String actor, String reviewId) {
    return decide(
        actor, reviewId, item -> item.approved(reviewId, clock.millis()), "decision=approved");
  }

  /**
   * Keeps the revision off the feed; the organization still reads it, and the creator sees the
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
