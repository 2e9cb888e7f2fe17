package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random walks of one cluster: clients, the market, machines and operators act in any order, and
 * every step checks the invariants.
 */
@Tag("fast")
class CapacityWalkTest {
  private static final int WALKS = 400;
  private static final int STEPS = 250;

  @Test
  void everyStepKeepsTheRulesThatAlwaysHold() {
    long first = new Random().nextLong();
    for (long seed = first; seed < first + WALKS; seed++) {
      Walk walk = new Walk(seed);
      try {
        for (int i = 0; i < STEPS; i++) {
          walk.step();
        }
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ", step " + walk.steps + ": " + walk.last, e);
      }
    }
  }

  private enum Kind {
    CLIENT,
    OTHER
  }

  private static final class Walk {
    private final Random random;
    private Cluster cluster = Sample.empty();
    private long now = T0;
    private int nextNode;
    private int steps;
    private String last = "";
    private final Set<String> everReclaiming = new HashSet<>();

    Walk(long seed) {
      random = new Random(seed);
    }

    void step() {
      steps++;
      now += random.nextInt(4) == 0 ? random.nextInt(3_600_000) : random.nextInt(9_000);
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> declare();
        case 3 -> swap();
        case 4, 5, 6 -> settle();
        case 7, 8 ->
            act(
                "provisioned",
                (c, at) ->
                    MarketTransitions.provisioned(c, anyAllocation(), random.nextInt(9_000), at));
        case 9 ->
            act(
                "unwound",
                (c, at) ->
                    random.nextBoolean()
                        ? MarketTransitions.unwound(c, anyAllocation(), "broken", at)
                        : MarketTransitions.joinRefused(c, anyAllocation(), at));
        case 10 -> act("reclaimed", (c, at) -> MarketTransitions.reclaimed(c, anyAllocation()));
        default -> steer();
      }
    }

    private void declare() {
      List<String> release = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        release.add(anyAddress());
      }
      Capacity.Declare order =
          new Capacity.Declare(
              Sample.ACTOR,
              random.nextInt(20) == 0 ? 5 : 8 * random.nextInt(6),
              new BigDecimal(random.nextInt(8))
                  .movePointLeft(random.nextInt(2))
                  .add(BigDecimal.ONE),
              random.nextBoolean() ? Optional.of(release) : Optional.empty(),
              random.nextInt(20) == 0 ? 0 : cluster.version(),
              Conditions.Changes.KEPT);
      Cluster before = cluster;
      if (run(
          "declare " + order, Kind.CLIENT, (c, at) -> Capacity.declare(c, order, terms(), at))) {
        checkShrink(before, order);
        checkNominations(before, order);
      }
    }

    /** A shrink reclaims exactly the first nodes of the planned release after this write. */
    private void checkShrink(Cluster before, Capacity.Declare order) {
      Cluster renominated = renominated(before, order);
      List<Allocation> planned = renominated.releaseOrder();
      int surplus = Math.max(0, planned.size() - order.gpus(before.declared()) / 8);
      Set<String> expected =
          planned.subList(0, surplus).stream()
              .map(Allocation::allocationId)
              .collect(Collectors.toSet());
      Set<String> went =
          before.releaseOrder().stream()
              .map(Allocation::allocationId)
              .filter(id -> !cluster.find(id).orElseThrow().isOpen())
              .collect(Collectors.toSet());
      assertEquals(expected, went);
    }

    /** Returns the same nominations in a write that shrinks nothing. */
    private Cluster renominated(Cluster before, Capacity.Declare order) {
      Capacity.Declare keepAll =
          new Capacity.Declare(
              order.actor(),
              8_000,
              order.pricePerGpuHour(),
              order.release(),
              before.version(),
              Conditions.Changes.KEPT);
      Cluster willing = DirectChange.posture(Cluster.Posture.MARKET).apply(before, now).next();
      return Capacity.declare(willing, keepAll, Sample.terms(POOL, null, true, true, 0), now)
          .next();
    }

    private void checkNominations(Cluster before, Capacity.Declare order) {
      for (Allocation a : cluster.allocations()) {
        boolean named =
            order.release().isEmpty()
                ? before.find(a.allocationId()).orElseThrow().nomination() > 0
                : order.release().get().contains(a.publicIp()) || a.isSwapping();
        assertEquals(a.isOpen() && named, a.nomination() > 0, a::toString);
      }
    }

    private void swap() {
      String node = anyAddress();
      boolean again =
          cluster
              .findHeld(node)
              .filter(Allocation::fillsSlot)
              .filter(Allocation::isSwapping)
              .isPresent();
      boolean done =
          run(
              "swap " + node,
              again ? Kind.OTHER : Kind.CLIENT,
              (c, at) -> Capacity.swap(c, Sample.ACTOR, node, terms(), at));
      assertFalse(done && again, "a repeated swap changes nothing");
    }

    private void settle() {
      int open = cluster.pending(8);
      List<MarketTransitions.Orders.Grant> grants = new ArrayList<>();
      List<MarketTransitions.Orders.Taken> taken = new ArrayList<>();
      for (int i = 0; i < open && random.nextBoolean(); i++) {
        grants.add(Sample.grant(nextNode++, null));
      }
      for (Allocation a : cluster.releaseOrder()) {
        boolean waits = a.isSwapping() && cluster.findReplacement(a.allocationId()).isEmpty();
        if (random.nextInt(8) == 0) {
          taken.add(new MarketTransitions.Orders.Taken(a.allocationId(), Allocation.Reason.OUTBID));
        } else if (waits && random.nextBoolean()) {
          grants.add(Sample.grant(nextNode++, a.allocationId()));
        }
      }
      MarketTransitions.Orders orders =
          Sample.orders(
              cluster,
              grants,
              taken,
              NoticeOrders.NONE,
              new Verdict(random.nextBoolean(), random.nextBoolean()),
              now);
      run("settle " + orders, Kind.OTHER, (c, at) -> MarketTransitions.settle(c, orders, at));
    }

    private void steer() {
      switch (random.nextInt(8)) {
        case 0 -> act("arm", DirectChange.armWrites(random.nextInt(8) > 0));
        case 1 -> act("maintain", DirectChange.maintain(random.nextInt(4) == 0));
        case 2 ->
            act(
                "posture",
                DirectChange.posture(
                    random.nextInt(4) == 0 ? Cluster.Posture.STATIC : Cluster.Posture.MARKET));
        case 3, 4 -> {
          int stage = random.nextInt(6);
          act(
              "hold",
              DirectChange.hold(
                  stage > 2 ? null : new Hold(List.of(Hold.Stage.values()).get(stage), "x", now)));
        }
        default -> act("pin", OperatorCommands.pin(anyAddress(), random.nextBoolean()));
      }
    }

    private void act(String what, Command command) {
      run(what, Kind.OTHER, command);
    }

    /** Carries out a command and checks all rules; returns true if it changed anything. */
    private boolean run(String what, Kind kind, Command command) {
      last = what;
      Cluster before = cluster;
      Transition done;
      try {
        done = command.apply(before, now);
      } catch (ApiException refused) {
        return false;
      }
      assertEquals(before, done.before());
      if (done.changesNothing()) {
        assertEquals(before, done.next());
        assertEquals(List.of(), done.activity());
        assertEquals(null, done.audit());
        return false;
      }
      cluster = done.next();
      assertEquals(before.revision() + 1, cluster.revision());
      assertEquals(before.version() + (kind == Kind.CLIENT ? 1 : 0), cluster.version());
      assertEquals(kind == Kind.CLIENT, done.audit() != null);
      checkAlways();
      checkPins(before);
      checkActivity(before, done.activity());
      return true;
    }

    private void checkAlways() {
      Set<Integer> slots = new HashSet<>();
      Set<Integer> ranks = new HashSet<>();
      Set<String> replaced = new HashSet<>();
      int filled = 0;
      for (Allocation a : cluster.allocations()) {
        if (a.fillsSlot()) {
          filled++;
          assertTrue(slots.add(a.slot()), "two in slot " + a.slot());
        }
        if (a.replaces() != null) {
          Allocation old = cluster.find(a.replaces()).orElseThrow();
          assertTrue(old.isOpen() && old.isSwapping(), () -> "replaces " + old);
          assertEquals(Allocation.State.PROVISIONING, a.state());
          assertEquals(old.slot(), a.slot());
          assertTrue(replaced.add(a.replaces()), "two replace " + a.replaces());
        }
        if (a.nomination() > 0) {
          assertTrue(a.isOpen());
          assertTrue(ranks.add(a.nomination()), "two of rank " + a.nomination());
        }
        assertTrue(!a.isSwapping() || (a.isOpen() && a.nomination() > 0), a::toString);
        assertEquals(a.isOpen(), a.reclaim() == null);
        assertEquals(
            a.state() == Allocation.State.PROVISIONING, a.isOpen() && a.activeAtMillis() == null);
        if (!a.isOpen()) {
          everReclaiming.add(a.allocationId());
        }
        assertFalse(a.pinned() && a.isSwapping(), () -> "a pinned node is being swapped: " + a);
        assertFalse(
            a.isOpen() && everReclaiming.contains(a.allocationId()), () -> "came back: " + a);
      }
      assertTrue(filled <= cluster.declaredSlots(8), filled + " nodes for fewer slots");
      assertEquals(cluster.declaredSlots(8) - filled, cluster.pending(8));
    }

    /** No swap takes a pinned node, even if the swap was requested before the pin. */
    private void checkPins(Cluster before) {
      for (Allocation was : before.allocations()) {
        Optional<Allocation> is = cluster.find(was.allocationId());
        assertFalse(
            was.isOpen()
                && was.pinned()
                && is.map(Allocation::reclaim)
                    .filter(reclaim -> reclaim.reason() == Allocation.Reason.SWAP)
                    .isPresent(),
            () -> "a swap took the pinned " + was);
      }
    }

    /** The activity shows one grant and one release of each node. */
    private void checkActivity(Cluster before, List<Activity> activity) {
      List<ClusterEvent> expected = new ArrayList<>();
      for (Allocation a : cluster.allocations()) {
        Optional<Allocation> old = before.find(a.allocationId());
        if (old.isEmpty()) {
          expected.add(new ClusterEvent.Granted(a.publicIp()));
        } else if (old.get().isOpen() && !a.isOpen()) {
          Allocation.Reason reason = Objects.requireNonNull(a.reclaim()).reason();
          expected.add(
              reason == Allocation.Reason.UNWOUND
                  ? new ClusterEvent.Unwound(a.publicIp(), unwoundBy(before))
                  : new ClusterEvent.Released(a.publicIp(), reason));
        }
      }
      List<ClusterEvent> actual = new ArrayList<>();
      for (Activity entry : activity) {
        if (entry.event().note() != null
            && !(entry.event() instanceof ClusterEvent.SwapLapsed)
            && !(entry.event() instanceof ClusterEvent.SwapEnded)) {
          actual.add(entry.event());
        }
      }
      expected.sort(Comparator.comparing(String::valueOf));
      actual.sort(Comparator.comparing(String::valueOf));
      assertEquals(expected, actual);
    }

    /** The cause that the activity names for a grant that was unwound. */
    private String unwoundBy(Cluster before) {
      return !Objects.equals(
              cluster.setbacks().joinRefusedAtMillis(), before.setbacks().joinRefusedAtMillis())
          ? "the Kubernetes cluster refused the node"
          : "broken";
    }

    private Terms terms() {
      return Sample.terms(
          POOL,
          random.nextBoolean() ? null : Long.valueOf(random.nextInt(900)),
          random.nextInt(10) > 0,
          random.nextInt(10) > 0,
          random.nextInt(3) * 2_000L);
    }

    private String anyAllocation() {
      return cluster.allocations().isEmpty() || random.nextInt(20) == 0
          ? "a" + random.nextInt(nextNode + 1)
          : cluster.allocations().get(random.nextInt(cluster.allocations().size())).allocationId();
    }

    private String anyAddress() {
      return Sample.ip(Integer.parseInt(anyAllocation().substring(1)));
    }
  }
}
