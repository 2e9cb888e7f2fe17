package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.PROTECTION;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When the nodes of a gang become active, and when they are given up. */
@Tag("fast")
class GangTest {
  private static final int GPUS = 8;
  private static final long LATER = T0 + 60_000;
  private static final long PATIENCE = 600_000;

  private static Capacity.Declare order(int nodes, @Nullable Object minGpus, long version) {
    JsonObject body = new JsonObject().put("min_gpus", minGpus);
    return new Capacity.Declare(
        Sample.ACTOR,
        nodes * GPUS,
        new BigDecimal("2.00"),
        Optional.empty(),
        version,
        Conditions.of(body));
  }

  /** A gang of two at least, granted three nodes at T0 + 1 s, 2 s and 3 s. */
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
    assertNull(node(one, "a0").publicIp());
    assertEquals(Optional.empty(), one.findHeld(Sample.ip(0)));
    assertTrue(node(one, "a0").keysDue());
    Transition two = ready(one, "a2", LATER + 5);
    assertEquals(Sample.ip(0), node(two.next(), "a0").publicIp());
    assertEquals(
        List.of("granted " + Sample.ip(0), "granted " + Sample.ip(2)),
        two.activity().stream().map(entry -> entry.event().note()).toList());
    assertFalse(node(Allotment.keyed(two.next(), "a0").next(), "a0").keysDue());
  }

  @Test
  void aMinimumThatIsRaisedAfterTheGrantKeepsNoNodeFromBeingBilled() {
    Cluster one = ready(granted(), "a0", LATER).next();
    Cluster raised =
        Capacity.declare(one, order(9, 9 * GPUS, one.version()), TERMS, LATER + 1).next();
    Cluster two = ready(raised, "a1", LATER + 5).next();
    assertEquals(LATER + 5, node(two, "a0").activeAtMillis());
    assertEquals(LATER + 5, node(two, "a1").activeAtMillis());
  }

  private static Transition ready(Cluster cluster, String id, long at) {
    return Allotment.provisioned(cluster, id, GPUS, PROTECTION, GangTest::address, at);
  }

  /** Node n{i} at address 10.0.0.{i}. */
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
    Cluster two = ready(one, "a2", LATER + 5).next();
    for (String id : List.of("a0", "a2")) {
      assertEquals(LATER + 5, node(two, id).activeAtMillis());
      assertEquals(LATER + 5 + PROTECTION, node(two, id).protectedUntilMillis());
      assertNull(node(two, id).readyAtMillis());
    }
    Cluster three = ready(two, "a1", LATER + 9).next();
    assertEquals(LATER + 9, node(three, "a1").activeAtMillis(), "it grows node by node");
  }

  @Test
  void tellingTwiceThatOneIsReadyChangesNothing() {
    Cluster one = ready(granted(), "a0", LATER).next();
    assertTrue(ready(one, "a0", LATER + 5).changesNothing());
    assertEquals(LATER, node(one, "a0").readyAtMillis());
  }

  @Test
  void clearingTheMinimumMakesThoseThatAreReadyActive() {
    Cluster one = ready(granted(), "a0", LATER).next();
    assertFalse(Gang.isComplete(one, GPUS));
    Cluster cleared =
        Capacity.declare(one, order(3, null, one.version()), TERMS, LATER + 10_000).next();
    assertTrue(Gang.isComplete(cleared, GPUS), "so that its market has it become active");
    Cluster active = ready(cleared, "a0", LATER + 10_001).next();
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
  void whatIsGivenUpIsUnwoundAndTheClusterStandsBackUntilItIsDeclaredAnew() {
    Cluster one = ready(granted(), "a0", LATER).next();
    List<Allotment.Orders.Taken> taken = new ArrayList<>();
    for (Allocation late : Gang.overdue(one, GPUS, PATIENCE, T0 + 2 * PATIENCE)) {
      taken.add(new Allotment.Orders.Taken(late.allocationId(), Allocation.Reason.UNWOUND));
    }
    long at = T0 + 2 * PATIENCE;
    Cluster unwound = Sample.settled(one, List.of(), taken, at).next();
    assertTrue(unwound.allocations().stream().allMatch(a -> a.activeAtMillis() == null));
    assertTrue(unwound.allocations().stream().noneMatch(Allocation::isOpen));
    assertTrue(Gang.standsBack(unwound, GPUS, PATIENCE, at));
    assertFalse(Gang.standsBack(unwound, GPUS, PATIENCE, at + PATIENCE));
    assertFalse(Gang.standsBack(unwound, GPUS, PATIENCE, at - 1), "the clock was ahead then");
    Cluster anew =
        Capacity.declare(unwound, order(3, 2 * GPUS, unwound.version()), TERMS, at + 1).next();
    assertFalse(Gang.standsBack(anew, GPUS, PATIENCE, at + 1));
  }
}
