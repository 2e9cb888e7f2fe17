package dev.bourse.billing;

import dev.bourse.billing.PricesInForce.Declared;
import dev.bourse.billing.PricesInForce.Read;
import dev.bourse.billing.Usage.ChangePoint;
import dev.bourse.billing.Usage.Held;
import dev.bourse.billing.Usage.Line;
import dev.bourse.billing.Usage.Lock;
import dev.bourse.billing.Usage.Timeline;
import dev.bourse.capacity.CapacityConfig;
import dev.bourse.core.Slices;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the change points from which bills are computed. Their number within a span is not bounded,
 * so they are read in pieces, and only sums of them are kept.
 */
final class TimelineStore {
  /** Organizations read separately at a time, if they could not be read together. */
  static final int ALONE_AT_ONCE = 4;

  /** Hours of one piece; pieces are read one after the other. */
  private static final int HOURS_PER_PIECE = 8;

  /**
   * Clusters of one query of ceilings, times its hours. A cluster that declares as often as it may
   * moves its ceiling 720 times an hour, so a query returns 46,000 points at most, some megabytes.
   */
  private static final int CLUSTER_HOURS_PER_READ = 64;

  private final Database database;

  TimelineStore(Database database) {
    this.database = database;
  }

  /** Clusters whose column has one of these values; each is a parameter of the queries. */
  record Clusters(String column, List<String> values) {
    /** Returns the clusters of organizations: at least one organization, at most some hundred. */
    static Clusters ofOrgs(List<String> orgs) {
      return new Clusters("org_id", InList.of(orgs));
    }

    /** Returns the clusters with these names: at least one, at most some hundred. */
    static Clusters named(List<String> names) {
      return new Clusters("name", InList.of(names));
    }

    private String condition() {
      return "c.%s IN %s".formatted(column, InList.marks(values));
    }
  }

  /**
   * The inputs of the bill of one cluster that held an active node, between two moments.
   *
   * @param orgId the cluster's organization
   */
  record Piece(String orgId, Timeline timeline, long fromMillis, long toMillis) {
    List<Line> lines() {
      return Usage.lines(timeline, fromMillis, toMillis);
    }

    /** Returns the spans billed after a moment. */
    List<Usage.Span> spansFrom(long millis) {
      return Usage.spans(timeline, Math.max(fromMillis, millis), toMillis);
    }
  }

  /** Receives pieces. */
  interface Reader {
    /** Receives a piece; those of one cluster arrive in order of time. */
    void read(Piece piece);

    /** Returns false to stop; called when all clusters are read up to some full hour. */
    default boolean wantsMore() {
      return true;
    }
  }

  /**
   * Reads the inputs of the bill of each of these clusters that held an active node between two
   * moments. A declared ceiling is capped at the highest price of its piece, and unchanged values
   * are dropped: the lower of price and ceiling is billed, and an organization may declare a
   * million times an hour.
   *
   * @return fails like the store, and with the reader's exception
   */
  Future<Void> read(Clusters clusters, long fromMillis, long toMillis, Reader reader) {
    return toMillis - fromMillis <= HOURS_PER_PIECE * Usage.HOUR_MILLIS
        ? readPieces(clusters, fromMillis, toMillis, reader)
        : findFirstActive()
            .compose(
                first ->
                    first.isEmpty()
                        ? Future.succeededFuture()
                        : readPieces(
                            clusters, Math.max(fromMillis, first.get()), toMillis, reader));
  }

  /** A loop, because a chain of futures over a year's pieces would overflow the stack. */
  private Future<Void> readPieces(
      Clusters clusters, long fromMillis, long toMillis, Reader reader) {
    Pieces pieces = new Pieces(fromMillis, toMillis, reader);
    return BoundedWork.untilFailure(
        pieces, 1, begin -> read(clusters, false, begin, pieces.endMillis(begin), reader));
  }

  /** The starts of the pieces of a span, while the reader wants more. */
  private static final class Pieces implements Iterator<Long> {
    private final long toMillis;
    private final Reader reader;
    private long nextMillis;

    Pieces(long fromMillis, long toMillis, Reader reader) {
      this.nextMillis = fromMillis;
      this.toMillis = toMillis;
      this.reader = reader;
    }

    long endMillis(long beginMillis) {
      return Math.min(toMillis, Usage.hourOf(beginMillis) + HOURS_PER_PIECE * Usage.HOUR_MILLIS);
    }

    @Override
    public boolean hasNext() {
      return nextMillis < toMillis && reader.wantsMore();
    }

