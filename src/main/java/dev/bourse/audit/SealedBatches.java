package dev.bourse.audit;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;

/** The sealed batches of chains, as whoever keeps them elsewhere takes them. */
public final class SealedBatches {
  private final Vertx vertx;
  private final SealStore store;

  public SealedBatches(Vertx vertx, Database database) {
    this.vertx = vertx;
    this.store = new SealStore(database);
  }

  /** The id up to which the rows of all trails are in batches; goes up when there are new ones. */
  public Future<Long> readThroughId() {
    return store.readThroughId();
  }

  /** The last batch of a chain; empty while nothing is sealed. */
  public Future<Optional<SealService.Head>> findHead(Chain chain) {
    return store
        .findHead(chain)
        .map(
            found ->
                found.map(
                    seal ->
                        new SealService.Head(seal.batch(), seal.seal(), seal.sealedAtMillis())));
  }

  /** The last batch of a chain whose rows are purged; 0 for none. */
  public Future<Long> lastPurged(Chain chain) {
    return store.readLastPurged(chain);
  }

  /**
   * A batch of a chain, with its rows while they are kept; empty while it is not sealed. Rows that
   * are not as they were sealed are in it as they are: whoever verifies it sees that.
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

  private Future<SealedBatch> read(OcsfSeal told) {
    Seal seal = told.seal();
    if (seal.isPurged()) {
      return Future.succeededFuture(SealedBatch.of(told, List.of()));
    }
    return store
        .listRows(seal.chain(), seal.firstId() - 1, seal.lastId(), seal.rowCount() + 1)
        .compose(
            rows ->
                rows.size() == seal.rowCount()
                    ? made(told, rows)
                    : store
                        .listSeals(seal.chain(), seal.batch(), seal.batch())
                        .compose(
                            now ->
                                // Purged after the seal was read and before its rows were.
                                now.stream().anyMatch(Seal::isPurged)
                                    ? made(new OcsfSeal(now.get(0), told.previous()), List.of())
                                    : made(told, rows)));
  }

  private Future<SealedBatch> made(OcsfSeal seal, List<RecordedRow> rows) {
    return vertx.executeBlocking(() -> SealedBatch.of(seal, rows), false);
  }
}
