package dev.bourse.capacity;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;

/**
 * Counts, for operators, the effects of organizations on the other bidders of a pool: nodes that
 * others lost to their bids, and seats and new nodes that they gave up. It costs nothing to outbid
 * another organization and cancel, so operators must see organizations that do it often.
 */
public final class BidderEvents {
  /** How long events are stored and counted. */
  public static final long KEPT_MILLIS = 30L * 24 * 3_600_000;

  /** Most events of an answer; the limit bounds the time of the query. */
  static final int MOST_EVENTS = 10_000;

  /** Most organizations of an answer; the others gave up fewer. */
  public static final int SHOWN = 100;

  /** Rows of one commit; deleting them occupies the writer for about 10 ms. */
  private static final int ROWS_PER_COMMIT = 500;

  private static final String DELETE = "DELETE FROM bidder_event WHERE id = ?";

  private final Database database;

  /**
   * The counts of one organization.
   *
   * @param evicted nodes of others that the market took back while this organization's bid waited
   *     for them
   * @param givenUp seats that it won and new nodes that it gave up or refused
   */
  public record Bidder(String orgId, long evicted, long givenUp) {}

  /**
   * The counts of a pool's bidders.
   *
   * @param sinceMillis the time from which events are counted
   */
  public record Summary(long sinceMillis, List<Bidder> bidders) {}

  /**
   * The amounts that one event adds to an organization's counts.
   *
   * @param evicted nodes that another organization lost to its bid
   * @param givenUp seats and new nodes that it gave up or refused
   */
  record Count(String orgId, int evicted, int givenUp) {
    /** Returns the count of seats and nodes that a cluster gave up; empty if it gave up nothing. */
    static List<Count> listGivenUp(Cluster cluster, int givenUp) {
      return givenUp == 0 ? List.of() : List.of(new Count(cluster.orgId(), 0, givenUp));
    }
  }

  private record Event(long id, long atMillis) {}

  public BidderEvents(Database database) {
    this.database = database;
  }

  /** Returns the insert of one event. */
  static Statement insert(String pool, long nowMillis, Count count) {
    return Statement.of(
        "INSERT INTO bidder_event (pool, org_id, ts, evicted, given_up) VALUES (?, ?, ?, ?, ?)",
        pool,
        count.orgId(),
        nowMillis,
        count.evicted(),
        count.givenUp());
  }

  /**
   * Counts the events of a pool since then, but at most the newest {@link #MOST_EVENTS}. Rejected:
   * a row for each organization and day, which events add to. Processes that commit changes of two
   * clusters of an organization would wait for each other on it, and commits of several
   * organizations could end in a deadlock.
   */
  public Future<Summary> readSummary(String pool, long sinceMillis) {
    return database
        .read(
            """
            SELECT ts FROM bidder_event WHERE pool = ? AND ts >= ? ORDER BY ts DESC
            LIMIT 1 OFFSET ?\
            """,
            List.of(pool, sinceMillis, MOST_EVENTS),
            row -> row.integer("ts") + 1)
        .compose(
            later -> {
              long since = later.isEmpty() ? sinceMillis : later.get(0);
              return list(pool, since).map(bidders -> new Summary(since, bidders));
            });
  }

  private Future<List<Bidder>> list(String pool, long sinceMillis) {
    return database.read(
        """
        SELECT org_id, SUM(evicted) AS evicted, SUM(given_up) AS given_up FROM bidder_event
        WHERE pool = ? AND ts >= ? GROUP BY org_id ORDER BY 3 DESC, 2 DESC, 1 LIMIT ?\
        """,
        List.of(pool, sinceMillis, SHOWN),
        row -> new Bidder(row.text("org_id"), row.integer("evicted"), row.integer("given_up")));
  }

  /**
   * Deletes some events that are older than {@link #KEPT_MILLIS}.
   *
   * @param nowMillis confirmed time
   * @return true if more may remain
   */
  public Future<Boolean> deleteSome(long nowMillis) {
    return database
        .read(
            "SELECT id, ts FROM bidder_event WHERE id > 0 ORDER BY id LIMIT ?",
            List.of(ROWS_PER_COMMIT),
            row -> new Event(row.integer("id"), row.integer("ts")))
        .compose(
            events -> {
              List<Statement> old =
                  events.stream()
                      .filter(event -> event.atMillis() < nowMillis - KEPT_MILLIS)
                      .map(event -> Statement.of(DELETE, event.id()))
                      .toList();
              return old.isEmpty()
                  ? Future.succeededFuture(false)
                  : database.commit(old).map(old.size() == ROWS_PER_COMMIT);
            });
  }
}
