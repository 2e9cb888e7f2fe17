package dev.bourse.billing;

import dev.bourse.billing.Usage.Line;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rows of posted usage lines. */
final class UsageStore {
  /** A UTC day. */
  static final long DAY_MILLIS = 86_400_000;

  /** A line and its organization. */
  private record Posted(String orgId, Line line) {}

  private static final Columns<Posted> LINE =
      Columns.<Posted>of("usage_line")
          .fixed("org_id", Posted::orgId)
          .fixed("hour", posted -> posted.line().hourMillis())
          .fixed("cluster", posted -> posted.line().cluster())
          .fixed("gpu_millis", posted -> posted.line().gpuMillis())
          .fixed("cent_gpu_millis", posted -> posted.line().centGpuMillis())
          .fixed("amount_micros", posted -> posted.line().amountMicros());

  private final Database database;

  UsageStore(Database database) {
    this.database = database;
  }

  /** Stores a line; belongs in the commit of its transaction. */
  static Statement insert(String orgId, Line line) {
    return LINE.insert(new Posted(orgId, line));
  }

  /** Deletes an hour's lines; belongs in the commit that reverses their transaction. */
  static Statement delete(String orgId, long hourMillis) {
    return Statement.of("DELETE FROM usage_line WHERE org_id = ? AND hour = ?", orgId, hourMillis);
  }

  /**
   * Lists posted lines by hour and cluster, after one of them.
   *
   * @param cluster only this cluster; empty for all of the organization's
   */
  Future<List<Line>> listPosted(
      String orgId,
      Optional<String> cluster,
      long fromMillis,
      long toMillis,
      UsageCursor after,
      int limit) {
    List<Object> parameters = new ArrayList<>();
    parameters.add(orgId);
    parameters.add(Math.max(fromMillis, after.hourMillis()));
    parameters.add(toMillis);
    parameters.add(after.hourMillis());
    parameters.add(after.cluster());
    cluster.ifPresent(parameters::add);
    parameters.add(limit);
    return database.read(
        """
        SELECT cluster, hour, gpu_millis, cent_gpu_millis FROM usage_line
        WHERE org_id = ? AND hour >= ? AND hour < ? AND (hour > ? OR cluster > ?)%s
        ORDER BY hour, cluster LIMIT ?\
        """
            .formatted(cluster.isPresent() ? " AND cluster = ?" : ""),
        parameters,
        row ->
            new Line(
                row.text("cluster"),
                row.integer("hour"),
                row.integer("gpu_millis"),
                row.integer("cent_gpu_millis")));
  }

  /** The usage of one cluster over some time. */
  record Total(String cluster, long gpuMillis, long amountMicros) {}

  /** Lists posted usage between two hours, by cluster. */
  Future<List<Total>> listTotals(String orgId, long fromMillis, long toMillis) {
    return database.read(
        """
        SELECT cluster, CAST(SUM(gpu_millis) AS BIGINT) AS gpu_millis,
        CAST(SUM(amount_micros) AS BIGINT) AS amount_micros
        FROM usage_line WHERE org_id = ? AND hour >= ? AND hour < ?
        GROUP BY cluster ORDER BY cluster\
        """,
        List.of(orgId, fromMillis, toMillis),
        row ->
            new Total(
                row.text("cluster"), row.integer("gpu_millis"), row.integer("amount_micros")));
  }

  /**
   * Hours of one cluster.
   *
   * @param fromMillis start of the first hour
   * @param toMillis end of the last hour
   */
  record Hours(String orgId, String cluster, long fromMillis, long toMillis) {}

  /**
   * Sums up the posted lines of these hours, in cents x GPU-milliseconds, by cluster; at most some
   * hundred.
   */
  Future<Map<String, Long>> sumPosted(List<Hours> hours) {
    if (hours.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    List<Object> parameters = new ArrayList<>();
    hours.forEach(
        h -> parameters.addAll(List.of(h.orgId(), h.fromMillis(), h.toMillis(), h.cluster())));
    Map<String, Long> sums = new HashMap<>();
    return database
        .read(
            """
            SELECT cluster, CAST(SUM(cent_gpu_millis) AS BIGINT) AS posted FROM usage_line
            WHERE %s GROUP BY cluster\
            """
                .formatted(
                    String.join(
                        " OR ",
                        Collections.nCopies(
                            hours.size(),
                            "(org_id = ? AND hour >= ? AND hour < ? AND cluster = ?)"))),
            parameters,
            row -> sums.put(row.text("cluster"), row.integer("posted")))
        .map(read -> sums);
  }

  /** Lists posted usage between two hours, by day and cluster. */
  Future<List<SpendLimitService.Day>> listDays(String orgId, long fromMillis, long toMillis) {
    return database.read(
        """
        SELECT hour / %1$d AS day, cluster, CAST(SUM(gpu_millis) AS BIGINT) AS gpu_millis,
        CAST(SUM(amount_micros) AS BIGINT) AS amount_micros
        FROM usage_line WHERE org_id = ? AND hour >= ? AND hour < ?
        GROUP BY hour / %1$d, cluster\
        """
            .formatted(DAY_MILLIS),
        List.of(orgId, fromMillis, toMillis),
        row ->
            new SpendLimitService.Day(
                row.integer("day") * DAY_MILLIS,
                row.text("cluster"),
                row.integer("gpu_millis"),
                row.integer("amount_micros")));
  }

  /** Lists organizations with clusters, by id, after one of them. */
  Future<List<String>> listBilled(String after, int limit) {
    return database.read(
        "SELECT DISTINCT org_id FROM cluster WHERE org_id > ? ORDER BY org_id LIMIT ?",
        List.of(after, limit),
        row -> row.text("org_id"));
  }
}