    @Override
    public Long next() {
      if (nextMillis >= toMillis) {
        throw new NoSuchElementException();
      }
      long begin = nextMillis;
      nextMillis = endMillis(begin);
      return begin;
    }
  }

  /**
   * Returns the timeline of one cluster with its uncapped ceilings, for display; empty if it held
   * no active node.
   *
   * @param toMillis at most an hour later
   */
  Future<Optional<Timeline>> findDeclared(String cluster, long fromMillis, long toMillis) {
    List<Timeline> found = new ArrayList<>();
    return read(
            Clusters.named(List.of(cluster)),
            true,
            fromMillis,
            toMillis,
            piece -> found.add(piece.timeline()))
        .map(read -> found.stream().findFirst());
  }

  private Future<Void> read(
      Clusters clusters, boolean isShown, long fromMillis, long toMillis, Reader reader) {
    if (fromMillis >= toMillis) {
      return Future.succeededFuture();
    }
    return listHeld(clusters, fromMillis, toMillis)
        .compose(
            nodes -> {
              if (nodes.isEmpty()) {
                return Future.succeededFuture();
              }
              List<String> pools = InList.of(nodes.stream().map(Node::pool).distinct().toList());
              Future<Map<String, List<ChangePoint>>> pool = prices(pools, fromMillis, toMillis);
              Future<Map<String, List<ChangePoint>>> own =
                  orgPrices(
                      pools,
                      InList.of(nodes.stream().map(Node::orgId).distinct().toList()),
                      fromMillis,
                      toMillis);
              return Future.all(pool, own)
                  .compose(
                      prices ->
                          readEach(
                              byCluster(nodes),
                              new Prices(pool.result(), own.result()),
                              isShown ? declared() : billed(pools, pool.result()),
                              fromMillis,
                              toMillis,
                              reader));
            });
  }

  private static List<List<Node>> byCluster(List<Node> nodes) {
    Map<String, List<Node>> byCluster = new LinkedHashMap<>();
    nodes.forEach(n -> byCluster.computeIfAbsent(n.cluster(), c -> new ArrayList<>()).add(n));
    return List.copyOf(byCluster.values());
  }

  /**
   * Reads only clusters that held a node, some at a time.
   *
   * @param held the nodes of each cluster
   */
  private Future<Void> readEach(
      List<List<Node>> held,
      Prices prices,
      Counted counted,
      long fromMillis,
      long toMillis,
      Reader reader) {
    long hours =
        (toMillis - fromMillis + CapacityConfig.LONGEST_TICK_MILLIS) / Usage.HOUR_MILLIS + 1;
    int clustersPerRead = Math.toIntExact(Math.max(1, CLUSTER_HOURS_PER_READ / hours));
    return BoundedWork.inTurn(
        Slices.of(held, clustersPerRead),
        some ->
            ceilings(
                    Clusters.named(some.stream().map(nodes -> nodes.get(0).cluster()).toList()),
                    counted,
                    fromMillis,
                    toMillis)
                .map(
                    ceilings -> {
                      some.forEach(
                          nodes ->
                              reader.read(piece(nodes, prices, ceilings, fromMillis, toMillis)));
                      return null;
                    }));
  }

  /** Change points of prices, by pool, and by pool and organization for prices of their own. */
  private record Prices(Map<String, List<ChangePoint>> pool, Map<String, List<ChangePoint>> own) {
    List<ChangePoint> of(Node node) {
      return PricesInForce.prices(
          pool.getOrDefault(node.pool(), List.of()),
          own.getOrDefault(subject(node.pool(), node.orgId()), List.of()));
    }
  }

  /** A space separates the two, because names contain none. */
  private static String subject(String pool, String orgId) {
    return pool + ' ' + orgId;
  }

  private static Piece piece(
      List<Node> held,
      Prices prices,
      Map<String, List<ChangePoint>> ceilings,
      long fromMillis,
      long toMillis) {
    Node first = held.get(0);
    return new Piece(
        first.orgId(),
        new Timeline(
            first.cluster(),
            held.stream().map(Node::held).toList(),
            prices.of(first),
            ceilings.getOrDefault(first.cluster(), List.of())),
        fromMillis,
        toMillis);
  }

  private record Node(String orgId, String cluster, String pool, Held held) {}

  /** A change point and its cluster or pool. */
  private record Change(String subject, ChangePoint point) {}

