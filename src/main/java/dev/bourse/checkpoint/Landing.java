package dev.bourse.checkpoint;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiError;
import dev.bourse.core.Ids;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The end of every upload: the one commit that makes durable bytes readable, or the one that takes
 * an announcement back because a credential was found.
 */
public final class Landing {
  private final CheckpointChanges changes;
  private final CheckpointStore store;
  private final Clock clock;
  private final RandomGenerator random;

  public Landing(
      CheckpointChanges changes, CheckpointStore store, Clock clock, RandomGenerator random) {
    this.changes = changes;
    this.store = store;
    this.clock = clock;
    this.random = random;
  }

  /** The bytes of a session are whole and about to be made durable under their digest's name. */
  Future<Checkpoint> note(Checkpoint item, Revision draft, String sha256, List<String> findings) {
    return changes.change(
        () -> current(item),
        now -> now.arrived(draft.number(), sha256, findings, clock.millis()),
        after -> List.of());
  }

  /** The bytes are durable: readers, or a review, get them with this commit. */
  Future<Checkpoint> land(
      String actor, Checkpoint item, Revision draft, String sha256, List<String> findings) {
    String reviewId = Ids.next("rev", random);
    return changes.change(
        () -> current(item).compose(now -> placed(now, draft.facts().fileName())),
        now -> now.landed(draft.number(), sha256, reviewId, findings, clock.millis()),
        after ->
            List.of(
                changes.row(
                    actor,
                    after,
                    "checkpoint_publish",
                    CheckpointChanges.describe(after, draft)
                        + " sha256="
                        + sha256
                        + (after.needsReview() ? " review=" + reviewId : ""))));
  }

  /** The item, which moves to the place of this name; another may have come there meanwhile. */
  private Future<Checkpoint> placed(Checkpoint item, String fileName) {
    if (item.fileName().equals(fileName)) {
      return Future.succeededFuture(item);
    }
    return store
        .findPlaced(item.orgId(), item.visibility(), fileName)
        .map(
            there -> {
              if (there.isPresent()) {
                throw Replace.taken(there.get());
              }
              return item;
            });
  }

  private Future<Checkpoint> current(Checkpoint item) {
    return store
        .find(item.id())
        .map(found -> found.orElseThrow(() -> Checkpoint.unknown(item.orgId(), item.id())).item());
  }

  /** A credential takes the announcement with it: nothing of the file is kept. */
  <T> Future<T> refused(String actor, Checkpoint item, Revision draft, Throwable failure) {
    if (!(failure instanceof Inspection.SecretFound found)) {
      return Future.failedFuture(failure);
    }
    ApiError refusal = CheckpointService.secretDetected("the content", found.finding());
    AuditRow row =
        changes.row(
            actor,
            item,
            "checkpoint_refuse",
            CheckpointChanges.describe(item, draft)
                + " rule="
                + found.finding().rule()
                + " offset="
                + found.finding().offset());
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
                                  new Move(before, before.get().withoutDraft()), List.of(row));
                        }))
        .compose(discarded -> Future.failedFuture(refusal));
  }

  private static boolean isDraft(Checkpoint item, int number) {
    Revision draft = item.draft();
    return draft != null && draft.number() == number;
  }

  static void requireDigest(@Nullable String announced, String sha256) {
    if (announced != null && !announced.equals(sha256)) {
      throw Refusal.SHA_MISMATCH.of(
          "the bytes have SHA-256 " + sha256 + ", not " + announced + "; nothing was kept");
    }
  }
}
