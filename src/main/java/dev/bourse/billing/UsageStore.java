package dev.bourse.billing;

import dev.bourse.billing.Usage.ChangePoint;
import dev.bourse.billing.Usage.Held;
import dev.bourse.billing.Usage.Line;
import dev.bourse.billing.Usage.Timeline;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads of the change points that bills follow from, and the rows of lines posted. */
final class UsageStore {
  /** A day in UTC. */
  static final long DAY_MILLIS = 86_400_000;

  /** Clusters of one query of ceilings; each is a parameter of it. */
  private static final int CLUSTERS_PER_READ = 64;

  /** A line and the organization it is of. */
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

  /** A cluster's timeline and whose it is. */
  record Billed(String orgId, Timeline timeline) {}

  private record Node(String orgId, String cluster, String pool, Held held) {}

  /** A change point and the cluster or pool it is of. */
  private record Change(String subject, ChangePoint point) {}

  /** Clusters whose column has one of these names. */
  private record Clusters(String column, List<String> names) {
    String condition() {
      return "c.%s IN %s".formatted(column, InList.marks(names));
    }
  }

  /**
   * What bears on the bill of every cluster of these organizations that held an active node between
   * two moments. A ceiling counts up to the highest price of that time, and only where it moves:
   * the lower of the two is what is billed, and an organization may declare a million times an
   * hour.
   *
   * @param orgs at most some hundred, each is a parameter of the queries
   */
  Future<List<Billed>> listTimelines(List<String> orgs, long fromMillis, long toMillis) {
    return orgs.isEmpty()
        ? Future.succeededFuture(List.of())
        : list(new Clusters("org_id", InList.of(orgs)), false, fromMillis, toMillis);
  }

  /**
   * The timeline of one cluster with its ceilings as they were declared, to be shown; empty when it
   * held no active node.
   */
  Future<Optional<Timeline>> findTimeline(String cluster, long fromMillis, long toMillis) {
    return list(new Clusters("name", InList.of(List.of(cluster))), true, fromMillis, toMillis)
        .map(found -> found.stream().map(Billed::timeline).findFirst());
  }

  private Future<List<Billed>> list(
      Clusters clusters, boolean isShown, long fromMillis, long toMillis) {
    return listHeld(clusters, fromMillis, toMillis)
        .compose(
            nodes -> {
              if (nodes.isEmpty()) {
                return Future.succeededFuture(List.of());
              }
              List<String> pools = InList.of(nodes.stream().map(Node::pool).distinct().toList());
              return prices(pools, fromMillis, toMillis)
                  .compose(
                      prices ->
                          ceilings(
                                  nodes.stream().map(Node::cluster).distinct().toList(),
                                  isShown ? declared() : billed(pools, prices),
                                  fromMillis,
                                  toMillis)
                              .map(ceilings -> gather(nodes, ceilings, prices)));
            });
  }

  /** Of those clusters alone that held a node, some at a time. */
  private Future<Map<String, List<ChangePoint>>> ceilings(
      List<String> clusters, Counted counted, long fromMillis, long toMillis) {
    Map<String, List<ChangePoint>> all = new HashMap<>();
    Future<Void> read = Future.succeededFuture();
    for (int from = 0; from < clusters.size(); from += CLUSTERS_PER_READ) {
      List<String> some =
          clusters.subList(from, Math.min(clusters.size(), from + CLUSTERS_PER_READ));
      read =
          read.compose(
                  before ->
                      ceilings(
                          new Clusters("name", InList.of(some)), counted, fromMillis, toMillis))
              .onSuccess(all::putAll)
              .mapEmpty();
    }
    return read.map(all);
  }

  /**
   * What a declared ceiling counts as.
   *
   * @param sql an expression over activity {@code a} and cluster {@code c}
   */
  private record Counted(String sql, List<Object> parameters) {}

  private static Counted declared() {
    return new Counted("a.ceiling_cents", List.of());
  }

