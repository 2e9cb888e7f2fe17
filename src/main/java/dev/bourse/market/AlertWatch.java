package dev.bourse.market;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.MarketTransitions.Orders.Alerted;
import dev.bourse.pools.Demand;
import dev.bourse.pools.Rivalry;
import java.util.Map;
import java.util.Optional;

/**
 * The prices and bids of one tick, from which clusters' alerts are evaluated. Pure.
 *
 * @param seats nodes that bids compete for
 * @param demand the demand of the tick, on the price grid
 * @param rivalry the highest ceilings of the tick, on the price grid
 * @param spent the amounts spent of budgets, by cluster
 */
record AlertWatch(
    Clearing clearing,
    int seats,
    Demand demand,
    Rivalry rivalry,
    Map<String, Spent> spent,
    long nowMillis) {

  /**
   * Returns the alerts of a cluster that change at this tick; empty if none changes or the cluster
   * declares no GPUs.
   */
  Optional<Alerted> look(Cluster cluster) {
    Declaration declared = cluster.declared();
    Alerts before = cluster.alerts();
    // A tick looks at all clusters, and most have no alerts.
    if (before.areNone() || declared == null || declared.maxGpus() == 0) {
      return Optional.empty();
    }
    Alerts.Readings seen = readings(cluster, declared);
    Alerts next = before.after(seen);
    return next.equals(before)
        ? Optional.empty()
        : Optional.of(new Alerted(before, next, next.newSince(before, seen)));
  }

  private Alerts.Readings readings(Cluster cluster, Declaration declared) {
    Long until = declared.untilMillis();
    Spent used = spent.get(cluster.name());
    return new Alerts.Readings(
        declared.ceilingCents(),
        rivalry.rivalCents(cluster.orgId()),
        clearing.centsOf(cluster.orgId()),
        Math.max(0, seats - demand.atOrAbove(declared.ceilingCents())),
        used == null || !used.budget().equals(declared.budget())
            ? null
            : Long.valueOf(used.micros()),
        until == null ? null : Long.valueOf(until - nowMillis));
  }
}
