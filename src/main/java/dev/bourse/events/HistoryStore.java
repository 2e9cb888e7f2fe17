package dev.bourse.events;

import dev.bourse.capacity.Cluster;
import dev.bourse.pools.Pool;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads change points for the history. Each bucket costs one index look-up, however many change
 * points are between two of them.
 */
public final class HistoryStore {
  private static final String MOMENTS =
      """
      WITH RECURSIVE moment (at) AS (SELECT CAST(? AS BIGINT) UNION ALL
      SELECT at + CAST(? AS BIGINT) FROM moment WHERE at < CAST(? AS BIGINT))
      """;

  private static final String DECLARED =
      MOMENTS
          + """
          SELECT a.max_gpus, a.ceiling_cents FROM moment LEFT JOIN activity a ON a.id =
          (SELECT x.id FROM activity x WHERE x.cluster = ? AND x.kind = 'request'
          AND x.ts <= moment.at ORDER BY x.ts DESC, x.id DESC LIMIT 1) ORDER BY moment.at\
          """;

  private static final String PRICES =
      MOMENTS
          + """
          SELECT moment.at AS at, p.ts, p.clearing_cents, p.cents_millis, p.priced_millis,
          p.admission_cents FROM moment LEFT JOIN price_point p ON p.pool = ? AND p.ts =
          (SELECT MAX(x.ts) FROM price_point x WHERE x.pool = ? AND x.ts <= moment.at)
          ORDER BY moment.at\
          """;

  private static final String HELD =
      """
      SELECT COUNT(*) AS held FROM allocation WHERE cluster = ? AND granted_at <= ?
      AND (reclaim_at IS NULL OR reclaim_at > ?)\
      """;

  private static final String GRANTED = perBucket("granted_at");

  private static final String RECLAIMED = perBucket("reclaim_at");

  /** Returns the query that counts a cluster's nodes by the bucket of a time. */
  private static String perBucket(String column) {
    return """
    SELECT (%1$s - CAST(? AS BIGINT) - 1) / CAST(? AS BIGINT) AS bucket, COUNT(*) AS nodes
    FROM allocation WHERE cluster = ? AND %1$s > ? AND %1$s <= ? GROUP BY 1\
    """
        .formatted(column);
  }

  private final Database database;

  public HistoryStore(Database database) {
    this.database = database;
  }

  Future<HistorySeries> read(Cluster cluster, Pool pool, HistorySeries.Buckets buckets) {
    Future<List<HistorySeries.DeclaredAt>> declared = declared(cluster.name(), buckets);
    Future<List<Moment>> prices = prices(pool.name(), buckets);
    Future<Long> heldBefore = heldBefore(cluster.name(), buckets);
    Future<List<long[]>> grants = perBucket(GRANTED, cluster.name(), buckets);
    Future<List<long[]>> reclaims = perBucket(RECLAIMED, cluster.name(), buckets);
    return Future.all(declared, prices, heldBefore, grants, reclaims)
        .map(
            all -> {
              long[] changes = new long[buckets.count()];
              grants.result().forEach(g -> changes[(int) g[0]] += g[1]);
              reclaims.result().forEach(r -> changes[(int) r[0]] -= r[1]);
              return HistorySeries.of(
                  buckets,
                  pool.gpusPerNode(),
                  declared.result(),
                  sums(prices.result()),
                  heldBefore.result(),
                  changes);
            });
  }

  private Future<List<HistorySeries.DeclaredAt>> declared(
      String cluster, HistorySeries.Buckets buckets) {
    return database.read(
        DECLARED,
        List.of(
            buckets.firstMillis() + buckets.stepMillis(),
            buckets.stepMillis(),
            buckets.endMillis(),
            cluster),
        row ->
            new HistorySeries.DeclaredAt(
                row.integerOrNull("max_gpus"), row.integerOrNull("ceiling_cents")));
  }

  /** Returns a pool's prices in buckets. */
  public Future<PriceHistory> readPrices(String pool, HistorySeries.Buckets buckets) {
    return prices(pool, buckets)
        .map(
            moments -> {
              List<@Nullable Double> clearing = new ArrayList<>();
              List<@Nullable Long> admission = new ArrayList<>();
              for (int i = 0; i < buckets.count(); i++) {
                clearing.add(HistorySeries.mean(moments.get(i).sums(), moments.get(i + 1).sums()));
                admission.add(moments.get(i + 1).admissionCents());
              }
              return new PriceHistory(
                  buckets.t0Seconds(), buckets.stepSeconds(), clearing, admission);
            });
  }

  /** A pool's prices at one moment: the running sums, and the admission price in force. */
  private record Moment(HistorySeries.PriceAt sums, @Nullable Long admissionCents) {}

  private static List<HistorySeries.PriceAt> sums(List<Moment> moments) {
    return moments.stream().map(Moment::sums).toList();
  }

  private Future<List<Moment>> prices(String pool, HistorySeries.Buckets buckets) {
    return database.read(
        PRICES,
        List.of(buckets.firstMillis(), buckets.stepMillis(), buckets.endMillis(), pool, pool),
        row -> new Moment(priceAt(row), row.integerOrNull("admission_cents")));
  }

  private static HistorySeries.PriceAt priceAt(Row row) {
    Long pointMillis = row.integerOrNull("ts");
    if (pointMillis == null) {
      return new HistorySeries.PriceAt(0, 0);
    }
    Long cents = row.integerOrNull("clearing_cents");
    long since = cents == null ? 0 : row.integer("at") - pointMillis;
    return new HistorySeries.PriceAt(
        row.integer("cents_millis") + since * (cents == null ? 0 : cents),
        row.integer("priced_millis") + since);
  }

  private Future<Long> heldBefore(String cluster, HistorySeries.Buckets buckets) {
    return database.readOne(
        HELD,
        List.of(cluster, buckets.firstMillis(), buckets.firstMillis()),
        row -> row.integer("held"));
  }

  /** Counts grants or reclaims in each bucket: pairs of bucket and count. */
  private Future<List<long[]>> perBucket(
      String sql, String cluster, HistorySeries.Buckets buckets) {
    return database.read(
        sql,
        List.of(
            buckets.firstMillis(),
            buckets.stepMillis(),
            cluster,
            buckets.firstMillis(),
            buckets.endMillis()),
        row -> new long[] {row.integer("bucket"), row.integer("nodes")});
  }
}
