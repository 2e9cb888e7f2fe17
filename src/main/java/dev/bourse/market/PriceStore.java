package dev.bourse.market;

import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of pools' prices. */
final class PriceStore {
  private static final Columns<PricePoint> PRICE =
      Columns.<PricePoint>of("price_point")
          .fixed("pool", PricePoint::pool)
          .fixed("ts", PricePoint::atMillis)
          .fixed("clearing_cents", PricePoint::clearingCents)
          .fixed("admission_cents", PricePoint::admissionCents)
          .fixed("cents_millis", PricePoint::centsMillis)
          .fixed("priced_millis", PricePoint::pricedMillis);

  private final Database database;

  PriceStore(Database database) {
    this.database = database;
  }

  Future<Optional<PricePoint>> findLast(String pool) {
    return findAt(pool, Long.MAX_VALUE);
  }

  /** The latest change point that is not after a moment. */
  Future<Optional<PricePoint>> findAt(String pool, long atMillis) {
    return database.readFirst(
        "SELECT %s FROM price_point WHERE pool = ? AND ts <= ? ORDER BY ts DESC LIMIT 1"
            .formatted(PRICE.names()),
        List.of(pool, atMillis),
        row ->
            new PricePoint(
                row.text("pool"),
                row.integer("ts"),
                row.integerOrNull("clearing_cents"),
                row.integerOrNull("admission_cents"),
                row.integer("cents_millis"),
                row.integer("priced_millis")));
  }

  /** What organizations pay now whose price is not the pool's clearing price. */
  Future<Map<String, Long>> findOrgCents(String pool) {
    Map<String, Long> cents = new HashMap<>();
    return database
        .read(
            """
            SELECT p.org_id, p.cents FROM org_price_point p WHERE p.pool = ? AND p.ts =
            (SELECT MAX(x.ts) FROM org_price_point x WHERE x.pool = p.pool AND x.org_id = p.org_id)
            AND p.cents IS NOT NULL\
            """,
            List.of(pool),
            row -> cents.put(row.text("org_id"), row.integer("cents")))
        .map(read -> cents);
  }

  /**
   * A change point of what an organization pays.
   *
   * @param cents null when it is the pool's clearing price again
   */
  static Statement insert(String pool, String orgId, long atMillis, @Nullable Long cents) {
    return Statement.of(
        """
        INSERT INTO org_price_point (pool, org_id, ts, cents) VALUES (?, ?, ?, ?)
        ON CONFLICT (pool, org_id, ts) DO UPDATE SET cents = excluded.cents\
        """,
        pool,
        orgId,
        atMillis,
        cents);
  }

  /** Stores a tick's change points: the pool's, if it has one, and organizations'. */
  Future<Void> store(Optional<PricePoint> point, List<Statement> orgs, Lease lease) {
    List<Statement> statements = new ArrayList<>();
    statements.add(lease.fence());
    point.ifPresent(changed -> statements.add(PRICE.insert(changed)));
    statements.addAll(orgs);
    return database.commit(statements);
  }

  /**
   * Stores a change point in the place of all that lie after it, which a clock that was ahead has
   * written.
   */
  Future<Void> supersede(PricePoint point, Lease lease) {
    return database.commit(
        List.of(
            lease.fence(),
            Statement.of(
                "DELETE FROM price_point WHERE pool = ? AND ts >= ?",
                point.pool(),
                point.atMillis()),
            PRICE.insert(point)));
  }
}
