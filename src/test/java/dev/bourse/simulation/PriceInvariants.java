package dev.bourse.simulation;

import dev.bourse.store.Correction;
import dev.bourse.store.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Invariants of stored prices, whatever the clocks show. */
final class PriceInvariants {
  private PriceInvariants() {}

  /** Creates a fresh instance of each. */
  static List<Invariant> all() {
    return List.of(new PricesSumUp(), new NoPriceLiesAhead());
  }

  private record Point(long atMillis, @Nullable Long cents, long centsMillis, long pricedMillis) {}

  private static List<Point> points(World world) {
    return world
        .server
        .engine()
        .query(
            "SELECT ts, clearing_cents, cents_millis, priced_millis FROM price_point"
                + " WHERE pool = ? ORDER BY ts",
            List.of(World.POOL),
            row ->
                new Point(
                    row.integer("ts"),
                    row.integerOrNull("clearing_cents"),
                    row.integer("cents_millis"),
                    row.integer("priced_millis")));
  }

  /** The sums of each change point follow from the one before it. */
  static final class PricesSumUp extends Invariant {
    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!touches(statements, "price_point")) {
        return;
      }
      Point before = null;
      for (Point point : points(world)) {
        long span =
            before == null || before.cents() == null ? 0 : point.atMillis() - before.atMillis();
        long cents = before == null || before.cents() == null ? 0 : before.cents();
        if (before != null
            && (point.pricedMillis() != before.pricedMillis() + span
                || point.centsMillis() != before.centsMillis() + span * cents)) {
          throw violated("{} stored prices of which {} does not follow {}", process, point, before);
        }
        before = point;
      }
    }
  }

  /** At rest, when every clock is right again and confirmed, no change point is in the future. */
  static final class NoPriceLiesAhead extends Invariant {
    @Override
    void atRest(World world) {
      for (Point point : points(world)) {
        if (point.atMillis() > world.nowMillis() + Correction.APART_MILLIS) {
          throw violated("{} is later than {}", point, world.nowMillis());
        }
      }
    }
  }
}
