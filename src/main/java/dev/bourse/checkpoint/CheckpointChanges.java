package dev.bourse.checkpoint;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Commits changes of items: enforces the storage limits, retries if the item changes concurrently,
 * and records each change in the owner's trail.
 */
public final class CheckpointChanges {
  /** Most items of one owner; a search scans all of them in less than a second. */
  static final int MAX_ITEMS = 10_000;

  /**
   * Attempts of a change under concurrent changes of the same item: enough for a double click, not
   * for a crowd.
   */
  private static final int MAX_ATTEMPTS = 8;

  private static final long RETRY_MILLIS = 1_000;

  /** The subject of rows in the platform's trail that concern no particular part of it. */
  private static final String PLATFORM_SUBJECT = "platform";

  private final CheckpointStore store;
  private final CheckpointConfig config;
  private final Clock clock;

  public CheckpointChanges(CheckpointStore store, CheckpointConfig config, Clock clock) {
    this.store = store;
    this.config = config;
    this.clock = clock;
  }

  CheckpointConfig config() {
    return config;
  }

  /**
   * Changes an item; reads it again after a concurrent change.
   *
   * @param reading reads the current item
   * @param change returns the changed item, or throws
   */
  Future<Checkpoint> change(
      Supplier<Future<Checkpoint>> reading,
      Function<Checkpoint, Checkpoint> change,
      Function<Checkpoint, List<AuditRow>> audit) {
    return retried(
        () ->
            reading
                .get()
                .compose(
                    before -> {
                      Checkpoint after = change.apply(before);
                      return commit(ChangeSet.of(before, after), audit.apply(after)).map(after);
                    }));
  }

  Future<Void> commit(ChangeSet change, List<AuditRow> audit) {
    return store
        .commit(change, mostBytes(change.item()), MAX_ITEMS, clock.millis(), audit)
        .recover(
            e ->
                e instanceof CheckpointStore.StorageFullException
                    ? store
                        .usage(change.item().orgId())
                        .compose(usage -> Future.failedFuture(full(change, usage)))
                    : Future.failedFuture(e));
  }

  /** Removes an item with all its revisions from organization and feed. */
  Future<Void> remove(String actor, Checkpoint item) {
    return commit(
        new ChangeSet(Optional.of(item), Optional.empty()),
        List.of(row(actor, item, "checkpoint_delete", describe(item, item.shown()))));
  }

  private long mostBytes(Checkpoint item) {
    return item.isPlatform() ? config.platformBytes() : config.orgBytes();
  }

  private ApiException full(ChangeSet change, CheckpointStore.Usage usage) {
    long most = mostBytes(change.item());
    return ApiException.of(
            ErrorCode.ORG_CAP,
            """
            no room for %s more bytes: %s use %s of %s bytes and are %s of at most %s; \
            delete some first\
            """,
            change.bytesTaken(),
            change.item().isPlatform()
                ? "the platform's documents"
                : "the organization's checkpoints",
            usage.bytes(),
            most,
            usage.items(),
            MAX_ITEMS)
        .with("limit_bytes", most)
        .with("used_bytes", usage.bytes());
  }

  /** Retries while the item changes concurrently. */
  <T> Future<T> retried(Supplier<Future<T>> attempt) {
    return retried(attempt, MAX_ATTEMPTS);
  }

  private <T> Future<T> retried(Supplier<Future<T>> attempt, int left) {
    return attempt
        .get()
        .recover(
            e -> {
              if (!(e instanceof CheckpointStore.ItemChangedException)) {
                return Future.failedFuture(e);
              }
              return left > 1
                  ? retried(attempt, left - 1)
                  : Future.failedFuture(
                      ApiException.retryLater(
                          ErrorCode.OVERLOADED,
                          "this checkpoint is being changed concurrently",
                          RETRY_MILLIS));
            });
  }

  AuditRow row(String actor, Checkpoint item, String action, String detail) {
    String subject = item.isPlatform() ? PLATFORM_SUBJECT : item.orgId();
    return new AuditRow(clock.millis(), item.orgId(), actor, action, subject, detail);
  }

  static String describe(Checkpoint item, Revision revision) {
    return "id=%s revision=%s visibility=%s filename=%s%s"
        .formatted(
            item.id(),
            revision.number(),
            item.visibility().label(),
            Text.shown(revision.metadata().fileName()),
            revision.credentialId() == null ? "" : " credential_id=" + revision.credentialId());
  }
}
