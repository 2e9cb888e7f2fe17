package dev.bourse.market;

import dev.bourse.capacity.Clusters;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the status of the markets of all pools and their machines, for operators. */
public final class MarketStatus {
  /** Pools in one status: as many as fit on a screen. A list has the rest. */
  public static final int MOST_POOLS = 100;

  /** Quarantined machines in one status: those that have waited longest. */
  public static final int MOST_NODES = 20;

  private static final long MICROS_PER_CENT = 10_000;

  private final NodeStore nodes;
  private final LeaseStore leases;
  private final Clusters clusters;
  private final Clock clock;

  public MarketStatus(Database database, Clusters clusters, Clock clock) {
    this.nodes = new NodeStore(database);
    this.leases = new LeaseStore(database);
    this.clusters = clusters;
    this.clock = clock;
  }

  /**
   * The status of one pool.
   *
   * @param quote the last quote of its market; empty before the first tick that this process knows
   * @param holder the process that runs its market; empty while no process does
   * @param nodes the number of nodes in each state; a state without nodes is missing
   * @param unhealthy nodes whose last check found a fault of their hardware
   */
  public record PoolStatus(
      Pool pool,
      Optional<Quote> quote,
      Optional<LeaseStore.Holder> holder,
      Map<NodeView.State, Long> nodes,
      long unhealthy) {

    /** Returns the number of nodes that are not retired. */
    public long all() {
      return nodes.values().stream().mapToLong(Long::longValue).sum();
    }

    public long in(NodeView.State state) {
      return nodes.getOrDefault(state, 0L);
    }

    /**
     * Returns the most that the held nodes bring in per hour, in micro-dollars: all at the clearing
     * price, though some organizations pay less and a node in preparation is not billed yet. Null
     * without a clearing price.
     */
    public @Nullable Long revenueMicrosPerHour() {
      return quote
          .map(Quote::clearingCents)
          .map(cents -> in(NodeView.State.HELD) * pool.gpusPerNode() * cents * MICROS_PER_CENT)
          .orElse(null);
    }

    /**
     * Returns by how many milliseconds the next tick is overdue; 0 if it is not, null before the
     * first tick.
     */
    public @Nullable Long overdueMillis(long nowMillis) {
      return quote
          .filter(last -> last.tickAtMillis() > 0)
          .map(last -> Math.max(0, nowMillis - last.nextTickAtMillis()))
          .orElse(null);
    }
  }

  /**
   * The status of all pools.
   *
   * @param atMillis when it was read
   * @param pools the first {@link #MOST_POOLS} by name
   * @param poolsLeftOff the number of further pools
   * @param quarantined the number of nodes that wait for an operator
   * @param longest the nodes among them that have waited longest
   */
  public record Standing(
      long atMillis,
      List<PoolStatus> pools,
      int poolsLeftOff,
      long quarantined,
      List<NodeView> longest) {
    public Standing {
      pools = List.copyOf(pools);
      longest = List.copyOf(longest);
    }
  }

  /** Reads the status with four queries, one of which looks at every machine. */
  public Future<Standing> read() {
    long now = clock.millis();
    Future<List<NodeStore.Count>> counts = nodes.countStates(now);
    Future<List<LeaseStore.Holder>> holders = leases.listHolders();
    Future<Long> quarantined = nodes.countQuarantined();
    Future<List<NodeStore.StoredNode>> longest = nodes.listQuarantined(MOST_NODES);
    return Future.all(counts, holders, quarantined, longest)
        .map(
            read ->
                standing(
                    now,
                    counts.result(),
                    holders.result(),
                    quarantined.result(),
                    longest.result().stream().map(node -> new NodeView(node, now)).toList()));
  }

  private Standing standing(
      long now,
      List<NodeStore.Count> counts,
      List<LeaseStore.Holder> holders,
      long quarantined,
      List<NodeView> longest) {
    Map<String, Map<NodeView.State, Long>> byPool = new HashMap<>();
    Map<String, Long> unhealthy = new HashMap<>();
    for (NodeStore.Count count : counts) {
      byPool
          .computeIfAbsent(count.pool(), pool -> new EnumMap<>(NodeView.State.class))
          .put(count.state(), count.nodes());
      unhealthy.merge(count.pool(), count.unhealthy(), Long::sum);
    }
    Map<String, LeaseStore.Holder> byLease = new HashMap<>();
    holders.forEach(holder -> byLease.put(holder.pool(), holder));
    List<Pool> all = clusters.pools();
    List<PoolStatus> pools = new ArrayList<>();
    for (Pool pool : all.subList(0, Math.min(all.size(), MOST_POOLS))) {
      pools.add(
          new PoolStatus(
              pool,
              clusters.findQuote(pool.name()),
              Optional.ofNullable(byLease.get(pool.name())),
              byPool.getOrDefault(pool.name(), Map.of()),
              unhealthy.getOrDefault(pool.name(), 0L)));
    }
    return new Standing(now, pools, all.size() - pools.size(), quarantined, longest);
  }
}
