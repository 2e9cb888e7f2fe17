package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.at;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.HeldHealth.Finding;
import dev.bourse.nodes.Health;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules of held nodes' health and of automatic swaps, as commands on a state. */
@Tag("fast")
class HealthCommandsTest {
  /** A time at which all nodes have been active long enough for an automatic swap. */
  private static final long LATER = T0 + 60_000 + HealthCommands.SWAP_AFTER_MILLIS;

  private static final Finding OK = Finding.of(Health.OK);
  private static final Finding ECC =
      Finding.of(new Health(Health.State.FAILED, List.of("GPU 3 has 2 uncorrected errors")));

  private static Cluster swapsByItself(int nodes) {
    return changed(
        active(nodes),
        draft -> {
          Declaration declared = draft.declared;
          assertNotNull(declared);
          draft.declared =
              declared.with(d -> d.conditions = d.conditions.with(c -> c.autoSwap = true));
        });
  }

  private static Cluster changed(Cluster cluster, Consumer<Cluster.Draft> change) {
    Cluster.Draft draft = cluster.draft();
    change.accept(draft);
    return draft.build();
  }

  private static Transition found(Cluster cluster, long now, Map<String, Finding> findings) {
    return HealthCommands.found(findings, true).apply(cluster, now);
  }

  private static Cluster failed(Cluster cluster, int... nodes) {
    for (int node : nodes) {
      cluster = found(cluster, LATER, Map.of("a" + node, ECC)).next();
    }
    return cluster;
  }

  private static boolean isSwapping(Cluster cluster, int node) {
    return at(cluster, node).isSwapping();
  }

  @Test
  void aFindingIsRecordedOnceWithItsTimeAndBumpsNoVersion() {
    Transition first = found(active(2), LATER, Map.of("a1", ECC));
    HeldHealth health = at(first.next(), 1).health();
    assertEquals(new HeldHealth(Health.State.FAILED, LATER, ECC.reasons(), true), health);
    assertNull(at(first.next(), 0).health());
    assertEquals(active(2).version(), first.next().version());
    assertNull(first.audit());

    assertTrue(found(first.next(), LATER + 9, Map.of("a1", ECC)).changesNothing());
    Finding counted =
        Finding.of(new Health(Health.State.FAILED, List.of("GPU 3 has 7 uncorrected errors")));
    assertTrue(found(first.next(), LATER + 9, Map.of("a1", counted)).changesNothing());
    Cluster back = found(first.next(), LATER + 9, Map.of("a1", OK)).next();
    assertEquals(
        new HeldHealth(Health.State.OK, LATER + 9, List.of(), false), at(back, 1).health());
  }

  @Test
  void whatWasNeverCheckedIsNoNews() {
    assertTrue(found(active(1), LATER, Map.of("a0", Finding.UNCHECKED)).changesNothing());
    assertTrue(found(active(1), LATER, Map.of("a9", ECC)).changesNothing());
  }

  @Test
  void onlyActiveNodesHaveAHealth() {
    assertTrue(found(Sample.provisioning(1), LATER, Map.of("a0", ECC)).changesNothing());
    Cluster reclaiming =
        changed(
            active(1),
            draft -> draft.put(at(active(1), 0).startReclaim(Allocation.Reason.OUTBID, LATER)));
    assertTrue(found(reclaiming, LATER, Map.of("a0", ECC)).changesNothing());
  }

  @Test
  void aMachineThatStopsAnsweringStaysFailedAndIsCreditedNoLonger() {
    Cluster silent = found(failed(active(1), 0), LATER + 9, Map.of("a0", Finding.SILENT)).next();
    HeldHealth health = at(silent, 0).health();
    assertNotNull(health);
    assertEquals(Health.State.FAILED, health.state());
    assertEquals(LATER, health.sinceMillis());
    assertFalse(health.isCredited());
  }

  @Test
  void faultsThatATenantMayHaveCausedAreNeverCredited() {
    Finding slow = Finding.of(new Health(Health.State.DEGRADED, List.of("no answer")));
    for (Finding finding : List.of(OK, slow, Finding.SILENT, Finding.UNCHECKED)) {
      assertFalse(finding.isCredited(), finding.toString());
    }
    assertTrue(ECC.isCredited());
  }

  @Test
  void aFailedNodeIsSwappedAtTheSecondFindingIfTheDeclarationSaysSo() {
    Cluster once = failed(swapsByItself(2), 1);
    assertFalse(isSwapping(once, 1), "one finding may be wrong");

    Transition again = found(once, LATER + 9, Map.of("a1", ECC));
    assertTrue(isSwapping(again.next(), 1));
    assertFalse(isSwapping(again.next(), 0));
    assertEquals(
        Allocation.State.ACTIVE, at(again.next(), 1).state(), "the node stays active until then");
    assertEquals(once.version(), again.next().version());
    assertEquals(once.writes().lastAtMillis(), again.next().writes().lastAtMillis());
    assertNotNull(again.audit());
    assertEquals("vm_capacity_swap", again.audit().action());
    assertEquals("system:auto-swap", again.audit().actor());
    assertEquals("node=" + ip(1) + " health=failed", again.audit().detail());

    assertTrue(found(failed(active(2), 1), LATER + 9, Map.of("a1", ECC)).changesNothing());
  }

  @Test
  void aNodeThatIsDegradedIsNotSwapped() {
    Finding slow = Finding.of(new Health(Health.State.DEGRADED, List.of("GPU 3 is slow")));
    Cluster cluster = found(swapsByItself(1), LATER, Map.of("a0", slow)).next();
    assertTrue(found(cluster, LATER + 9, Map.of("a0", slow)).changesNothing());
  }

