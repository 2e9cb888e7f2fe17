package dev.bourse.market;

import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

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

  /** Stores a change point. */
  Future<Void> insert(PricePoint point, Lease lease) {
    return database.commit(List.of(lease.fence(), PRICE.insert(point)));
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
