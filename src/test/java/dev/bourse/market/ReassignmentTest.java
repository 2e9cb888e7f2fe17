package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.nodes.Hardware;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.NodeFailure;
import dev.bourse.nodes.SimulatedConfig;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Marks on machines are somebody's until the store says that their allocation is gone. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ReassignmentTest extends StoreFixture {
  private static final List<String> KEYS = List.of("ssh-ed25519 AAAA");

  private static final Hardware EIGHT = new Hardware(8, null);

  private final List<String> recorded = new ArrayList<>();
  private SimulatedNodes nodes;
  private Reassignment reassignment;

  /** A cluster holds n0 as allocation a0 and n1 as a1. */
  @BeforeEach
  void holdTwo() throws Exception {
    await(database.commit(CapacityStore.insert(Sample.active(2), Sample.T0)));
    nodes = new SimulatedNodes(vertx, new SimulatedConfig(0, 0, 0), new Random(1));
    reassignment =
        new Reassignment(
            nodes,
            new NodeStore(database),
            (nodeId, allocationId, cleaning) -> {
              recorded.add(allocationId + " on " + nodeId);
              return Future.succeededFuture();
            });
  }

  @Test
  void aMarkOfNobodysMakesWayForAnAllocation() throws Exception {
    await(nodes.provision(machine(0), "ghost", KEYS, EIGHT));
    await(reassignment.provision(machine(0), "a0", KEYS, EIGHT));
    assertMark("a0");
  }

  @Test
  void aMarkOfAnAllocationThatIsGoneMakesWayToo() throws Exception {
    await(nodes.provision(machine(0), "a0", KEYS, EIGHT));
    await(
        database.commit(
            List.of(Statement.of("UPDATE allocation SET gone_at = 1 WHERE allocation_id = 'a0'"))));
    await(reassignment.provision(machine(0), "a9", KEYS, EIGHT));
    assertMark("a9");
  }

  @Test
  void aReclaimClearsAMarkOfNobodysToo() throws Exception {
    await(nodes.provision(machine(0), "ghost", KEYS, EIGHT));
    await(reassignment.reclaim(machine(0), "a0"));
    assertMark(null);
    assertEquals(List.of("ghost on n0"), recorded);
  }

  @Test
  void aMarkOfAnAllocationThatLivesIsLeftWhateverTheCallerBelieves() throws Exception {
    await(nodes.provision(machine(0), "a0", KEYS, EIGHT));
    assertHeldByAnother(reassignment.provision(machine(0), "a9", KEYS, EIGHT));
    assertHeldByAnother(reassignment.reclaim(machine(0), "a9"));
    assertFalse(await(reassignment.clear(machine(0), "a0")));
    assertMark("a0");
  }

  @Test
  void aMarkOfAnAllocationThatLivesOnAnotherMachineIsNobodys() throws Exception {
    await(nodes.provision(machine(0), "a1", KEYS, EIGHT));
    assertTrue(await(reassignment.clear(machine(0), "a1")));
    assertMark(null);
  }

  private static void assertHeldByAnother(Future<Void> call) {
    assertTrue(fails(NodeFailure.class, call).isHeldByAnother());
  }

  private void assertMark(@Nullable String allocationId) throws Exception {
    assertEquals(List.of(new Holding("n0", allocationId)), await(nodes.held(List.of(machine(0)))));
  }
}
