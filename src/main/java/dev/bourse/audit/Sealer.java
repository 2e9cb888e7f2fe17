package dev.bourse.audit;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Seals settled rows of all trails in batches, in the order of their ids, without delaying any
 * write. A step of a background job; one at a time.
 *
 * <p>A round seals up to the newest settled id, {@link Database#settledTrail}: it waits for a
 * hanging commit, however long, and seals rows above its ids afterwards.
 *
 * <p>Several processes may seal one store: each commit is guarded by the seal position, and a
 * process that loses the race leaves the rest of the round to the other.
 */
public final class Sealer {
  /** Rows of one query: some milliseconds for a reader, and for a worker that computes digests. */
  private static final int ROWS_PER_READ = 2_000;

  private final Vertx vertx;
  private final SealStore store;
  private final Clock clock;

  // Used by one step at a time.
  private @Nullable Long target;
  private @Nullable BatchBuilder building;

  public Sealer(Vertx vertx, Database database, Clock clock) {
    this.vertx = vertx;
    this.store = new SealStore(database);
    this.clock = clock;
  }

  /**
   * Reads some rows, and seals them when they are enough for a commit. Returns true if there are
   * more.
   */
  public Future<Boolean> step() {
    return aim().compose(this::sealUpTo).onFailure(e -> endRound());
  }

  /** Returns the id up to which this round seals. */
  private Future<Long> aim() {
    Long begun = target;
    return begun != null
        ? Future.succeededFuture(begun)
        : store.readSettledId().onSuccess(id -> target = id);
  }

  private Future<Boolean> sealUpTo(long id) {
    BatchBuilder begun = building;
    Future<BatchBuilder> current =
        begun != null
            ? Future.succeededFuture(begun)
            : store.readThroughId().map(BatchBuilder::new);
    return current.compose(
        taking -> {
          building = taking;
          return take(taking, id);
        });
  }

  private Future<Boolean> take(BatchBuilder taking, long id) {
    if (taking.throughId() >= id) {
      return store(taking, id);
    }
    return store
        .listRows(taking.throughId(), id, ROWS_PER_READ)
        .compose(
            rows ->
                vertx.executeBlocking(
                    () -> {
                      taking.add(rows.rows());
                      if (!taking.isFull()) {
                        taking.endAt(rows.throughId());
                      }
                      return taking.isFull() || taking.throughId() >= id;
                    },
                    false))
        .compose(complete -> complete ? store(taking, id) : Future.succeededFuture(true));
  }

  private Future<Boolean> store(BatchBuilder taken, long id) {
    building = null;
    boolean isLast = taken.throughId() >= id;
    if (isLast) {
      target = null;
    }
    if (taken.throughId() <= taken.fromId()) {
      return Future.succeededFuture(false);
    }
    // The heads belong to this position only if it has not moved, because another process may have
    // sealed.
    return store
        .readHeads(taken.chains())
        .compose(
            heads ->
                store
                    .readThroughId()
                    .compose(
                        through ->
                            through == taken.fromId()
                                ? commit(taken, heads).map(!isLast)
                                : Future.succeededFuture(endRound())))
        .recover(
            e ->
                e instanceof SealStore.DoneElsewhereException
                    ? Future.succeededFuture(endRound())
                    : Future.failedFuture(e));
  }

  /**
   * Drops the rows and the settled id of a round, because the next one may read from another
   * server.
   */
  private boolean endRound() {
    building = null;
    target = null;
    return false;
  }

  private Future<Void> commit(BatchBuilder taken, Map<Chain, Seal.Link> heads) {
    return vertx
        .executeBlocking(() -> taken.seal(heads, clock.millis()), false)
        .compose(seals -> store.seal(seals, taken));
  }
}
