package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.MachineTerms;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.nodes.SimulatedConfig;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A mark on a machine is valid until the store says that its allocation has ended. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ReassignmentTest extends StoreFixture {
  private static final List<String> KEYS = List.of("ssh-ed25519 AAAA");

  private static final MachineTerms EIGHT = new MachineTerms(8, null);

  private final List<String> recorded = new ArrayList<>();
  private final Map<String, Node> rows = new HashMap<>();
  private SimulatedNodes nodes;
  private Reassignment reassignment;

  /** A cluster holds n0 as allocation a0 and n1 as a1. */
  @BeforeEach
  void holdTwo() throws Exception {
    await(database.commit(CapacityStore.insert(Sample.active(2), Sample.T0)));
    for (int i = 0; i < 2; i++) {
      rows.put("n" + i, new Node(machine(i), false, 0, 0, null));
    }
    nodes = new SimulatedNodes(vertx, new SimulatedConfig(0, 0, 0), new Random(1));
    reassignment = new Reassignment(nodes, new NodeStore(database), new Rows());
  }

  /** The stored facts about the machines. */
  private final class Rows implements Reassignment.Handovers {
    @Override
    public Future<Void> recordCleaning(String nodeId, String allocationId, Cleaning cleaning) {
      recorded.add(allocationId + " on " + nodeId);
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> recordLostGrant(String nodeId, String allocationId) {
      rows.computeIfPresent(nodeId, (id, node) -> node.leftFor(allocationId));
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> clearLostGrants(String nodeId) {
      rows.computeIfPresent(nodeId, (id, node) -> node.withoutLostGrants());
      return Future.succeededFuture();
    }

    @Override
    public Optional<String> unknownMark(String nodeId) {
      return Optional.ofNullable(rows.get(nodeId)).map(Node::unknownMark);
    }

    @Override
    public boolean mayWipe(String nodeId, String allocationId) {
      Node node = rows.get(nodeId);
      return node != null && node.mayBeWipedOf(allocationId);
    }
  }

  private void retry(String nodeId) {
    rows.computeIfPresent(
        nodeId,
        (id, node) ->
            new Node(
                node.machine(),
                false,
                0,
                0,
                null,
                null,
                null,
                node.retries() + 1,
                0,
                null,
                node.lostGrants(),
                null));
  }

  /** The database was set back to before the grant; the tenant works on the machine. */
  @Test
  void aMarkThatTheStoreDoesNotKnowIsLeftUntilAnOperatorAllowsToWipeIt() throws Exception {
    await(nodes.provision(machine(0), "ghost", KEYS, EIGHT));
    assertUnknown(reassignment.provision(machine(0), "a0", KEYS, EIGHT));
    assertUnknown(reassignment.reclaim(machine(0), "a0"));
    assertUnknown(reassignment.clear(machine(0), "ghost"));
    assertMark("ghost");
    assertEquals(List.of(), recorded);

    retry("n1");
    assertUnknown(reassignment.clear(machine(0), "ghost"));
    retry("n0");
    assertTrue(await(reassignment.clear(machine(0), "ghost")));
    assertMark(null);
  }

  /** The tenant has root rights, and a second fail-over lost an earlier grant. */
  @Test
  void oneRetryIsForEachLostGrantThatWasFoundBeforeIt() throws Exception {
    for (String ghost : List.of("ghost", "older")) {
      await(nodes.provision(machine(0), ghost, KEYS, EIGHT));
      assertUnknown(reassignment.clear(machine(0), ghost));
      await(nodes.reclaim(machine(0), ghost));
    }
    await(nodes.provision(machine(0), "ghost", KEYS, EIGHT));
    assertUnknown(reassignment.clear(machine(0), "ghost"));
    retry("n0");
    assertHeldByAnother(reassignment.clear(machine(0), "older").mapEmpty());
    assertTrue(await(reassignment.clear(machine(0), "ghost")));
    assertMark(null);
  }

  @Test
  void aRetryFromBeforeAMachineWasLeftAllowsNothing() throws Exception {
    await(nodes.provision(machine(0), "ghost", KEYS, EIGHT));
    retry("n0");
    assertUnknown(reassignment.clear(machine(0), "ghost"));
    assertUnknown(reassignment.clear(machine(0), "ghost"));
    assertMark("ghost");
  }

  @Test
  void anUnknownMarkThatIsNotOnTheMachineAnyMoreIsInNobodysWay() throws Exception {
    assertTrue(await(reassignment.clear(machine(0), "ghost")), "the machine was installed anew");
    await(nodes.provision(machine(0), "a0", KEYS, EIGHT));
    assertTrue(
        fails(NodeFailureException.class, reassignment.clear(machine(0), "ghost"))
            .isHeldByAnother());
    assertMark("a0");
  }

  @Test
  void whatAnOperatorAllowedToWipeIsThatMarkAlone() throws Exception {
    await(nodes.provision(machine(0), "ghost", KEYS, EIGHT));
    assertUnknown(reassignment.clear(machine(0), "ghost"));
    retry("n0");
    assertHeldByAnother(reassignment.clear(machine(0), "another").mapEmpty());
    await(
        database.commit(
            List.of(
                Statement.of("UPDATE allocation SET gone_at = 1 WHERE allocation_id = 'a0'"),
                Statement.of(
                    """
                    UPDATE allocation SET allocation_id = 'ghost', gone_at = NULL
                    WHERE allocation_id = 'a0'\
                    """))));
    assertFalse(await(reassignment.clear(machine(0), "ghost")), "the store knows it by now");
    assertMark("ghost");
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
    await(nodes.provision(machine(0), "a0", KEYS, EIGHT));
    await(
        database.commit(
            List.of(Statement.of("UPDATE allocation SET gone_at = 1 WHERE allocation_id = 'a0'"))));
    await(reassignment.reclaim(machine(0), "a9"));
    assertMark(null);
    assertEquals(List.of("a0 on n0"), recorded);
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

  private static void assertUnknown(Future<?> call) {
    NodeFailureException failure = fails(NodeFailureException.class, call);
    assertTrue(failure.isUnfit(), failure::toString);
    assertTrue(String.valueOf(failure.getMessage()).contains("does not know"), failure::toString);
  }

  private static void assertHeldByAnother(Future<Void> call) {
    assertTrue(fails(NodeFailureException.class, call).isHeldByAnother());
  }

  private void assertMark(@Nullable String allocationId) throws Exception {
    assertEquals(List.of(new Holding("n0", allocationId)), await(nodes.held(List.of(machine(0)))));
  }
}
