package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Simulated machines. */
class SimulatedNodesTest {
  private static final MachineTerms EIGHT = new MachineTerms(8, null);
  private static final List<String> KEYS = List.of("ssh-ed25519 AAAA");

  private final Vertx vertx = Vertx.vertx();
  private final Machine one = new Machine("n1", SimulatedNodes.address(0), 22, null);
  private final Machine two = new Machine("n2", SimulatedNodes.address(1), 22, null);

  @AfterEach
  void close() throws Exception {
    await(vertx.close());
  }

  @Test
  void aMachineHoldsItsAllocationFromProvisionToReclaimHoweverOftenTheyAreRepeated()
      throws Exception {
    SimulatedNodes nodes = nodes(0, 0, 0);

    await(nodes.provision(one, "a1", KEYS, EIGHT));
    await(nodes.provision(one, "a1", KEYS, EIGHT));
    assertEquals(
        List.of(new Holding("n1", "a1"), new Holding("n2", null)),
        await(nodes.held(List.of(one, two))));

    await(nodes.reclaim(one, "a1"));
    await(nodes.reclaim(one, "a1"));
    assertEquals(List.of(new Holding("n1", null)), await(nodes.held(List.of(one))));
  }

  @Test
  void aMachineThatHoldsAnotherAllocationIsLeftAsItIs() throws Exception {
    SimulatedNodes nodes = nodes(0, 0, 0);
    await(nodes.provision(one, "a1", KEYS, EIGHT));

    fails("a1", nodes.provision(one, "a2", KEYS, EIGHT));

    assertEquals(List.of(new Holding("n1", "a1")), await(nodes.held(List.of(one))));
  }

  @Test
  void aLateReclaimOfAnEarlierAllocationLeavesTheMachineToTheNextOne() throws Exception {
    SimulatedNodes nodes = nodes(0, 0, 0);
    await(nodes.provision(one, "a1", KEYS, EIGHT));
    await(nodes.reclaim(one, "a1"));
    await(nodes.provision(one, "a2", KEYS, EIGHT));

    assertTrue(fails("a2", nodes.reclaim(one, "a1")).isHeldByAnother());

    assertEquals(List.of(new Holding("n1", "a2")), await(nodes.held(List.of(one))));
  }

  @Test
  void aMachineIsNotPreparedAgainForAnAllocationItWasTakenBackFrom() throws Exception {
    SimulatedNodes nodes = nodes(0, 0, 0);
    await(nodes.provision(one, "a1", KEYS, EIGHT));
    await(nodes.reclaim(one, "a1"));

    assertTrue(fails("a1", nodes.provision(one, "a1", KEYS, EIGHT)).isHeldByAnother());

    assertEquals(List.of(new Holding("n1", null)), await(nodes.held(List.of(one))));
  }

  @Test
  void eachCallTakesItsDelay() throws Exception {
    SimulatedNodes nodes = nodes(60, 30, 0);
    long start = System.nanoTime();
    await(nodes.provision(one, "a1", KEYS, EIGHT));
    long provisioned = System.nanoTime();
    await(nodes.reclaim(one, "a1"));
    long reclaimed = System.nanoTime();

    assertTrue(provisioned - start >= TimeUnit.MILLISECONDS.toNanos(59));
    assertTrue(reclaimed - provisioned >= TimeUnit.MILLISECONDS.toNanos(29));
  }

  @Test
  void callsFailAtTheConfiguredRateAndThenChangeNothing() throws Exception {
    SimulatedNodes never = nodes(0, 0, 1);
    fails("simulated", never.provision(one, "a1", KEYS, EIGHT));
    fails("simulated", never.reclaim(one, "a1"));
    assertEquals(List.of(new Holding("n1", null)), await(never.held(List.of(one))));

    long seed = 42;
    SimulatedNodes half =
        new SimulatedNodes(vertx, new SimulatedConfig(0, 0, 0.5), new Random(seed));
    int failures = 0;
    for (int i = 0; i < 200; i++) {
      Future<?> call = half.reclaim(one, "a1");
      Future<Boolean> settled = call.transform(done -> Future.succeededFuture(done.failed()));
      failures += await(settled) ? 1 : 0;
    }
    assertTrue(failures > 70 && failures < 130, failures + " of 200 failed, seed " + seed);
  }

  @Test
  void closingFailsWhatIsUnderWayAndWhatComesAfter() throws Exception {
    SimulatedNodes nodes = nodes(3_600_000, 0, 0);
    Future<Void> provision = nodes.provision(one, "a1", KEYS, EIGHT);

    await(nodes.close());

    fails("closed", provision);
    fails("closed", nodes.reclaim(one, "a1"));
  }

  @Test
  void addressesAreTheHostsOfTheBenchmarkingNetwork() {
    assertEquals("198.18.0.1", SimulatedNodes.address(0));
    assertEquals("198.18.1.0", SimulatedNodes.address(255));
    assertEquals("198.19.255.254", SimulatedNodes.address(SimulatedNodes.ADDRESSES - 1));
    assertThrows(IllegalArgumentException.class, () -> SimulatedNodes.address(-1));
    assertThrows(
        IllegalArgumentException.class, () -> SimulatedNodes.address(SimulatedNodes.ADDRESSES));
  }

  @Test
  void delaysAndRatesOutOfRangeAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new SimulatedConfig(-1, 0, 0));
    assertThrows(IllegalArgumentException.class, () -> new SimulatedConfig(0, 86_400_001, 0));
    assertThrows(IllegalArgumentException.class, () -> new SimulatedConfig(0, 0, 1.01));
    assertThrows(IllegalArgumentException.class, () -> new SimulatedConfig(0, 0, Double.NaN));
  }

  private SimulatedNodes nodes(long provisionMillis, long reclaimMillis, double failureRate) {
    return new SimulatedNodes(
        vertx, new SimulatedConfig(provisionMillis, reclaimMillis, failureRate), new Random(1));
  }

  private static NodeFailureException fails(String why, Future<?> future) {
    ExecutionException e = assertThrows(ExecutionException.class, () -> await(future));
    NodeFailureException failure = assertInstanceOf(NodeFailureException.class, e.getCause());
    assertTrue(failure.toString().contains(why), failure.toString());
    return failure;
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }
}