  /** At most the highest price of the cluster's pool. */
  private static Counted billed(List<String> pools, Map<String, List<ChangePoint>> prices) {
    String highest =
        "CASE c.pool %s ELSE 0 END"
            .formatted(
                String.join(
                    " ",
                    Collections.nCopies(
                        pools.size(), "WHEN CAST(? AS TEXT) THEN CAST(? AS BIGINT)")));
    List<Object> parameters = new ArrayList<>();
    for (String pool : pools) {
      parameters.add(pool);
      parameters.add(
          prices.getOrDefault(pool, List.of()).stream()
              .mapToLong(point -> point.cents() == null ? 0 : point.cents())
              .max()
              .orElse(0));
    }
    List<Object> twice = new ArrayList<>(parameters);
    twice.addAll(parameters);
    return new Counted(
        "CASE WHEN a.ceiling_cents > %1$s THEN %1$s ELSE a.ceiling_cents END".formatted(highest),
        twice);
  }

  /**
   * Two ranges of one index: what is held still, and what was given back since. Nothing is billed
   * for the time after a declaration's end, though nobody has carried it out yet.
   */
  private Future<List<Node>> listHeld(Clusters clusters, long fromMillis, long toMillis) {
    String held =
        """
        SELECT c.org_id, c.name, c.pool, p.gpus_per_node, a.active_at, a.reclaim_at,
        c.until_at FROM cluster c JOIN pool p ON p.name = c.pool
        JOIN allocation a ON a.cluster = c.name WHERE %s
        AND a.active_at < ? AND a.reclaim_at \
        """
            .formatted(clusters.condition());
    List<Object> parameters = new ArrayList<>(clusters.names());
    parameters.add(toMillis);
    parameters.addAll(clusters.names());
    parameters.add(toMillis);
    parameters.add(fromMillis);
    return database.read(
        held + "IS NULL UNION ALL " + held + "> ? ORDER BY 1, 2, 5",
        parameters,
        row ->
            new Node(
                row.text("org_id"),
                row.text("name"),
                row.text("pool"),
                new Held(
                    row.smallInteger("gpus_per_node"),
                    row.integer("active_at"),
                    row.integerOrNull(
                        row.integerOrNull("reclaim_at") == null ? "until_at" : "reclaim_at"))));
  }

  private Future<Map<String, List<ChangePoint>>> ceilings(
      Clusters clusters, Counted counted, long fromMillis, long toMillis) {
    return points(
        List.of(
            // Activity ages out; what a cluster declared last stays with the cluster.
            changes(
                """
                SELECT c.name AS subject, c.priced_at AS ts, c.ceiling_cents AS cents
                FROM cluster c WHERE %s AND c.priced_at <= ?\
                """
                    .formatted(clusters.condition()),
                List.of(),
                clusters.names(),
                List.of(fromMillis)),
            changes(
                """
                SELECT c.name AS subject, a.ts, a.ceiling_cents AS cents
                FROM cluster c JOIN activity a ON a.id =
                (SELECT x.id FROM activity x WHERE x.cluster = c.name
                AND x.kind = 'request' AND x.ts <= ? ORDER BY x.ts DESC, x.id DESC LIMIT 1)
                WHERE %s\
                """
                    .formatted(clusters.condition()),
                List.of(fromMillis),
                clusters.names(),
                List.of()),
            changes(
                """
                SELECT subject, ts, cents FROM (
                SELECT subject, ts, id, cents,
                LAG(cents, 1, CAST(-1 AS BIGINT)) OVER (PARTITION BY subject ORDER BY ts, id)
                AS former FROM (
                SELECT c.name AS subject, a.ts, a.id, %s AS cents FROM cluster c JOIN activity a
                ON a.cluster = c.name AND a.kind = 'request' AND a.ts > ? AND a.ts < ?
                WHERE %s) AS declared) AS moves
                WHERE cents IS DISTINCT FROM former ORDER BY ts, id\
                """
                    .formatted(counted.sql(), clusters.condition()),
                concat(counted.parameters(), List.of(fromMillis, toMillis)),
                clusters.names(),
                List.of())));
  }

  private static List<Object> concat(List<?> first, List<?> second) {
    List<Object> both = new ArrayList<>(first);
    both.addAll(second);
    return both;
  }

