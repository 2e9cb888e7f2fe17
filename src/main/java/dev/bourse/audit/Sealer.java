package dev.bourse.audit;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts settled rows of all trails into sealed batches, in the order of their ids, without delaying
 * any write. A step of {@link dev.bourse.store.Upkeep}; one at a time.
 *
 * <p>PostgreSQL gives ids when a row is inserted and not when it is committed, so below the
 * greatest id that is seen others may still be on their way. Therefore a round notes the greatest
 * id, and a later one, when whatever was under way then has ended, seals up to it. An engine of
 * this process alone commits ids in order and needs no waiting.
 *
 * <p>Several processes may seal one store: each commit is guarded by how far the trail was sealed,
 * and whoever loses leaves the rest of the round to the other.
 */
public final class Sealer {
  /**
   * The least time after which whatever was under way has ended: connecting, waiting for a place
   * and one group of commits take 21 s at most by default, and a server may take its time to notice
   * that a client is gone.
   */
  private static final long LEAST_SETTLE_MILLIS = 60_000;

  /** A group of commits, the answer that is asked for again, and as much to be safe. */
  private static final int QUERY_TIMES_TO_SETTLE = 3;

  /** Rows of one query: some milliseconds of a reader, and of a worker that digests them. */
  private static final int ROWS_PER_READ = 2_000;

  private record Mark(long id, long nanos) {}

  private final Vertx vertx;
  private final SealStore store;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final long settleNanos;

  // Touched by one step at a time.
  private @Nullable Mark unsettled;
  private @Nullable Long target;
  private @Nullable BatchBuilder building;

  /**
   * @param nanoTime a clock that nobody sets
   * @param settleMillis see {@link #settleMillis}; at least 0
   */
  public Sealer(
      Vertx vertx, Database database, Clock clock, LongSupplier nanoTime, long settleMillis) {
    this.vertx = vertx;
    this.store = new SealStore(database);
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.settleNanos = TimeUnit.MILLISECONDS.toNanos(settleMillis);
  }

  /**
   * How long to wait until no commit begun earlier can still come.
   *
   * @param queryMillis how long a group of commits may take
   */
  public static long settleMillis(long queryMillis) {
    return Math.max(LEAST_SETTLE_MILLIS, QUERY_TIMES_TO_SETTLE * queryMillis);
  }

  /** Reads some rows, and seals them when they are enough for a commit; whether there are more. */
  public Future<Boolean> step() {
    return aim()
        .compose(id -> id == null ? Future.succeededFuture(false) : sealUpTo(id))
        .onFailure(e -> building = null);
  }

  /** The id up to which all is settled; null when nothing new is. */
  private Future<@Nullable Long> aim() {
    if (target != null) {
      return Future.succeededFuture(target);
    }
    Mark earlier = unsettled;
    boolean settled = earlier != null && nanoTime.getAsLong() - earlier.nanos() >= settleNanos;
    if (earlier != null && !settled) {
      return Future.succeededFuture(null);
    }
    return store
        .readGreatestId()
        .map(
            greatest -> {
              if (!store.isShared()) {
                target = greatest;
              } else {
                unsettled = new Mark(greatest, nanoTime.getAsLong());
                // A database that was set back hands out the ids anew up to which it had come.
                target = earlier == null || greatest < earlier.id() ? null : (Long) earlier.id();
              }
              return target;
            });
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
    // The heads belong to the mark only if it has not moved since: another may have sealed.
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
                                : Future.succeededFuture(leaveToOther())))
        .recover(
            e -> {
              if (e instanceof SealStore.DoneElsewhere) {
                return Future.succeededFuture(leaveToOther());
              }
              target = id;
              return Future.failedFuture(e);
            });
  }

  private boolean leaveToOther() {
    target = null;
    return false;
  }

  private Future<Void> commit(BatchBuilder taken, Map<Chain, Seal.Link> heads) {
    return vertx
        .executeBlocking(() -> taken.seal(heads, clock.millis()), false)
        .compose(seals -> store.seal(seals, taken.readers(), taken.fromId(), taken.throughId()));
  }
}
