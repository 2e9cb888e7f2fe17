package dev.bourse.market;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.DeclarationLimits;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.Preview;
import dev.bourse.capacity.PreviewService;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Terms;
import dev.bourse.capacity.TickPreview;
import dev.bourse.core.ApiException;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Switches;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A preview agrees with the write and the tick after it, for 1,000 random declarations. */
@Tag("fast")
class PreviewAgreementTest {
  private static final int DECLARATIONS = 1_000;
  private static final int NODES = 12;
  private static final List<Hold.Stage> STAGES = List.of(Hold.Stage.values());
  private static final long TICK = 10_000;
  private static final long PROTECTION = 3 * TICK;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final Clusters known = new Clusters(new Switches(true, false, false), Clock.systemUTC());
  private final Map<String, Cluster> world = new TreeMap<>();
  private final List<Node> nodes = new ArrayList<>();
  private long now = T0;
  private int granted;

  @Test
  void aPreviewAgreesWithTheWriteAndTheNextTick() {
    System.out.println("seed " + seed);
    known.put(POOL);
    for (int i = 0; i < 10; i++) {
      String name = "c" + i;
      Cluster.Posture posture = i == 9 ? Cluster.Posture.STATIC : Cluster.Posture.MARKET;
      world.put(name, Cluster.created(name, "org" + i % 4, POOL.name(), Cluster.Kind.VM, posture));
    }
    for (int i = 0; i < NODES; i++) {
      nodes.add(new Node(new Machine("n" + i, Sample.ip(i), 22, null), false, 0, 0, null));
    }
    int refused = 0;
    int won = 0;
    int lost = 0;
    for (int round = 0; round < DECLARATIONS; round++) {
      now += TICK;
      holdSometimes();
      Cluster standing = cluster("c" + random.nextInt(10));
      Capacity.Declare order = order(standing);
      Terms terms =
          Sample.terms(POOL, null, random.nextInt(50) > 0, random.nextInt(50) > 0, Sample.CADENCE);
      Preview preview = preview(standing, order, terms);
      Preview.Expected expected = agreed(standing, order, terms, preview);
      if (expected == null) {
        refused++;
      } else {
        won += expected.nextTick().nodesWon();
        lost += expected.victims().size();
      }
      machinesFollow(now, false);
    }
    assertTrue(refused > 100 && refused < 900, "refused: " + refused);
    assertTrue(won > 30 && lost > 100, "won " + won + ", lost " + lost);
  }

  /** Checks that exactly the kept nodes that the preview names lose their protection. */
  private void assertProtectionEnds(Cluster standing, Cluster after, Set<String> unprotected) {
    for (Allocation was : standing.releaseOrder()) {
      Optional<Allocation> is = after.find(was.allocationId()).filter(Allocation::isOpen);
      if (is.isPresent()) {
        assertEquals(
            was.isShielded(now, standing.ceilingCents())
                && !is.get().isShielded(now, after.ceilingCents()),
            unprotected.contains(was.allocationId()),
            was::toString);
      }
    }
  }

  private Preview preview(Cluster standing, Capacity.Declare order, Terms terms) {
    TickPreview.Source market =
        changed -> {
          Tick tick = tick().with(changed);
          return Future.succeededFuture(tick.preview(changed, tick.decide(nodes())));
        };
    Clock clock = Clock.fixed(Instant.ofEpochMilli(now), ZoneOffset.UTC);
    return new PreviewService(known, cluster -> terms, market, clock)
        .preview(standing, order, DeclarationLimits.NONE)
        .result();
  }

  /** Writes, runs the tick and compares; returns the preview, null if the write was rejected. */
  private Preview.@Nullable Expected agreed(
      Cluster standing, Capacity.Declare order, Terms terms, Preview preview) {
    Cluster written;
    try {
      written = Capacity.declare(standing, order, terms, now).next();
    } catch (ApiException refusal) {
      ApiException told = preview.refusal();
      assertNotNull(told, refusal.detail());
      assertEquals(refusal.code(), told.code());
      assertEquals(refusal.detail(), told.detail());
      assertEquals(refusal.extras(), told.extras());
      tickForReal();
      return null;
    }
    assertNull(preview.refusal());
    Preview.Expected expected = preview.expected();
    assertNotNull(expected);
    assertEquals(written, expected.state().cluster());
    world.put(written.name(), written);
    Clearing clearing = tickForReal().clearing();
    Cluster after = cluster(written.name());
    assertEquals(clearing.centsOf(written.orgId()), expected.nextTick().clearingCents());
    assertEquals(clearing.admissionCents(), expected.nextTick().admissionCents());
    Set<String> gone = open(standing);
    gone.removeAll(open(after));
    assertEquals(gone, ids(expected.victims()), "victims");
    assertProtectionEnds(standing, after, ids(expected.unprotected()));
    Set<String> fresh = open(after);
    fresh.removeAll(open(standing));
    assertEquals(fresh.size(), expected.nextTick().nodesGranted(), "granted at once");
    // An organization that gave up a seat or a node ranks last at each tick at which others wait.
    boolean isGivenUp = world.values().stream().anyMatch(c -> c.standing().ranksLast(now));
    // Without other changes, won nodes are granted when they come back.
    int kept = after.releaseOrder().size() - fresh.size();
    for (int i = 0; i < 4; i++) {
      machinesFollow(now, true);
      tickForReal();
    }
    Cluster settled = cluster(written.name());
    if (isGivenUp) {
      return expected;
    }
    assertEquals(
        kept + expected.nextTick().nodesWon(), settled.releaseOrder().size(), "won in the end");
    assertEquals(settled.pending(POOL.gpusPerNode()), expected.nextTick().nodesUnfilled());
    return expected;
  }

