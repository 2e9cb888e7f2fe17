package dev.bourse.checkpoint;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.Ids;
import dev.bourse.core.Text;
import dev.bourse.secrets.SecretScan;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The end of every upload: commits that make durable bytes readable, or withdraw an announcement
 * because a credential was found.
 */
public final class Publication {
  private final CheckpointChanges changes;
  private final CheckpointStore store;
  private final Clock clock;
  private final RandomGenerator random;

  public Publication(
      CheckpointChanges changes, CheckpointStore store, Clock clock, RandomGenerator random) {
    this.changes = changes;
    this.store = store;
    this.clock = clock;
    this.random = random;
  }

  /**
   * Records that a session's bytes are complete, before they are stored under their digest's name.
   */
  public Future<Checkpoint> note(
      Checkpoint item, Revision draft, String sha256, List<String> findings) {
    return changes.change(
        () -> current(item),
        now -> now.arrived(draft.number(), sha256, findings, clock.millis()),
        after -> List.of());
  }

  /** Publishes durable bytes: from this commit on, readers or a review get them. */
  public Future<Checkpoint> publish(
      String actor, Checkpoint item, Revision draft, String sha256, List<String> findings) {
    return publish(actor, item, draft, sha256, findings, "");
  }

  /**
   * Publishes durable bytes, with further text in the trail.
   *
   * @param detail further text, with a blank before it; may be empty
   */
  public Future<Checkpoint> publish(
      String actor,
      Checkpoint item,
      Revision draft,
      String sha256,
      List<String> findings,
      String detail) {
    String reviewId = Ids.next("rev", random);
    return changes.change(
        () -> current(item).compose(now -> placed(now, draft.metadata().fileName())),
        now -> now.published(draft.number(), sha256, reviewId, findings, clock.millis()),
        after ->
            List.of(
                changes.row(
                    actor,
                    after,
                    "checkpoint_publish",
                    "%s sha256=%s%s%s"
                        .formatted(
                            CheckpointChanges.describe(after, draft),
                            sha256,
                            detail,
                            after.needsReview() ? " review=" + reviewId : ""))));
  }

  /** Returns the item after checking that no other item has taken the place of this name. */
  private Future<Checkpoint> placed(Checkpoint item, String fileName) {
    if (item.fileName().equals(fileName)) {
      return Future.succeededFuture(item);
    }
    return store
        .findPlaced(item.orgId(), item.visibility(), fileName)
        .map(
            there -> {
              if (there.isPresent()) {
                throw ReplacePolicy.taken(there.get());
              }
              return item;
            });
  }

  /** Returns a draft in its current state; empty if it was published, replaced or withdrawn. */
  public Future<Optional<Revision>> draft(Checkpoint item, int number) {
    return store
        .find(item.id())
        .map(
            found ->
                found
                    .map(CheckpointStore.Listed::item)
                    .filter(now -> isDraft(now, number))
                    .map(Checkpoint::draft));
  }

  private Future<Checkpoint> current(Checkpoint item) {
    return store
        .find(item.id())
        .map(found -> found.orElseThrow(() -> Checkpoint.unknown(item.orgId(), item.id())).item());
  }

  /** Names the bytes of a single file in errors about credentials. */
  public static final String CONTENT = "the content";

  /**
   * Withdraws an announcement because a credential was found; no bytes are kept.
   *
   * @param where the file or part that contains it
   * @return a future that fails with {@code secret-detected}
   */
  public <T> Future<T> refused(
      String actor, Checkpoint item, Revision draft, String where, SecretScan.Finding finding) {
    AuditRow row =
        changes.row(
            actor,
            item,
            "checkpoint_refuse",
            "%s%s rule=%s offset=%s%s"
                .formatted(
                    CheckpointChanges.describe(item, draft),
                    draft.metadata().isSet() ? " file=" + Text.shown(where) : "",
                    finding.rule(),
                    finding.offset(),
                    finding.member().isEmpty() ? "" : " member=" + finding.member()));
    return changes
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
                              : changes.commit(
                                  new ChangeSet(before, before.get().withoutDraft()), List.of(row));
                        }))
        .compose(
            discarded -> Future.failedFuture(CheckpointService.secretDetected(where, finding)));
  }

  private static boolean isDraft(Checkpoint item, int number) {
    Revision draft = item.draft();
    return draft != null && draft.number() == number;
  }
}
