package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.PROTECTION;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When the nodes of a gang become active, and when their grants are unwound. */
@Tag("fast")
class GangTest {
  private static final int GPUS = 8;
  private static final long LATER = T0 + 60_000;
  private static final long PATIENCE = 600_000;

  private static Capacity.Declare order(int nodes, @Nullable Object minGpus, long version) {
    JsonObject body = new JsonObject().put("min_gpus", minGpus);
    return Sample.order(nodes * GPUS, "2.00", version, body);
  }

  /** Returns a gang with a minimum of two and three grants at T0 + 1 s, 2 s and 3 s. */
  private static Cluster granted() {
    Cluster cluster = Capacity.declare(Sample.empty(), order(3, 2 * GPUS, 0), TERMS, T0).next();
    for (int i = 0; i < 3; i++) {
      cluster = Sample.grantedToGang(cluster, i, 2, T0 + 1_000L * (i + 1));
    }
    return cluster;
  }

  @Test
  void ofOneThatWaitsNeitherAddressNorGrantIsToldUntilAllAreActive() {
    Cluster one = ready(granted(), "a0", LATER).next();
    Cluster two = keyed(ready(one, "a2", LATER + 5).next(), "a0", LATER + 6).next();
    for (Cluster waiting : List.of(one, two)) {
      assertNull(node(waiting, "a0").publicIp());
      assertEquals(Optional.empty(), waiting.findHeld(Sample.ip(0)));
    }
    Transition active = keyed(two, "a2", LATER + 7);
    assertEquals(Sample.ip(0), node(active.next(), "a0").publicIp());
    assertEquals(
        List.of("granted " + Sample.ip(0), "granted " + Sample.ip(2)),
        active.activity().stream().map(entry -> entry.event().note()).toList());
  }

  @Test
  void keysAreWrittenOnceTheMinimumIsReadyAndBeforeAnyIsActive() {
    Cluster one = ready(granted(), "a0", LATER).next();
    assertTrue(node(one, "a0").keysDue());
    assertFalse(Gang.isNext(one, node(one, "a0"), GPUS), "its keys wait for the minimum");
    Cluster two = ready(one, "a2", LATER + 5).next();
    assertTrue(Gang.isNext(two, node(two, "a0"), GPUS), "its keys are written");
    assertNull(node(two, "a0").activeAtMillis());
    Cluster keyed = keyed(two, "a0", LATER + 6).next();
    assertFalse(node(keyed, "a0").keysDue());
    assertNull(node(keyed, "a0").activeAtMillis());
    assertFalse(Gang.isNext(keyed, node(keyed, "a0"), GPUS), "it waits for the keys of the other");
    assertTrue(keyed(keyed, "a0", LATER + 7).changesNothing(), "reported twice");
  }

  @Test
  void oneWhoseKeysCannotBeWrittenKeepsTheOthersFromBeingActiveUntilAnotherHasThem() {
    Cluster two = ready(ready(granted(), "a0", LATER).next(), "a2", LATER + 5).next();
    Cluster failed =
        MarketTransitions.unwound(keyed(two, "a0", LATER + 6).next(), "a2", "failed", LATER + 7)
            .next();
    assertNull(node(failed, "a0").activeAtMillis());
    Cluster again = keyed(ready(failed, "a1", LATER + 8).next(), "a1", LATER + 9).next();
    assertEquals(LATER + 9, node(again, "a0").activeAtMillis());
    assertEquals(LATER + 9, node(again, "a1").activeAtMillis());
  }

  /** A control plane that refuses a node uses the others meanwhile. */
  @Test
  void aKubernetesNodeIsActiveAndBilledOnceItHasJoinedWhateverBecomesOfTheOthers() {
    Cluster cluster =
        Sample.onK8s(Capacity.declare(Sample.empty(), order(3, 2 * GPUS, 0), TERMS, T0).next());
    int together = Gang.slotsActiveTogether(cluster, GPUS);
    for (int i = 0; i < 3; i++) {
      cluster = Sample.grantedToGang(cluster, i, together, T0 + 1_000L * (i + 1));
    }
    assertEquals("a0", cluster.findNamed("n0").orElseThrow().allocationId(), "not active yet");
    Cluster refused = MarketTransitions.unwound(cluster, "a1", "refused", LATER - 1).next();
    Cluster joined = ready(refused, "a0", LATER).next();
    assertEquals(LATER, node(joined, "a0").activeAtMillis());
    Cluster alone = MarketTransitions.unwound(joined, "a2", "refused", LATER + 1).next();
    assertEquals(LATER, node(alone, "a0").activeAtMillis());
    assertEquals(List.of(), Gang.overdue(alone, GPUS, PATIENCE, T0 + 10 * PATIENCE));
    assertEquals(
        LATER + 9, node(ready(joined, "a2", LATER + 9).next(), "a2").activeAtMillis(), "slow");
  }

  @Test
  void aKubernetesNodeWaitsForNoOtherAlsoIfThePreviousReleaseGrantedItToAGang() {
    Cluster one = ready(Sample.onK8s(granted()), "a0", LATER).next();
    assertTrue(Gang.isNext(one, node(one, "a0"), GPUS), "its keys are written");
    assertEquals(LATER + 1, node(keyed(one, "a0", LATER + 1).next(), "a0").activeAtMillis());
  }

  @Test
  void aMinimumThatIsRaisedAfterTheGrantKeepsNoNodeFromBeingBilled() {
    Cluster one = ready(granted(), "a0", LATER).next();
    Cluster raised =
        Capacity.declare(one, order(9, 9 * GPUS, one.version()), TERMS, LATER + 1).next();
    Cluster two = active(raised, LATER + 5, "a0", "a1");
    assertEquals(LATER + 5, node(two, "a0").activeAtMillis());
    assertEquals(LATER + 5, node(two, "a1").activeAtMillis());
  }

