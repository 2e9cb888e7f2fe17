package dev.bourse.market;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Bidder;
import dev.bourse.auction.Clearing;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.Terms;
import dev.bourse.capacity.TickPreview;
import dev.bourse.core.ApiException;
import dev.bourse.nodes.Machine;
import dev.bourse.pools.Pool;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random worlds with notices: no node goes to a rival before its whole notice has run, nor later
 * than the tick after it; a notice does not prevent a reclaim for another reason; prices, grants
 * and demand equal those of the same world without notices.
 */
@Tag("fast")
class NoticeWalkTest {
  private static final int TICKS = 4_000;
  private static final int NODES = 10;
  private static final int CLUSTERS = 8;
  private static final long TICK = 10_000;
  private static final long NOTICE = 25_000;
  private static final long PROTECTION = 3 * TICK;
  private static final List<Hold.Stage> STAGES = List.of(Hold.Stage.values());

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final Map<String, Cluster> world = new TreeMap<>();
  private final List<Node> nodes = new ArrayList<>();

  /**
   * The time of notices, by allocation; a replacement inherits the time of the node that it
   * replaced.
   */
  private final Map<String, Long> givenAt = new HashMap<>();

  /**
   * The ends of the withdrawn notices that count at this tick, by organization and allocation;
   * another node may take one over.
   */
  private final Map<String, Map<String, Long>> withdrawnEnds = new HashMap<>();

  private Pool pool = POOL;
  private long now = T0;
  private int granted;
  private int outbid;
  private int withdrawn;
  private int lowered;
  private int goneAtOnce;

  @Test
  void noticesRunWholeAndChangeNothingElse() {
    System.out.println("seed " + seed);
    for (int i = 0; i < CLUSTERS; i++) {
      String name = "c" + i;
      world.put(
          name,
          Cluster.created(
              name, "org" + i % 3, POOL.name(), Cluster.Kind.VM, Cluster.Posture.MARKET));
    }
    for (int i = 0; i < NODES; i++) {
      nodes.add(new Node(new Machine("n" + i, Sample.ip(i), 22, null), false, 0, 0, null));
    }
    for (int i = 0; i < TICKS || (goneAtOnce == 0 && i < 5 * TICKS); i++) {
      now += TICK;
      for (int deeds = random.nextInt(4); deeds > 0; deeds--) {
        somebodyActs();
      }
      machinesFollow();
      tick();
    }
    assertTrue(outbid > 100, "outbid " + outbid);
    assertTrue(withdrawn > 50, "withdrawn " + withdrawn);
    assertTrue(lowered > 10, "lowered " + lowered);
    assertTrue(goneAtOnce > 0, "gone at once " + goneAtOnce);
  }

  private void somebodyActs() {
    String name = "c" + random.nextInt(CLUSTERS);
    Cluster cluster = cluster(name);
    switch (random.nextInt(12)) {
      case 0 -> {
        Hold.Stage stage = STAGES.get(random.nextInt(STAGES.size()));
        Hold hold = random.nextInt(3) > 0 ? null : new Hold(stage, "balance", null);
        world.put(name, DirectChange.hold(hold).apply(cluster, now).next());
      }
      case 1 -> {
        Cluster.Posture posture =
            random.nextInt(3) > 0 ? Cluster.Posture.MARKET : Cluster.Posture.STATIC;
        world.put(name, DirectChange.posture(posture).apply(cluster, now).next());
      }
      case 2 -> pool = reserve(random.nextInt(4) == 0 ? 700 : 100);
      case 3 ->
          held(cluster)
              .ifPresent(
                  a ->
                      world.put(
                          name,
                          OperatorCommands.pin(String.valueOf(a.publicIp()), random.nextInt(3) == 0)
                              .apply(cluster, now)
                              .next()));
      case 4 ->
          held(cluster)
              .ifPresent(
                  a ->
                      accepted(
                          name,
                          () ->
                              Capacity.swap(
                                      cluster,
                                      Sample.ACTOR,
                                      String.valueOf(a.publicIp()),
                                      terms(),
                                      now)
                                  .next()));
      default ->
          accepted(name, () -> Capacity.declare(cluster, order(cluster), terms(), now).next());
    }
  }

  private void accepted(String name, Supplier<Cluster> write) {
    try {
      Cluster before = cluster(name);
      Cluster after = write.get();
      world.put(name, after);
      for (Allocation a : after.allocations()) {
        if (a.isOpen()) {
          continue;
        }
        assertFalse(
            before.find(a.allocationId()).filter(Allocation::isOpen).isPresent()
                && reason(a) == Allocation.Reason.OUTBID,
            "a write takes nothing for a rival");
      }
    } catch (ApiException refused) {
      // A rejected command changes nothing.
    }
  }

