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

/** How the markets of all pools and their machines stand, for operators. */
public final class MarketStatus {
  /** As many as a person reads on a screen; whoever wants more asks for a list. */
  public static final int MOST_POOLS = 100;

  /** As many of the machines that wait longest. */
  public static final int MOST_NODES = 20;

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
   * How one pool stands.
   *
   * @param quote what its market last published; empty before the first tick this process knows
   * @param holder who runs its market; empty while nobody does
   * @param nodes how many nodes are in each state; a state without any is missing
   */
  public record PoolStatus(
      Pool pool,
      Optional<Quote> quote,
      Optional<LeaseStore.Holder> holder,
      Map<NodeView.State, Long> nodes) {

    /** How many nodes it has that are not retired. */
    public long all() {
      return nodes.values().stream().mapToLong(Long::longValue).sum();
    }

    public long in(NodeView.State state) {
      return nodes.getOrDefault(state, 0L);
    }

    /** By how much its next tick is overdue; 0 when it is not, null before the first. */
    public @Nullable Long overdueMillis(long nowMillis) {
      return quote
          .filter(told -> told.tickAtMillis() > 0)
          .map(told -> Math.max(0, nowMillis - told.nextTickAtMillis()))
          .orElse(null);
    }
  }

  /**
   * How all stands.
   *
   * @param atMillis when it was read
   * @param pools the first {@link #MOST_POOLS} by name
   * @param poolsLeftOff how many there are besides
   * @param quarantined how many nodes wait for an operator
   * @param longest those of them that wait longest
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

  /** Reads it; four queries, one of which looks at every machine. */
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
    counts.forEach(
        count ->
            byPool
                .computeIfAbsent(count.pool(), pool -> new EnumMap<>(NodeView.State.class))
                .put(count.state(), count.nodes()));
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
              byPool.getOrDefault(pool.name(), Map.of())));
    }
    return new Standing(now, pools, all.size() - pools.size(), quarantined, longest);
  }
}