  private static Transition ready(Cluster cluster, String id, long at) {
    return MarketTransitions.provisioned(cluster, id, GPUS, PROTECTION, GangTest::address, at);
  }

  private static Transition keyed(Cluster cluster, String id, long at) {
    return MarketTransitions.keyed(cluster, id, GPUS, PROTECTION, GangTest::address, at);
  }

  /** Makes these nodes ready and writes their keys. */
  private static Cluster active(Cluster cluster, long at, String... ids) {
    Cluster next = cluster;
    for (String id : ids) {
      next = ready(next, id, at).next();
    }
    for (String id : ids) {
      next = keyed(next, id, at).next();
    }
    return next;
  }

  /** Returns the grant of node n{i} at address 10.0.0.{i}. */
  private static String address(String nodeId) {
    return Sample.ip(Integer.parseInt(nodeId.substring(1)));
  }

  private static Allocation node(Cluster cluster, String id) {
    return cluster.find(id).orElseThrow();
  }

  @Test
  void oneThatIsReadyWaitsAndIsNotActiveUntilTheMinimumIs() {
    Cluster one = ready(granted(), "a0", LATER).next();
    assertTrue(node(one, "a0").isReady());
    assertNull(node(one, "a0").activeAtMillis());
    Cluster two = active(one, LATER + 5, "a0", "a2");
    for (String id : List.of("a0", "a2")) {
      assertEquals(LATER + 5, node(two, id).activeAtMillis());
      assertEquals(LATER + 5 + PROTECTION, node(two, id).protectedUntilMillis());
      assertNull(node(two, id).lifecycle().readyAtMillis());
    }
    Cluster three = active(two, LATER + 9, "a1");
    assertEquals(LATER + 9, node(three, "a1").activeAtMillis(), "it grows node by node");
  }

  @Test
  void tellingTwiceThatOneIsReadyChangesNothing() {
    Cluster one = ready(granted(), "a0", LATER).next();
    assertTrue(ready(one, "a0", LATER + 5).changesNothing());
    assertEquals(LATER, node(one, "a0").lifecycle().readyAtMillis());
  }

  @Test
  void clearingTheMinimumMakesThoseThatAreReadyActive() {
    Cluster one = ready(granted(), "a0", LATER).next();
    assertFalse(Gang.isComplete(one, GPUS));
    Cluster cleared =
        Capacity.declare(one, order(3, null, one.version()), TERMS, LATER + 10_000).next();
    assertTrue(Gang.isComplete(cleared, GPUS), "the market must activate it");
    Cluster active = keyed(cleared, "a0", LATER + 10_001).next();
    assertEquals(LATER + 10_001, node(active, "a0").activeAtMillis());
  }

  @Test
  void grantsOlderThanThePatienceAreOverdueUnlessTheMinimumIsReady() {
    Cluster one = ready(granted(), "a0", LATER).next();
    assertEquals(List.of(), Gang.overdue(one, GPUS, PATIENCE, T0 + 1_000 + PATIENCE - 1));
    assertEquals(3, Gang.overdue(one, GPUS, PATIENCE, T0 + 1_000 + PATIENCE).size());
    Cluster two = ready(one, "a1", LATER).next();
    assertEquals(List.of(), Gang.overdue(two, GPUS, PATIENCE, T0 + 10 * PATIENCE));
  }

  @Test
  void onlyNodesGivenUpAfterTheGrantLetTheRestBeUnwoundAtOnce() {
    Cluster broken = Sample.bidder("c1", "acme", "2", 2 * GPUS, 2, T0);
    for (int i = 0; i < 2; i++) {
      broken = Sample.grantedToGang(broken, i, 2, LATER);
    }
    broken = MarketTransitions.unwound(broken, "a1", "broken", LATER + 1_000).next();

    assertEquals(
        List.of(), Gang.overdue(withGiveUp(broken, LATER - 1), GPUS, PATIENCE, LATER + 2_000));
    assertEquals(1, Gang.overdue(withGiveUp(broken, LATER), GPUS, PATIENCE, LATER + 2_000).size());
  }

  private static Cluster withGiveUp(Cluster cluster, long atMillis) {
    Cluster.Draft draft = cluster.draft();
    draft.standing = cluster.standing().withGiveUp(atMillis);
    return draft.build();
  }

  @Test
  void whatIsGivenUpIsUnwoundAndTheClusterStandsBackUntilItIsDeclaredAnew() {
    Cluster one = ready(granted(), "a0", LATER).next();
    List<MarketTransitions.Orders.Taken> taken = new ArrayList<>();
    for (Allocation late : Gang.overdue(one, GPUS, PATIENCE, T0 + 2 * PATIENCE)) {
      taken.add(new MarketTransitions.Orders.Taken(late.allocationId(), Allocation.Reason.UNWOUND));
    }
    long at = T0 + 2 * PATIENCE;
    Cluster unwound = Sample.settled(one, List.of(), taken, at).next();
    assertTrue(unwound.allocations().stream().allMatch(a -> a.activeAtMillis() == null));
    assertTrue(unwound.allocations().stream().noneMatch(Allocation::isOpen));
    assertTrue(Gang.standsBack(unwound, GPUS, PATIENCE, at));
    assertFalse(Gang.standsBack(unwound, GPUS, PATIENCE, at + PATIENCE));
    assertFalse(Gang.standsBack(unwound, GPUS, PATIENCE, at - 1), "the clock was ahead then");
    Cluster redeclared =
        Capacity.declare(unwound, order(3, 2 * GPUS, unwound.version()), TERMS, at + 1).next();
    assertFalse(Gang.standsBack(redeclared, GPUS, PATIENCE, at + 1));
  }
}