  /**
   * The value of a ceiling in a query: as declared, or capped as in a bill.
   *
   * @param sql an expression over activity {@code a} and cluster {@code c}
   */
  private record Counted(String sql, List<Object> parameters) {}

  private static Counted declared() {
    return new Counted("a.ceiling_cents", List.of());
  }

  /** Caps ceilings at the highest price of the cluster's pool. */
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
   * Reads two ranges of one index: nodes still held, and nodes reclaimed since. The time after a
   * declaration's end is not billed, even if the end has not been carried out yet.
   */
  private Future<List<Node>> listHeld(Clusters clusters, long fromMillis, long toMillis) {
    String held =
        """
        SELECT c.org_id, c.name, c.pool, p.gpus_per_node, a.active_at, a.reclaim_at,
        c.until_at, a.grant_price_cents, a.protected_until, a.allocation_id
        FROM cluster c JOIN pool p ON p.name = c.pool
        JOIN allocation a ON a.cluster = c.name WHERE %s
        AND a.active_at < ? AND a.reclaim_at \
        """
            .formatted(clusters.condition());
    List<Object> parameters = new ArrayList<>(clusters.values());
    parameters.add(toMillis);
    parameters.addAll(clusters.values());
    parameters.add(toMillis);
    parameters.add(fromMillis);
    return database.read(
        held + "IS NULL UNION ALL " + held + "> ? ORDER BY 1, 2, 5, 10",
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
                        row.integerOrNull("reclaim_at") == null ? "until_at" : "reclaim_at"),
                    lock(row),
                    row.text("allocation_id"))));
  }

  private static @Nullable Lock lock(Row row) {
    Long cents = row.integerOrNull("grant_price_cents");
    Long until = row.integerOrNull("protected_until");
    return cents == null || until == null ? null : new Lock(cents, until);
  }

  /** Reads the ceilings in force of clusters, by name. */
  private Future<Map<String, List<ChangePoint>>> ceilings(
      Clusters clusters, Counted counted, long fromMillis, long toMillis) {
    Future<Map<String, List<Declared>>> declared =
        declarations(clusters, counted, fromMillis, toMillis);
    Future<Map<String, List<Read>>> reads = reads(clusters, fromMillis, toMillis);
    return Future.all(declared, reads)
        .map(
            all -> {
              Map<String, List<ChangePoint>> ceilings = new HashMap<>();
              declared
                  .result()
                  .forEach(
                      (cluster, made) ->
                          ceilings.put(
                              cluster,
                              PricesInForce.ceilings(
                                  reads.result().getOrDefault(cluster, List.of()), made)));
              return ceilings;
            });
  }

  /** Reads the ceilings that ticks read: the last before the span, and those in it. */
  private Future<Map<String, List<Read>>> reads(Clusters clusters, long fromMillis, long toMillis) {
    Map<String, List<Read>> reads = new HashMap<>();
    return database
        .read(
            """
            SELECT c.name AS subject, r.ts, r.ceiling_cents, r.priced_at FROM cluster c
            JOIN ceiling_point r ON r.cluster = c.name AND r.ts =
            (SELECT MAX(x.ts) FROM ceiling_point x WHERE x.cluster = c.name AND x.ts <= ?)
            WHERE %1$s
            UNION ALL SELECT c.name AS subject, r.ts, r.ceiling_cents, r.priced_at FROM cluster c
            JOIN ceiling_point r ON r.cluster = c.name AND r.ts > ? AND r.ts < ?
            WHERE %1$s ORDER BY 1, 2\
            """
                .formatted(clusters.condition()),
            concat(
                concat(List.of(fromMillis), clusters.values()),
                concat(List.of(fromMillis, toMillis), clusters.values())),
            row ->
                reads
                    .computeIfAbsent(row.text("subject"), name -> new ArrayList<>())
                    .add(
                        new Read(
                            row.integer("ts"),
                            row.integer("ceiling_cents"),
                            row.integer("priced_at"))))
        .map(all -> reads);
  }

  private Future<Map<String, List<Declared>>> declarations(
      Clusters clusters, Counted counted, long fromMillis, long toMillis) {
    // A declaration up to one tick before the span may take effect in it.
    long unread = fromMillis - CapacityConfig.LONGEST_TICK_MILLIS;
    List<Future<List<Made>>> queries =
        List.of(
            // Activity expires; a cluster's last declaration is kept with the cluster.
            made(
                """
                SELECT c.name AS subject, c.priced_at AS ts, c.effective_at,
                c.ceiling_cents AS cents
                FROM cluster c WHERE %s AND c.priced_at <= ?\
                """
                    .formatted(clusters.condition()),
                List.of(),
                clusters.values(),
                List.of(fromMillis)),
            made(
                """
                SELECT c.name AS subject, a.ts, a.effective_at, a.ceiling_cents AS cents
                FROM cluster c JOIN activity a ON a.id =
                (SELECT x.id FROM activity x WHERE x.cluster = c.name
                AND x.kind = 'request' AND x.ts <= ? ORDER BY x.ts DESC, x.id DESC LIMIT 1)
                WHERE %s\
                """
                    .formatted(clusters.condition()),
                List.of(unread),
                clusters.values(),
                List.of()),
            made(
                """
                SELECT subject, ts, effective_at, cents FROM (
                SELECT subject, ts, effective_at, id, cents,
                LAG(cents, 1, CAST(-1 AS BIGINT)) OVER (PARTITION BY subject ORDER BY ts, id)
                AS former FROM (
                SELECT c.name AS subject, a.ts, a.effective_at, a.id, %s AS cents
                FROM cluster c JOIN activity a
                ON a.cluster = c.name AND a.kind = 'request' AND a.ts > ? AND a.ts < ?
                WHERE %s) AS declared) AS moves
                WHERE cents IS DISTINCT FROM former ORDER BY ts, id\
                """
                    .formatted(counted.sql(), clusters.condition()),
                concat(counted.parameters(), List.of(unread, toMillis)),
                clusters.values(),
                List.of()));
    return Future.all(queries)
        .map(
            all -> {
              Map<String, List<Declared>> declared = new HashMap<>();
              for (Future<List<Made>> query : queries) {
                for (Made made : query.result()) {
                  declared
                      .computeIfAbsent(made.subject(), subject -> new ArrayList<>())
                      .add(made.declared());
                }
              }
              // The sort is stable, so rows of the same time keep the order of storage.
              declared
                  .values()
                  .forEach(list -> list.sort(Comparator.comparingLong(Declared::atMillis)));
              return declared;
            });
  }

  /** A cluster's declaration. */
  private record Made(String subject, Declared declared) {}

  private Future<List<Made>> made(String sql, List<?> first, List<String> names, List<?> last) {
    return database.read(
        sql,
        concat(concat(first, names), last),
        row -> {
          long at = row.integer("ts");
          Long effectiveAt = row.integerOrNull("effective_at");
          return new Made(
              row.text("subject"),
              new Declared(at, effectiveAt == null ? at : effectiveAt, row.integer("cents")));
        });
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

  /** Reads the prices of organizations that do not pay the pool's clearing price. */
  private Future<Map<String, List<ChangePoint>>> orgPrices(
      List<String> pools, List<String> orgs, long fromMillis, long toMillis) {
    List<Object> parameters = new ArrayList<>(List.of(fromMillis));
    parameters.addAll(pools);
    parameters.addAll(orgs);
    parameters.addAll(pools);
    parameters.addAll(orgs);
    parameters.addAll(List.of(fromMillis, toMillis));
    Map<String, List<ChangePoint>> points = new HashMap<>();
    return database
        .read(
            """
            SELECT p.pool, p.org_id, p.ts, p.cents FROM pool q CROSS JOIN org o
            JOIN org_price_point p ON p.pool = q.name AND p.org_id = o.org_id AND p.ts =
            (SELECT MAX(x.ts) FROM org_price_point x WHERE x.pool = q.name
            AND x.org_id = o.org_id AND x.ts <= ?)
            WHERE q.name IN %1$s AND o.org_id IN %2$s
            UNION ALL SELECT p.pool, p.org_id, p.ts, p.cents FROM org_price_point p
            WHERE p.pool IN %1$s AND p.org_id IN %2$s AND p.ts > ? AND p.ts < ? ORDER BY 3, 1, 2\
            """
                .formatted(InList.marks(pools), InList.marks(orgs)),
            parameters,
            row ->
                points
                    .computeIfAbsent(
                        subject(row.text("pool"), row.text("org_id")), key -> new ArrayList<>())
                    .add(new ChangePoint(row.integer("ts"), row.integerOrNull("cents"))))
        .map(read -> points);
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

  /** Returns when the first node ever became active; empty if none did. */
  Future<Optional<Long>> findFirstActive() {
    return database.readOne(
        "SELECT MIN(active_at) AS first FROM allocation",
        List.of(),
        row -> Optional.ofNullable(row.integerOrNull("first")));
  }
}