  private Future<Map<String, List<ChangePoint>>> prices(
      List<String> pools, long fromMillis, long toMillis) {
    String those =
        """
        SELECT p.pool AS subject, p.ts, p.clearing_cents AS cents FROM price_point p
        WHERE p.pool IN %s\
        """
            .formatted(InList.marks(pools));
    return points(
        List.of(
            changes(
                those
                    + """
                     AND p.ts = (SELECT MAX(x.ts) FROM price_point x
                    WHERE x.pool = p.pool AND x.ts <= ?)\
                    """,
                List.of(),
                pools,
                List.of(fromMillis)),
            changes(
                those + " AND p.ts > ? AND p.ts < ?",
                List.of(),
                pools,
                List.of(fromMillis, toMillis))));
  }

  private Future<List<Change>> changes(
      String sql, List<?> first, List<String> names, List<?> last) {
    return database.read(
        sql,
        concat(concat(first, names), last),
        row ->
            new Change(
                row.text("subject"),
                new ChangePoint(row.integer("ts"), row.integerOrNull("cents"))));
  }

  private static Future<Map<String, List<ChangePoint>>> points(List<Future<List<Change>>> reads) {
    return Future.all(reads)
        .map(
            all -> {
              Map<String, List<ChangePoint>> points = new HashMap<>();
              for (Future<List<Change>> read : reads) {
                for (Change change : read.result()) {
                  points
                      .computeIfAbsent(change.subject(), subject -> new ArrayList<>())
                      .add(change.point());
                }
              }
              return points;
            });
  }

  private static List<Billed> gather(
      List<Node> nodes,
      Map<String, List<ChangePoint>> ceilings,
      Map<String, List<ChangePoint>> prices) {
    Map<String, List<Node>> byCluster = new LinkedHashMap<>();
    nodes.forEach(n -> byCluster.computeIfAbsent(n.cluster(), c -> new ArrayList<>()).add(n));
    List<Billed> billed = new ArrayList<>();
    byCluster.forEach(
        (cluster, held) ->
            billed.add(
                new Billed(
                    held.get(0).orgId(),
                    new Timeline(
                        cluster,
                        held.stream().map(Node::held).toList(),
                        prices.getOrDefault(held.get(0).pool(), List.of()),
                        ceilings.getOrDefault(cluster, List.of())))));
    return billed;
  }

  /** A line to be stored; goes into the commit of its transaction. */
  static Statement insert(String orgId, Line line) {
    return LINE.insert(new Posted(orgId, line));
  }

  /** Takes an hour's lines away; goes into the commit that reverses their transaction. */
  static Statement delete(String orgId, long hourMillis) {
    return Statement.of("DELETE FROM usage_line WHERE org_id = ? AND hour = ?", orgId, hourMillis);
  }

  /**
   * Posted lines by hour and cluster, after one of them.
   *
   * @param cluster only this one's; empty for all of the organization's
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

  /** What one cluster used in some time. */
  record Total(String cluster, long gpuMillis, long amountMicros) {}

  /** Posted usage between two hours, by cluster. */
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
   * @param fromMillis the first hour's beginning
   * @param toMillis the end of the last
   */
  record Hours(String orgId, String cluster, long fromMillis, long toMillis) {}

  /** What is posted for these hours, cents x GPU-milliseconds, by cluster; at most some hundred. */
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

  /** Posted usage between two hours, by day and cluster. */
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

  /** When the first node ever became active; empty when none did. */
  Future<Optional<Long>> findFirstActive() {
    return database.readOne(
        "SELECT MIN(active_at) AS first FROM allocation",
        List.of(),
        row -> Optional.ofNullable(row.integerOrNull("first")));
  }

  /** Organizations that have clusters, by id, after one of them. */
  Future<List<String>> listBilled(String after, int limit) {
    return database.read(
        "SELECT DISTINCT org_id FROM cluster WHERE org_id > ? ORDER BY org_id LIMIT ?",
        List.of(after, limit),
        row -> row.text("org_id"));
  }
}