  private Terms terms() {
    return Sample.terms(pool, null, true, true, 0);
  }

  private Capacity.Declare order(Cluster standing) {
    List<String> named = new ArrayList<>();
    standing.releaseOrder().stream()
        .filter(a -> random.nextInt(3) == 0)
        .forEach(a -> named.add(String.valueOf(a.publicIp())));
    return new Capacity.Declare(
        Sample.ACTOR,
        8 * random.nextInt(6),
        BigDecimal.valueOf(100 + 50L * random.nextInt(18), 2),
        random.nextInt(4) == 0 ? Optional.of(named) : Optional.empty(),
        standing.version(),
        Conditions.Changes.KEPT);
  }

  private Optional<Allocation> held(Cluster cluster) {
    List<Allocation> held = cluster.releaseOrder();
    return held.isEmpty() ? Optional.empty() : Optional.of(held.get(random.nextInt(held.size())));
  }

  private void tick() {
    Tick.Nodes seen = new Tick.Nodes(nodes, Set.of(), Map.of());
    Tick tick = made(NOTICE, List.copyOf(world.values()));
    Tick.Outcome outcome = tick.decide(seen);
    isAsWithoutNotice(outcome, seen);
    Map<String, Cluster> before = new TreeMap<>(world);
    Map<String, TickPreview> previews = new HashMap<>();
    before.forEach((name, cluster) -> previews.put(name, tick.preview(cluster, outcome)));
    noteWithdrawnEnds(outcome);
    outcome.decided().forEach((name, decided) -> world.put(name, settled(name, decided)));
    before.forEach((name, cluster) -> judge(cluster, cluster(name), outcome, previews.get(name)));
  }

  private void noteWithdrawnEnds(Tick.Outcome outcome) {
    withdrawnEnds.clear();
    for (Cluster cluster : world.values()) {
      Tick.ClusterDecision decided = outcome.decided().get(cluster.name());
      for (Allocation a : cluster.allocations()) {
        Long end = Notices.endMillis(a, now);
        boolean isWithdrawn =
            a.notice() == null
                || (decided != null && decided.notices().withdrawn().contains(a.allocationId()));
        if (end != null && isWithdrawn) {
          withdrawnEnds
              .computeIfAbsent(cluster.orgId(), org -> new HashMap<>())
              .put(a.allocationId(), end);
        }
      }
    }
  }

  /** Compares with a tick without notices, of the same world and of one without earlier notices. */
  private void isAsWithoutNotice(Tick.Outcome outcome, Tick.Nodes seen) {
    List<Cluster> withoutNotices = new ArrayList<>();
    world.values().forEach(cluster -> withoutNotices.add(DirectChange.withoutNotices(cluster)));
    for (List<Cluster> clusters : List.of(List.copyOf(world.values()), withoutNotices)) {
      Tick.Outcome without = made(0, clusters).decide(seen);
      Long price = without.clearing().clearingCents();
      // Without notices no node would be held, so there would be no price.
      if (price != null) {
        assertEquals(price, outcome.clearing().clearingCents());
      }
      assertEquals(without.clearing().admissionCents(), outcome.clearing().admissionCents());
      assertEquals(without.clearing().grants(), outcome.clearing().grants());
      assertEquals(without.clearing().unseated(), outcome.clearing().unseated());
      assertEquals(without.supply(), outcome.supply());
      assertEquals(without.demand(), outcome.demand());
      assertEquals(without.rivalry(), outcome.rivalry());
    }
  }

