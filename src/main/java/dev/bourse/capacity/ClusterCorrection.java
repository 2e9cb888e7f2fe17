package dev.bourse.capacity;

import dev.bourse.core.ConfirmedTime;
import dev.bourse.pools.Pool;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Corrects times in the future of clusters, their allocations and their activity. Owners correct
 * their clusters. Ended allocations and activity are corrected in the store, because no owner
 * writes them.
 */
public final class ClusterCorrection implements Correction {
  private static final String AHEAD =
      """
      SELECT (SELECT COUNT(*) FROM
      (SELECT 1 FROM allocation WHERE reclaim_at > ? AND gone_at IS NOT NULL LIMIT 1) AS a)
      + (SELECT COUNT(*) FROM (SELECT 1 FROM activity WHERE ts > ? LIMIT 1) AS b) AS ahead\
      """;

  private static final String CORRECT_ALLOCATIONS =
      """
      UPDATE allocation SET reclaim_at = ?,
      gone_at = CASE WHEN gone_at > ? THEN ? ELSE gone_at END,
      active_at = CASE WHEN active_at > ? THEN ? ELSE active_at END,
      granted_at = CASE WHEN granted_at > ? THEN ? ELSE granted_at END
      WHERE reclaim_at > ? AND gone_at IS NOT NULL\
      """;

  /**
   * Moves an entry to the present, but not past a later entry of the cluster, because the last
   * declaration stays in force with any time. {@code ||} and {@code +} keep SQLite from using an
   * index that would make it read all activity.
   *
   * <p>An effective time moves with the declaration that waits for it, to the present or later, as
   * {@link FutureTimes} does for the cluster. It must not move further back, because bills of those
   * hours may be posted. Entries that repeat a ceiling have the effective time of the first one; if
   * that has passed, it stays.
   */
  private static final String CORRECT_ACTIVITY =
      """
      UPDATE activity SET ts = put.at, effective_at = CASE
      WHEN put.first_ts > CAST(? AS BIGINT) AND put.first_ts <= effective_at
      THEN effective_at - (put.first_ts - CAST(? AS BIGINT)) ELSE effective_at END FROM (
      SELECT id, ts, COALESCE(MIN(CASE WHEN ts <= CAST(? AS BIGINT) THEN ts END)
      OVER (PARTITION BY cluster || '', kind ORDER BY id DESC), CAST(? AS BIGINT)) AS at,
      FIRST_VALUE(ts) OVER (PARTITION BY cluster || '', kind, effective_at ORDER BY id) AS first_ts
      FROM activity WHERE id >= (SELECT MIN(+id) FROM activity WHERE ts > ?)) AS put
      WHERE activity.id = put.id AND put.ts > ?\
      """;

  private final Vertx vertx;
  private final Database database;
  private final Clusters clusters;
  private final ClusterOwners owners;
  private final long protectionMillis;
  private final ConfirmedTime time;
  private final LongAdder corrected = new LongAdder();

  /**
   * @param protectionMillis how long a node is protected after it becomes active
   */
  public ClusterCorrection(
      Vertx vertx,
      Database database,
      Clusters clusters,
      ClusterOwners owners,
      long protectionMillis,
      ConfirmedTime time) {
    this.vertx = vertx;
    this.database = database;
    this.clusters = clusters;
    this.owners = owners;
    this.protectionMillis = protectionMillis;
    this.time = time;
  }

  /** Returns the number of clusters corrected since this process started. */
  public long count() {
    return corrected.sum();
  }

  @Override
  public String table() {
    return "cluster, allocation, activity";
  }

  /** Returns false: clusters are in memory, and indexes find the other rows. */
  @Override
  public boolean readsWholeTable() {
    return false;
  }

  @Override
  public Future<Boolean> correct(long nowMillis) {
    FutureTimes ahead = new FutureTimes(nowMillis, protectionMillis, time.isNewest());
    return vertx
        .executeBlocking(() -> clustersWith(ahead), false)
        .compose(names -> correct(names, ahead, nowMillis));
  }

  /** Checks all clusters. It runs on a worker, because 100,000 clusters would delay requests. */
  private List<String> clustersWith(FutureTimes ahead) {
    List<String> names = new ArrayList<>();
    for (Pool pool : clusters.pools()) {
      for (ClusterView view : clusters.ofPool(pool.name())) {
        if (ahead.areIn(view.cluster())) {
          names.add(view.cluster().name());
        }
      }
    }
    return names;
  }

  private Future<Boolean> correct(List<String> names, FutureTimes ahead, long millis) {
    return correctStored(millis)
        .compose(
            stored ->
                BoundedWork.each(
                        names.iterator(),
                        name ->
                            owners
                                .submit(name, ahead.correction())
                                .onSuccess(put -> corrected.increment()))
                    .map(stored || !names.isEmpty()));
  }

  /** Corrects stored rows; each statement finds its rows by an index. */
  private Future<Boolean> correctStored(long now) {
    long later = now + APART_MILLIS;
    return database
        .read(AHEAD, List.of(later, later), row -> row.integer("ahead"))
        .compose(
            found ->
                found.get(0) == 0
                    ? Future.succeededFuture(false)
                    : database
                        .commit(
                            List.of(
                                Statement.of(
                                    CORRECT_ALLOCATIONS, now, now, now, now, now, now, now, later),
                                Statement.of(
                                    CORRECT_ACTIVITY, later, now, later, now, later, later)))
                        .map(true));
  }
}
