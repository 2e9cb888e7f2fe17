package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.CADENCE;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.at;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static dev.bourse.capacity.Sample.plannedRelease;
import static dev.bourse.capacity.Sample.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.pools.Pool;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules of swaps, as commands on a state. */
@Tag("fast")
class CapacitySwapTest {
  private static final long LATER = T0 + 600_000;

  @Test
  void aSwapNominatesItsNodeAndTheNominationOutlivesAClearing() {
    Cluster swapping = Capacity.swap(active(2), Sample.ACTOR, ip(0), TERMS, LATER).next();
    Cluster cleared =
        Capacity.declare(swapping, order(16, "2", 2, List.of()), TERMS, LATER + CADENCE).next();
    Cluster behind =
        Capacity.declare(swapping, order(16, "2", 2, List.of(ip(1))), TERMS, LATER + CADENCE)
            .next();

    assertEquals(List.of(ip(0), ip(1)), plannedRelease(swapping));
    assertEquals(1, at(cleared, 0).nomination());
    assertEquals(List.of(ip(1), ip(0)), plannedRelease(behind));
  }

  @Test
  void aSwapIsAWriteWithAnAuditRowAndNoActivity() {
    Transition done = Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, LATER);

    assertEquals(2, done.next().version());
    assertEquals(LATER, at(done.next(), 0).swapRequestedAtMillis());
    assertEquals(Allocation.State.ACTIVE, at(done.next(), 0).state());
    assertNotNull(done.audit());
    assertEquals("vm_capacity_swap", done.audit().action());
    assertEquals(List.of(), done.activity());
  }

  @Test
  void aDrillIsAWriteWithAnAuditRowThatTakesNothing() {
    Transition done = Capacity.drill(active(2), Sample.ACTOR, TERMS, LATER);

    assertEquals(2, done.next().version());
    assertEquals(active(2).allocations(), done.next().allocations());
    assertNotNull(done.audit());
    assertEquals("vm_capacity_drill", done.audit().action());
    assertEquals("nodes=2 version=2", done.audit().detail());
  }

  @Test
  void aDrillThatIsRunningIsRepeatedForNothingAndTheNextKeepsTheCadence() {
    Cluster drilled = Capacity.drill(active(1), Sample.ACTOR, TERMS, LATER).next();
    assertTrue(
        Capacity.drill(drilled, Sample.ACTOR, TERMS, LATER + Drill.MILLIS - 1).changesNothing());
    Cluster again = Capacity.drill(drilled, Sample.ACTOR, TERMS, LATER + Drill.MILLIS).next();
    assertEquals(3, again.version());
    Cluster written = Capacity.declare(active(1), order(8, "3", 1), TERMS, LATER - 1).next();
    refused(ErrorCode.RATE_LIMITED, () -> Capacity.drill(written, Sample.ACTOR, TERMS, LATER));
  }

  @Test
  void aDrillNeedsAnActiveNode() {
    refused(
        ErrorCode.UNKNOWN_NODE,
        () -> Capacity.drill(Sample.provisioning(1), Sample.ACTOR, TERMS, LATER));
  }

  @Test
  void aDrillOfAClockThatWasAheadDoesNotKeepTheNextAway() {
    Cluster ahead = Capacity.drill(active(1), Sample.ACTOR, TERMS, LATER + 86_400_000).next();
    Transition next = Capacity.drill(ahead, Sample.ACTOR, TERMS.atAnyTime(), LATER);
    assertEquals(new Drill(LATER), next.next().drill());
  }

  @Test
  void aRepeatedSwapChangesNothingAndIgnoresTheCadence() {
    Cluster swapping = Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, LATER).next();

    Transition again = Capacity.swap(swapping, Sample.ACTOR, ip(0), TERMS, LATER + 1);

    assertTrue(again.changesNothing());
    assertSame(swapping, again.next());
    assertNull(again.audit());
  }

  @Test
  void aSwapOfANodeThatIsNotHeldIsRefusedFirst() {
    Cluster fixed = DirectChange.posture(Cluster.Posture.STATIC).apply(active(1), T0).next();

    refused(ErrorCode.UNKNOWN_NODE, () -> Capacity.swap(fixed, Sample.ACTOR, ip(9), TERMS, LATER));
  }

  @Test
  void aNodeThatIsBeingPreparedCanBeNamedButNoReplacementAndNoneThatIsReclaimed() {
    Cluster cluster =
        Sample.granted(
            Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, LATER).next(), 7, "a0", LATER + 1);
    for (Cluster shown : List.of(cluster, Sample.onK8s(cluster))) {
      assertUnnamed(
          shown,
          "the replacement of another node and still being prepared; name it once"
              + " it is active");
      assertUnnamed(
          MarketTransitions.unwound(shown, "a7", "refused", LATER + 2).next(), "being reclaimed");
    }
    Cluster preparing = Sample.onK8s(Sample.provisioning(1));
    assertTrue(
        at(Capacity.swap(preparing, Sample.ACTOR, "n0", TERMS, LATER).next(), 0).isSwapping());
  }

  /** Checks that neither a swap nor a release may name the node of a7. */
  private static void assertUnnamed(Cluster cluster, String why) {
    String name = Objects.requireNonNull(cluster.nameOf(at(cluster, 7)));
    long later = LATER + 2 * CADENCE;
    assertEquals(
        "node: '%s' is %s; nothing was written".formatted(name, why),
        refused(
                ErrorCode.UNKNOWN_NODE,
                () -> Capacity.swap(cluster, Sample.ACTOR, name, TERMS, later))
            .detail());
    assertEquals(
        "release[0]: '%s' is %s; nothing was written".formatted(name, why),
        refused(
                ErrorCode.UNKNOWN_NODE,
                () ->
                    Capacity.declare(
                        cluster, order(8, "2", cluster.version(), List.of(name)), TERMS, later))
            .detail());
  }

  @Test
  void swapsAreDisabledOnOperatorManagedClustersAndWhereThePoolSaysSo() {
    Cluster fixed = DirectChange.posture(Cluster.Posture.STATIC).apply(active(1), T0).next();
    Cluster gatedToo = DirectChange.maintain(true).apply(active(1), T0).next();
    Terms noSwaps = Sample.terms(withoutSwaps(), null, true, true, CADENCE);

    refused(ErrorCode.SWAP_DISABLED, () -> Capacity.swap(fixed, Sample.ACTOR, ip(0), TERMS, LATER));
    refused(
        ErrorCode.SWAP_DISABLED,
        () -> Capacity.swap(gatedToo, Sample.ACTOR, ip(0), noSwaps, LATER));
  }

  @Test
  void aHoldPastGraceOrMaintenanceGatesSwaps() {
    Cluster pinned = OperatorCommands.pin(ip(0), true).apply(active(1), T0).next();
    Cluster maintained = DirectChange.maintain(true).apply(pinned, T0).next();

    refused(
        ErrorCode.CLUSTER_GATED,
        () -> Capacity.swap(maintained, Sample.ACTOR, ip(0), TERMS, LATER));
    for (Hold.Stage stage : Hold.Stage.values()) {
      Cluster held = DirectChange.hold(new Hold(stage, "unpaid", null)).apply(active(1), T0).next();
      if (stage == Hold.Stage.GRACE) {
        assertEquals(2, Capacity.swap(held, Sample.ACTOR, ip(0), TERMS, LATER).next().version());
      } else {
        refused(
            ErrorCode.CLUSTER_GATED, () -> Capacity.swap(held, Sample.ACTOR, ip(0), TERMS, LATER));
      }
    }
  }

  @Test
  void aPinnedNodeIsNotSwapped() {
    Cluster pinned = OperatorCommands.pin(ip(0), true).apply(active(1), T0).next();
    Cluster unpinned = OperatorCommands.pin(ip(0), false).apply(pinned, T0).next();

    refused(ErrorCode.NODE_PINNED, () -> Capacity.swap(pinned, Sample.ACTOR, ip(0), TERMS, LATER));
    assertEquals(2, Capacity.swap(unpinned, Sample.ACTOR, ip(0), TERMS, LATER).next().version());
  }

  @Test
  void aPinEndsTheSwapOfItsNodeAndTheNominationThatCameWithIt() {
    Cluster swapping = Capacity.swap(active(2), Sample.ACTOR, ip(0), TERMS, LATER).next();

    Transition pinned = OperatorCommands.pin(ip(0), true).apply(swapping, LATER + 1);

    Allocation saved = at(pinned.next(), 0);
    assertTrue(saved.pinned() && saved.isOpen() && !saved.isSwapping(), saved.toString());
    assertEquals(0, saved.nomination());
    assertEquals(swapping.version(), pinned.next().version());
    assertEquals(
        List.of("swap of " + ip(0) + " ended: an operator pinned it"),
        pinned.activity().stream().map(entry -> entry.event().note()).toList());
    refused(
        ErrorCode.NODE_PINNED,
        () -> Capacity.swap(pinned.next(), Sample.ACTOR, ip(0), TERMS, LATER + CADENCE));
  }

  @Test
  void aPinTakesBackTheReplacementThatIsOnItsWay() {
    Cluster swapping = Capacity.swap(active(2), Sample.ACTOR, ip(0), TERMS, LATER).next();
    Cluster inTransit = granted(swapping, 7, "a0", LATER + 1);

    Transition pinned = OperatorCommands.pin(ip(0), true).apply(inTransit, LATER + 2);

    Allocation replacement = at(pinned.next(), 7);
    assertEquals(
        new Allocation.Reclaim(Allocation.Reason.OPERATOR, LATER + 2), replacement.reclaim());
    assertEquals(2, pinned.next().releaseOrder().size(), "both nodes fill their slots");
    // The machine became ready nevertheless; this changes nothing.
    assertTrue(
        MarketTransitions.provisioned(pinned.next(), "a7", Sample.PROTECTION, LATER + 3)
            .changesNothing());
  }

  @Test
  void aTickThatDecidedBeforeThePinGrantsNoReplacement() {
    Cluster swapping = Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, LATER).next();
    MarketTransitions.Orders orders =
        Sample.orders(
            swapping,
            List.of(Sample.grant(7, "a0")),
            List.of(),
            NoticeOrders.NONE,
            Verdict.NONE,
            LATER);
    Cluster pinned = OperatorCommands.pin(ip(0), true).apply(swapping, LATER + 1).next();

    assertTrue(MarketTransitions.settle(pinned, orders, LATER + 2).changesNothing());
  }

  @Test
  void aPinFromTheVersionBeforeThatLeftItsSwapInFlightIsHeededWhenTheReplacementIsReady() {
    Cluster swapping = Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, LATER).next();
    Cluster inTransit = granted(swapping, 7, "a0", LATER + 1);
    Cluster stored =
        inTransit.withAllocations(
            inTransit.allocations().stream()
                .map(a -> a.allocationId().equals("a0") ? a.withPin(true) : a)
                .toList());

    Cluster landed =
        MarketTransitions.provisioned(stored, "a7", Sample.PROTECTION, LATER + 2).next();

    assertTrue(at(landed, 0).isOpen() && !at(landed, 0).isSwapping());
    assertEquals(Allocation.State.RECLAIMING, at(landed, 7).state());
    assertEquals(
        1, OperatorCommands.pin(ip(0), true).apply(stored, LATER + 2).next().releaseOrder().size());
  }

  @Test
  void aShrinkTakesASwappingNodeAndItsReplacementOnTheWay() {
    Cluster swapping = Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, LATER).next();
    Cluster inTransit = granted(swapping, 7, "a0", LATER + 1);

    Transition gone = Capacity.declare(inTransit, order(0, "2", 2), TERMS, LATER + CADENCE);

    assertTrue(gone.next().allocations().stream().noneMatch(Allocation::isOpen));
    assertEquals(3, gone.activity().size());
  }

  private static Pool withoutSwaps() {
    return POOL.with(p -> p.rules(new Pool.Rules(true, false, false, Pool.Tenants.LOGIN, null)));
  }
}
