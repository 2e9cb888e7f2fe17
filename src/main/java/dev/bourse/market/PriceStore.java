package dev.bourse.market;

import dev.bourse.store.Columns;
import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Stores the prices of pools. */
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

  /**
   * Finds the change point in force. A change point further ahead than two clocks may differ comes
   * from a clock that was ahead and is in force for no reader.
   */
  Future<Optional<PricePoint>> findInForce(String pool, long nowMillis) {
    return database.readFirst(
        "SELECT %s FROM price_point WHERE pool = ? AND ts <= ? ORDER BY ts DESC LIMIT 1"
            .formatted(PRICE.names()),
        List.of(pool, nowMillis + Correction.APART_MILLIS),
        row ->
            new PricePoint(
                row.text("pool"),
                row.integer("ts"),
                row.integerOrNull("clearing_cents"),
                row.integerOrNull("admission_cents"),
                row.integer("cents_millis"),
                row.integer("priced_millis")));
  }

  /**
   * Reads the prices of organizations that do not pay the pool's clearing price. Costs one lookup
   * for each organization, so ticks do not call it every time.
   */
  Future<Map<String, Long>> findOrgCents(String pool, long nowMillis) {
    Map<String, Long> cents = new HashMap<>();
    return database
        .read(
            """
            SELECT p.org_id, p.cents FROM org o JOIN org_price_point p ON p.pool = ?
            AND p.org_id = o.org_id AND p.ts = (SELECT MAX(x.ts) FROM org_price_point x
            WHERE x.pool = ? AND x.org_id = o.org_id AND x.ts <= ?) AND p.cents IS NOT NULL\
            """,
            List.of(pool, pool, nowMillis + Correction.APART_MILLIS),
            row -> cents.put(row.text("org_id"), row.integer("cents")))
        .map(read -> cents);
  }

  /**
   * Returns the insert of a change point of an organization's price.
   *
   * @param cents null if the organization pays the pool's clearing price again
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

  /**
   * Stores a tick's change points of the pool's and the organizations' prices.
   *
   * @param before the pool's change point in force
   */
  Future<Void> store(
      Optional<PricePoint> before, Optional<PricePoint> point, List<Statement> orgs, Lease lease) {
    List<Statement> statements = new ArrayList<>();
    statements.add(lease.fence());
    point.ifPresent(
        changed -> {
          statements.add(carriedOn(before, changed));
          statements.add(PRICE.insert(changed));
        });
    statements.addAll(orgs);
    return database.commit(statements);
  }

  /**
   * Updates the sums of later change points, which a clock that was ahead may have stored, so that
   * they stay correct if that clock was right.
   */
  private static Statement carriedOn(Optional<PricePoint> before, PricePoint point) {
    Long cents = point.clearingCents();
    Optional<Long> centsBefore = before.map(PricePoint::clearingCents);
    return Statement.of(
        """
        UPDATE price_point SET
        cents_millis = cents_millis + CAST(? AS BIGINT) * (%1$s - CAST(? AS BIGINT)),
        priced_millis = priced_millis + CAST(? AS BIGINT) * (%1$s - CAST(? AS BIGINT))
        WHERE pool = ? AND ts > ?\
        """
            .formatted("(SELECT MIN(n.ts) FROM price_point n WHERE n.pool = ? AND n.ts > ?)"),
        (cents == null ? 0 : cents) - centsBefore.orElse(0L),
        point.pool(),
        point.atMillis(),
        point.atMillis(),
        (cents == null ? 0L : 1L) - (centsBefore.isPresent() ? 1L : 0L),
        point.pool(),
        point.atMillis(),
        point.atMillis(),
        point.pool(),
        point.atMillis());
  }

  /** Lists pools with change points later than a moment. */
  Future<List<String>> listAhead(long latestMillis) {
    return database.read(
        """
        SELECT name FROM pool WHERE EXISTS
        (SELECT 1 FROM price_point p WHERE p.pool = pool.name AND p.ts > ?) OR EXISTS
        (SELECT 1 FROM org_price_point o WHERE o.pool = pool.name AND o.ts > ?) ORDER BY name\
        """,
        List.of(latestMillis, latestMillis),
        row -> row.text("name"));
  }

  /** Deletes the change points of pools that are later than a moment. */
  Future<Void> deleteAhead(List<String> pools, long latestMillis) {
    List<Statement> statements = new ArrayList<>();
    for (String pool : pools) {
      for (String table : List.of("price_point", "org_price_point")) {
        statements.add(
            Statement.of(
                "DELETE FROM %s WHERE pool = ? AND ts > ?".formatted(table), pool, latestMillis));
      }
    }
    return database.commit(statements);
  }
}