  private void judge(
      Cluster before, Cluster after, Tick.Outcome outcome, @Nullable TickPreview preview) {
    assertNotNull(preview);
    Set<String> losing = new HashSet<>();
    for (Clearing.Reclaim reclaim : outcome.clearing().reclaims()) {
      if (reclaim.cluster().equals(before.name())) {
        losing.add(reclaim.allocationId());
      }
    }
    boolean gaveNotice = false;
    boolean withdrewOneThatLoses = false;
    for (Allocation was : before.releaseOrder()) {
      Allocation is = after.find(was.allocationId()).orElseThrow();
      boolean loses = losing.contains(was.allocationId());
      assertEquals(!is.isOpen(), preview.lost().contains(was.allocationId()));
      assertEquals(loses && is.isOpen(), preview.noticed().containsKey(was.allocationId()));
      Allocation.Notice notice = is.notice();
      Long seated = was.protection().seatCeilingCents();
      boolean isLowered = seated != null && before.ceilingCents() < seated;
      assertFalse(loses && isLowered && is.isOpen(), () -> "lowered and kept: " + is);
      if (!is.isOpen()) {
        goes(was, is, isLowered, before.orgId());
      } else if (notice == null) {
        withdrawn += was.notice() == null ? 0 : 1;
        withdrewOneThatLoses |= was.notice() != null && loses;
        assertFalse(loses && was.state() == Allocation.State.ACTIVE, () -> "not told: " + is);
        givenAt.remove(was.allocationId());
      } else {
        assertTrue(loses, () -> "has a seat: " + is);
        assertEquals(Allocation.State.ACTIVE, is.state());
        assertFalse(is.isShielded(now, after.ceilingCents()), () -> "shielded: " + is);
        assertTrue(now < notice.endsAtMillis(), () -> "a tick too late: " + is);
        if (was.notice() == null) {
          gaveNotice = true;
          isGivenAsLong(was, notice.endsAtMillis(), before.orgId());
        }
        givenAt.putIfAbsent(was.allocationId(), notice.endsAtMillis() - NOTICE);
      }
    }
    assertFalse(withdrewOneThatLoses, "a notice goes to another node");
    boolean evicted = Tick.participation(before) == Bidder.Participation.EVICTED;
    assertFalse(evicted && gaveNotice, "a hold waits for no notice");
    assertFalse(
        evicted && after.allocations().stream().anyMatch(Allocation::isOpen),
        () -> "left by a hold: " + after);
  }

  /**
   * Checks that a new notice ends with a withdrawn one of the organization, or has the full length.
   */
  private void isGivenAsLong(Allocation was, long endsAt, String org) {
    Map<String, Long> ends = withdrawnEnds.getOrDefault(org, Map.of());
    boolean isAsLong = endsAt == now + NOTICE || ends.containsValue(endsAt);
    assertTrue(isAsLong, () -> endsAt + " after " + ends + ": " + was);
  }

  private void goes(Allocation was, Allocation is, boolean isLowered, String org) {
    if (reason(is) != Allocation.Reason.OUTBID) {
      return;
    }
    if (isLowered) {
      lowered++;
      return;
    }
    outbid++;
    Allocation.Notice notice = was.notice();
    Map<String, Long> ends = withdrawnEnds.getOrDefault(org, Map.of());
    Long own = ends.get(was.allocationId());
    if (notice == null && !ends.isEmpty()) {
      goneAtOnce++;
      assertTrue(
          own == null ? ends.values().stream().anyMatch(end -> end <= now) : own <= now,
          () -> "sooner than told: " + was);
      return;
    }
    assertNotNull(notice, () -> "not told: " + was);
    Long since = givenAt.get(was.allocationId());
    assertNotNull(since);
    assertEquals(since + NOTICE, notice.endsAtMillis());
    assertTrue(now >= notice.endsAtMillis() && now < notice.endsAtMillis() + TICK);
  }

  private static Allocation.Reason reason(Allocation gone) {
    return Objects.requireNonNull(gone.reclaim()).reason();
  }

  private Tick made(long notice, List<Cluster> clusters) {
    return new Tick(
        pool,
        Sample.views(pool, clusters),
        FRESHNESS,
        Patience.of(MarketConfig.GANG_PATIENCE.toMillis()),
        SpendingAllowance.UNLIMITED,
        Notices.at(notice, now),
        now);
  }

  private Cluster settled(String name, Tick.ClusterDecision decided) {
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
    return MarketTransitions.settle(
            cluster(name), decided.orders(grants, POOL.gpusPerNode(), FRESHNESS), now)
        .next();
  }

  private void machinesFollow() {
    for (String name : List.copyOf(world.keySet())) {
      for (Allocation a : cluster(name).allocations()) {
        String id = a.allocationId();
        if (a.state() == Allocation.State.RECLAIMING && random.nextInt(3) > 0) {
          world.put(name, MarketTransitions.reclaimed(cluster(name), id).next());
        } else if (a.state() == Allocation.State.PROVISIONING && random.nextInt(3) > 0) {
          Long since = a.replaces() == null ? null : givenAt.get(a.replaces());
          Cluster ready = MarketTransitions.provisioned(cluster(name), id, PROTECTION, now).next();
          world.put(name, ready);
          if (since != null && ready.find(id).filter(r -> r.notice() != null).isPresent()) {
            givenAt.put(id, since);
          }
        }
      }
    }
  }

  private static Pool reserve(long cents) {
    return POOL.with(p -> p.bounds(cents, POOL.capCents()));
  }

  private Cluster cluster(String name) {
    return Objects.requireNonNull(world.get(name), name);
  }
}