  private void holdSometimes() {
    if (random.nextInt(20) == 0) {
      Hold.Stage stage = STAGES.get(random.nextInt(3));
      Cluster cluster = cluster("c" + random.nextInt(10));
      Hold hold = random.nextBoolean() ? null : new Hold(stage, "balance", null);
      world.put(cluster.name(), DirectChange.hold(hold).apply(cluster, now).next());
    }
  }

  private Capacity.Declare order(Cluster standing) {
    int gpus = random.nextInt(20) == 0 ? 7 : 8 * random.nextInt(6);
    BigDecimal price =
        random.nextInt(20) == 0
            ? new BigDecimal("2.005")
            : BigDecimal.valueOf(80 + 20L * random.nextInt(48), 2);
    Optional<List<String>> release = Optional.empty();
    if (random.nextInt(4) == 0) {
      List<String> named = new ArrayList<>();
      standing.releaseOrder().stream()
          .filter(a -> random.nextBoolean())
          .forEach(a -> named.add(String.valueOf(a.publicIp())));
      if (random.nextInt(5) == 0) {
        named.add("192.0.2.1");
      }
      release = Optional.of(named);
    }
    long version = standing.version() + (random.nextInt(20) == 0 ? 1 : 0);
    return new Capacity.Declare(
        Sample.ACTOR, gpus, price, release, version, Conditions.Changes.KEPT);
  }

  private Cluster cluster(String name) {
    return Objects.requireNonNull(world.get(name), name);
  }

  private Tick tick() {
    return new Tick(POOL, Sample.views(world.values().toArray(new Cluster[0])), FRESHNESS, now);
  }

  private Tick.Nodes nodes() {
    return new Tick.Nodes(nodes, Set.of(), Map.of());
  }

  private Tick.Outcome tickForReal() {
    Tick.Outcome outcome = tick().decide(nodes());
    outcome
        .decided()
        .forEach(
            (name, decided) -> {
              List<MarketTransitions.Orders.Grant> grants = new ArrayList<>();
              for (Clearing.Grant grant : decided.grants()) {
                String ip = Sample.ip(Integer.parseInt(grant.nodeId().substring(1)));
                grants.add(
                    new MarketTransitions.Orders.Grant(
                        "a" + granted++,
                        grant.nodeId(),
                        ip,
                        grant.replaces(),
                        List.of(),
                        decided.minimumSlots(grant)));
              }
              Cluster cluster = cluster(name);
              world.put(
                  name,
                  MarketTransitions.settle(cluster, decided.orders(grants, 8, FRESHNESS), now)
                      .next());
            });
    return outcome;
  }

  /** Makes machines ready and clean, some or all of them. */
  private void machinesFollow(long at, boolean cleanedOnly) {
    for (String name : List.copyOf(world.keySet())) {
      for (Allocation a : cluster(name).allocations()) {
        Cluster cluster = cluster(name);
        if (a.state() == Allocation.State.RECLAIMING && (cleanedOnly || random.nextInt(3) > 0)) {
          world.put(name, MarketTransitions.reclaimed(cluster, a.allocationId()).next());
        } else if (a.state() == Allocation.State.PROVISIONING
            && !cleanedOnly
            && random.nextInt(3) > 0) {
          world.put(
              name,
              MarketTransitions.provisioned(cluster, a.allocationId(), PROTECTION, at).next());
        }
      }
    }
  }

  private static Set<String> open(Cluster cluster) {
    return ids(cluster.allocations().stream().filter(Allocation::isOpen).toList());
  }

  private static Set<String> ids(List<Allocation> allocations) {
    Set<String> ids = new HashSet<>();
    allocations.forEach(a -> ids.add(a.allocationId()));
    return ids;
  }
}
