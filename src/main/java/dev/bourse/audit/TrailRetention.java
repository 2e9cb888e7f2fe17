package dev.bourse.audit;

import dev.bourse.core.ConfirmedTime;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes expired rows of the trails, one sealed batch per commit. It never deletes unsealed rows,
 * and deletes nothing without confirmed time. The seal stays with the digest over its rows, so that
 * the chain can be verified without them. A step of a background job; one at a time.
 *
 * <p>A batch whose rows fail verification is evidence, so it is kept together with all later ones
 * of its chain.
 */
public final class TrailRetention {
  private static final Logger LOG = LoggerFactory.getLogger(TrailRetention.class);

  private final Vertx vertx;
  private final SealStore store;
  private final AuditConfig config;
  private final ConfirmedTime time;

  /** Chains with a batch that is kept as evidence. Used by one step at a time. */
  private final Set<Chain> kept = new HashSet<>();

  public TrailRetention(Vertx vertx, Database database, AuditConfig config, ConfirmedTime time) {
    this.vertx = vertx;
    this.store = new SealStore(database);
    this.config = config;
    this.time = time;
  }

  /** Purges a batch. Returns true if there may be another. */
  public Future<Boolean> step() {
    OptionalLong now = time.confirmedMillis();
    return now.isEmpty() ? Future.succeededFuture(false) : step(now.getAsLong());
  }

  private Future<Boolean> step(long now) {
    return next(true, config.readsMillis(), now)
        .compose(
            reads ->
                reads.isPresent()
                    ? Future.succeededFuture(reads)
                    : next(false, config.writesMillis(), now))
        .compose(
            due -> due.isEmpty() ? Future.succeededFuture(false) : purge(due.get(), now).map(true));
  }

  private Future<Optional<Seal>> next(boolean isRead, long keptMillis, long now) {
    if (keptMillis == 0) {
      return Future.succeededFuture(Optional.empty());
    }
    // Only the first kept batch of each chain is listed, so one more than the skipped ones is
    // enough.
    return store
        .listPurgeable(isRead, now - keptMillis, kept.size() + 1)
        .map(due -> due.stream().filter(seal -> !kept.contains(seal.chain())).findFirst());
  }

  private Future<Void> purge(Seal seal, long now) {
    return store
        .listSeals(seal.chain(), seal.batch() - 1, seal.batch() - 1)
        .compose(
            before -> {
              Seal.Link link =
                  before.stream().findFirst().map(Seal::link).orElse(Seal.Link.BEGINNING);
              return store
                  .listRows(seal.chain(), link.lastId(), seal.lastId(), seal.rowCount() + 1)
                  .compose(
                      rows ->
                          vertx.executeBlocking(
                              () -> SealVerification.check(link, seal, rows), false));
            })
        .compose(fault -> fault.isEmpty() ? delete(seal, now) : keep(seal, fault.get()));
  }

  private Future<Void> delete(Seal seal, long now) {
    return store
        .purge(seal, now)
        .recover(
            e ->
                e instanceof SealStore.DoneElsewhereException
                    ? Future.succeededFuture()
                    : Future.failedFuture(e));
  }

  /** Keeps the batch as evidence, unless a second read shows that another process has purged it. */
  private Future<Void> keep(Seal seal, SealFault fault) {
    return store
        .listSeals(seal.chain(), seal.batch(), seal.batch())
        .map(
            now -> {
              if (now.equals(List.of(seal)) && kept.add(seal.chain())) {
                LOG.warn(
                    "rows of {} are kept beyond their retention time because batch {} fails verification: {}",
                    seal.chain(),
                    seal.batch(),
                    fault.detail());
              }
              return null;
            });
  }
}