  @Test
  void nodesThatFailTogetherAreSwappedOneAfterTheOther() {
    Cluster cluster = failed(swapsByItself(3), 0, 1, 2);
    Map<String, Finding> all = Map.of("a0", ECC, "a1", ECC, "a2", ECC);
    Cluster first = found(cluster, LATER + 9, all).next();
    assertEquals(1, first.allocations().stream().filter(Allocation::isSwapping).count());
    assertTrue(found(first, LATER + 18, all).changesNothing());
  }

  @Test
  void aReplacementThatFailsAtOnceIsSwappedNoSoonerThanTenMinutesLater() {
    Cluster swapping = found(failed(swapsByItself(1), 0), LATER, Map.of("a0", ECC)).next();
    Cluster landed =
        MarketTransitions.provisioned(
                granted(swapping, 7, "a0", LATER + 1), "a7", Sample.PROTECTION, LATER + 2)
            .next();
    assertNull(at(landed, 7).health(), "another machine");
    Cluster failing = found(landed, LATER + 3, Map.of("a7", ECC)).next();

    long due = LATER + 2 + HealthCommands.SWAP_AFTER_MILLIS;
    assertTrue(found(failing, due - 1, Map.of("a7", ECC)).changesNothing());
    assertTrue(isSwapping(found(failing, due, Map.of("a7", ECC)).next(), 7));
  }

  @Test
  void theReplacementGoesOnWithTheProtectionAndThePriceOfTheNodeItReplaces() {
    Allocation old = at(swapsByItself(1), 0);
    Cluster swapping = found(failed(swapsByItself(1), 0), LATER, Map.of("a0", ECC)).next();
    Cluster granted = granted(swapping, 7, "a0", LATER + 1);
    assertEquals(
        Allocation.State.ACTIVE,
        at(granted, 0).state(),
        "the failed node stays while its replacement is prepared");
    Cluster landed =
        MarketTransitions.provisioned(granted, "a7", Sample.PROTECTION, LATER + 99_000).next();
    assertEquals(Allocation.State.RECLAIMING, at(landed, 0).state());
    assertEquals(old.protectedUntilMillis(), at(landed, 7).protectedUntilMillis());
    assertEquals(
        old.protection().grantCeilingCents(), at(landed, 7).protection().grantCeilingCents());
    assertEquals(old.protection().grantPriceCents(), at(landed, 7).protection().grantPriceCents());
  }

  @Test
  void whereNoNodeIsFreeTheSwapLapsesTheNodeStaysAndTheNextFindingAsksAgain() {
    Cluster swapping = found(failed(swapsByItself(1), 0), LATER, Map.of("a0", ECC)).next();
    long lapse = LATER + Sample.FRESHNESS;
    Cluster lapsed = Sample.settled(swapping, List.of(), List.of(), lapse).next();
    assertFalse(isSwapping(lapsed, 0));
    assertEquals(Allocation.State.ACTIVE, at(lapsed, 0).state());
    assertTrue(isSwapping(found(lapsed, lapse + 1, Map.of("a0", ECC)).next(), 0));
  }

  @Test
  void theSwapOfANodeWhoseFaultIsGoneEndsUnlessItsReplacementIsOnItsWay() {
    Map<String, Finding> silent = Map.of("a0", Finding.SILENT);
    Cluster once = found(swapsByItself(1), LATER, silent).next();
    Cluster swapping = found(once, LATER + 9, silent).next();
    assertTrue(isSwapping(swapping, 0));
    for (Finding back : List.of(OK, Finding.UNCHECKED)) {
      Transition ended = found(swapping, LATER + 18, Map.of("a0", back));
      assertFalse(isSwapping(ended.next(), 0), back.toString());
      assertEquals(0, at(ended.next(), 0).nomination());
      assertEquals(
          new ClusterEvent.SwapLapsed(ip(0)),
          ended.activity().get(0).event(),
          "the activity shows it to members");
    }
    Cluster granted = granted(swapping, 7, "a0", LATER + 10);
    assertTrue(isSwapping(found(granted, LATER + 18, Map.of("a0", OK)).next(), 0));

    Cluster early =
        changed(swapsByItself(1), draft -> draft.put(at(draft.build(), 0).withSwap(T0, 1)));
    Cluster failed = found(early, LATER, silent).next();
    assertTrue(
        isSwapping(found(failed, LATER + 9, Map.of("a0", OK)).next(), 0),
        "requested before the fault");
  }

  @Test
  void whateverForbidsARequestedSwapForbidsThisOne() {
    List<Consumer<Cluster.Draft>> forbidding =
        List.of(
            draft -> draft.posture = Cluster.Posture.STATIC,
            draft -> draft.writesArmed = false,
            draft -> draft.maintenance = true,
            draft -> draft.retiredAtMillis = LATER,
            draft -> draft.hold = new Hold(Hold.Stage.NOTICE, "unpaid", null),
            draft -> draft.put(at(draft.build(), 0).withPin(true)));
    Cluster failed = failed(swapsByItself(1), 0);
    for (Consumer<Cluster.Draft> change : forbidding) {
      assertTrue(found(changed(failed, change), LATER + 9, Map.of("a0", ECC)).changesNothing());
    }
    Map<String, Finding> ecc = Map.of("a0", ECC);
    assertTrue(HealthCommands.found(ecc, false).apply(failed, LATER + 9).changesNothing());
    assertFalse(found(failed, LATER + 9, ecc).changesNothing());
  }
}
