package dev.bourse.audit;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;

/** Reads sealed batches of chains for export. */
public final class SealedBatches {
  private final Vertx vertx;
  private final SealStore store;

  public SealedBatches(Vertx vertx, Database database) {
    this.vertx = vertx;
    this.store = new SealStore(database);
  }

  /**
   * Returns the id up to which the rows of all trails are in batches; it grows with new batches.
   */
  public Future<Long> readThroughId() {
    return store.readThroughId();
  }

  /** Returns the last batch of a chain; empty while nothing is sealed. */
  public Future<Optional<SealService.Head>> findHead(Chain chain) {
    return store
        .findHead(chain)
        .map(
            found ->
                found.map(
                    seal ->
                        new SealService.Head(seal.batch(), seal.seal(), seal.sealedAtMillis())));
  }

  /** Returns the last batch of a chain whose rows are purged, 0 if there is none. */
  public Future<Long> lastPurged(Chain chain) {
    return store.readLastPurged(chain);
  }

  /**
   * Returns a batch of a chain, with its rows while they are kept; empty if it is not sealed yet.
   * Altered rows are returned as they are, so that the receiver's verification detects them.
   */
  public Future<Optional<SealedBatch>> find(Chain chain, long batch) {
    return store
        .listSeals(chain, batch - 1, batch)
        .compose(
            seals -> {
              Optional<Seal> found = seals.stream().filter(s -> s.batch() == batch).findFirst();
              String previous =
                  seals.stream()
                      .filter(s -> s.batch() < batch)
                      .map(Seal::seal)
                      .findFirst()
                      .orElse("");
              return found.isEmpty()
                  ? Future.succeededFuture(Optional.empty())
                  : read(new OcsfSeal(found.get(), previous)).map(Optional::of);
            });
  }

  private Future<SealedBatch> read(OcsfSeal sealed) {
    Seal seal = sealed.seal();
    if (seal.isPurged()) {
      return Future.succeededFuture(SealedBatch.of(sealed, List.of()));
    }
    return store
        .listRows(seal.chain(), seal.firstId() - 1, seal.lastId(), seal.rowCount() + 1)
        .compose(
            rows ->
                rows.size() == seal.rowCount()
                    ? exported(sealed, rows)
                    : store
                        .listSeals(seal.chain(), seal.batch(), seal.batch())
                        .compose(
                            now ->
                                // It was purged between the reads of its seal and of its rows.
                                now.stream().anyMatch(Seal::isPurged)
                                    ? exported(
                                        new OcsfSeal(now.get(0), sealed.previous()), List.of())
                                    : exported(sealed, rows)));
  }

  private Future<SealedBatch> exported(OcsfSeal seal, List<RecordedRow> rows) {
    return vertx.executeBlocking(() -> SealedBatch.of(seal, rows), false);
  }
}
