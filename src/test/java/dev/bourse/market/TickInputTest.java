package dev.bourse.market;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Shown;
import dev.bourse.core.ApiException;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Switches;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The clusters of a pool in the input of a tick, which is maintained as they change. */
@Tag("fast")
class TickInputTest {
  private static final int CLUSTERS = 40;
  private static final int CHANGES = 20_000;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final Clusters clusters =
      new Clusters(new Switches(true, false, false), Clock.systemUTC());
  private final List<Node> nodes = new ArrayList<>();
  private Pool pool = POOL;
  private long now = T0;
  private int granted;
  private int left;

  @Test
  void aTickFromTheClustersThatStirDecidesWhatOneFromAllOfThemDoes() {
    System.out.println("seed " + seed);
    start(CLUSTERS);
    for (int change = 0; change < CHANGES; change++) {
      now += 1_000;
      changeOne();
      if (random.nextInt(5) == 0) {
        settle(decided());
      }
    }
    assertTrue(granted > 100, "granted " + granted);
    assertTrue(left > CHANGES / 50, "clusters no tick looked at: " + left);
  }

  @Test
  void anIdleClusterIsLookedAtOnceWhenTheDetectorIsSwitchedAndNeverOtherwise() {
    start(3);
    settle(decided());
    assertEquals(List.of(), clusters.ofTick(pool));

    arm(!pool.detectorArmed());

    assertEquals(3, clusters.ofTick(pool).size());
    assertEquals(3, decided().decided().size());
    settle(decided());
    assertEquals(List.of(), clusters.ofTick(pool));
    assertEquals(3, clusters.ofPool(pool.name()).size());
  }

  @Test
  void aPreviewForAClusterThatNoTickLooksAtIsThatFromAllClusters() {
    start(3);
    settle(decided());
    Cluster bidding =
        Capacity.declare(cluster("c1"), Sample.order(8, "2.50", 0), Sample.TERMS, now).next();
    Tick.Nodes seen = new Tick.Nodes(nodes, Set.of(), Map.of());
    Tick all = new Tick(pool, clusters.ofPool(pool.name()), FRESHNESS, now).with(bidding);
    Tick some = new Tick(pool, clusters.ofTick(pool), FRESHNESS, now).with(bidding);

    assertEquals(all.preview(bidding, all.decide(seen)), some.preview(bidding, some.decide(seen)));
    assertEquals(1, some.preview(bidding, some.decide(seen)).nodesWon());
  }

  private void start(int count) {
    clusters.put(pool);
    for (int i = 0; i < count; i++) {
      Cluster.Posture posture = i % 10 == 9 ? Cluster.Posture.STATIC : Cluster.Posture.MARKET;
      Shown.publish(
          clusters, Cluster.created("c" + i, "org" + i % 4, pool.name(), Cluster.Kind.VM, posture));
      if (i % 4 == 0) {
        nodes.add(new Node(new Machine("n" + i, Sample.ip(i), 22, null), false, 0, 0, null));
      }
    }
  }

  /** Returns the outcome of both inputs, which must agree. */
  private Tick.Outcome decided() {
    List<ClusterView> some = clusters.ofTick(pool);
    left += clusters.ofPool(pool.name()).size() - some.size();
    Tick.Nodes seen = new Tick.Nodes(nodes, Set.of(), Map.of());
    Tick.Outcome all = new Tick(pool, clusters.ofPool(pool.name()), FRESHNESS, now).decide(seen);
    assertEquals(all, new Tick(pool, some, FRESHNESS, now).decide(seen));
    return all;
  }

  private void changeOne() {
    Cluster cluster = cluster("c" + random.nextInt(CLUSTERS));
    int kind = random.nextInt(100);
    if (kind == 0) {
      arm(random.nextBoolean());
    } else if (kind < 5) {
      Hold.Stage stage = List.of(Hold.Stage.values()).get(random.nextInt(3));
      Hold hold = random.nextBoolean() ? null : new Hold(stage, "balance", null);
      Shown.publish(clusters, DirectChange.hold(hold).apply(cluster, now).next());
    } else if (kind < 50) {
      int gpus = random.nextInt(3) > 0 ? 0 : 8 * (1 + random.nextInt(4));
      String price = "2." + (1 + random.nextInt(9)) + "0";
      try {
        Shown.publish(
            clusters,
            Capacity.declare(
                    cluster, Sample.order(gpus, price, cluster.version()), Sample.TERMS, now)
                .next());
      } catch (ApiException refused) {
        // A rejected command changes nothing.
      }
    } else {
      machinesFollow(cluster);
    }
  }

  private void machinesFollow(Cluster cluster) {
    for (Allocation a : cluster.allocations()) {
      Cluster current = cluster(cluster.name());
      if (a.state() == Allocation.State.RECLAIMING) {
        Shown.publish(clusters, MarketTransitions.reclaimed(current, a.allocationId()).next());
      } else if (a.state() == Allocation.State.PROVISIONING) {
        Shown.publish(
            clusters, MarketTransitions.provisioned(current, a.allocationId(), 3_000, now).next());
      }
    }
  }

  private void settle(Tick.Outcome outcome) {
    outcome
        .decided()
        .forEach(
            (name, decided) -> {
              List<MarketTransitions.Orders.Grant> grants = new ArrayList<>();
              for (Clearing.Grant grant : decided.grants()) {
                grants.add(
                    new MarketTransitions.Orders.Grant(
                        "a" + granted++,
                        grant.nodeId(),
                        Sample.ip(Integer.parseInt(grant.nodeId().substring(1))),
                        grant.replaces(),
                        List.of(),
                        decided.minimumSlots(grant)));
              }
              Shown.publish(
                  clusters,
                  MarketTransitions.settle(cluster(name), decided.orders(grants, 8, FRESHNESS), now)
                      .next());
            });
  }

  private void arm(boolean armed) {
    pool = POOL.with(p -> p.rules(new Pool.Rules(armed, true, false, Pool.Tenants.LOGIN, null)));
    clusters.put(pool);
  }

  private Cluster cluster(String name) {
    return clusters.find(name).orElseThrow().cluster();
  }
}
