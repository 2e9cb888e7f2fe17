package dev.bourse.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Conditions;
import dev.bourse.core.Times;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeNotice;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.SimulatedConfig;
import dev.bourse.nodes.SimulatedNodes;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** A process with a thousand machines, in simulated time. */
class ThousandNodesTest {
  private static final int NODES = 1_000;
  private static final int CLUSTERS = 10;

  /** A world in which credit does not limit declarations. */
  private static final long SEED = 2;

  /** The duration of a notification on a real machine. */
  private static final long VISIT_MILLIS = 500;

  /** A tick, and the commits for a thousand prepared machines. */
  private static final long GRANTED_MILLIS = 20_000;

  private static final long UNTIL_MILLIS = 300_000;

  /** The last third of that. */
  private static final long ANNOUNCED_MILLIS = 200_000;

  /** When each machine was notified of the first notice, in true time. */
  private final Map<String, Long> toldMillis = new HashMap<>();

  /** The product's simulated machines, on which a notification takes as long as a visit. */
  private final class Visited implements Bug {
    @Override
    public String name() {
      return "NONE";
    }

    @Override
    public NodeProvider around(NodeProvider provider, World world) {
      Replica process = world.slots().get(0).replica;
      if (process == null) {
        return provider;
      }
      return new MachineBug.Forwarding(
          new SimulatedNodes(process.vertx(), new SimulatedConfig(0, 0, 0), new Random(1))) {
        @Override
        public Future<Long> deliverNotice(
            Machine machine, String allocationId, NodeNotice notice, long sequence) {
          Promise<Long> told = Promise.promise();
          process
              .vertx()
              .setTimer(
                  VISIT_MILLIS,
                  timer ->
                      super.deliverNotice(machine, allocationId, notice, sequence)
                          .onSuccess(
                              done ->
                                  toldMillis.putIfAbsent(
                                      machine.nodeId(), world.scheduler.nowMillis()))
                          .onComplete(told));
          return told.future();
        }
      };
    }
  }

  @Test
  void aThousandMachinesAreGrantedInATickAndToldOfANoticeWithinTenSeconds() throws Exception {
    try (World world = new World(new Scale(1, 1, CLUSTERS, NODES), SEED, 0, new Visited())) {
      assertFalse(world.terms.isEnforced());
      world.seed();
      world.slots().forEach(world::start);
      pass(world, 30_000, () -> !world.ready().isEmpty());
      Replica process = world.ready().get(0);
      world.clients.addKey(process, "org0", Simulation.KEY);
      pass(world, 2_000, () -> false);
      long declared = world.scheduler.nowMillis();
      for (String cluster : world.scale.clusters()) {
        world.clients.declare(
            process,
            cluster,
            World.GPUS_PER_NODE * NODES / CLUSTERS,
            new BigDecimal("2.00"),
            Conditions.Changes.of(
                new JsonObject()
                    .put("until", Times.rfc3339(process.wall().millis() + UNTIL_MILLIS))));
      }

      pass(world, GRANTED_MILLIS, () -> active(world) == NODES);
      assertEquals(NODES, active(world), world.clients.refusals().toString());
      assertEquals(
          1, world.server.engine().number("SELECT COUNT(DISTINCT granted_at) FROM allocation"));

      pass(world, UNTIL_MILLIS, () -> toldMillis.size() == NODES);
      assertEquals(NODES, toldMillis.size());
      List<Long> times = toldMillis.values().stream().sorted().toList();
      assertTrue(times.get(0) >= declared + ANNOUNCED_MILLIS, times.get(0) + " after " + declared);
      long seconds = (times.get(NODES - 1) - declared - ANNOUNCED_MILLIS) / 1_000;
      assertTrue(seconds < 10, "the last machine was notified after " + seconds + " s");
    }
  }

  private static long active(World world) {
    return world
        .server
        .engine()
        .number("SELECT COUNT(*) FROM allocation WHERE state = 'ACTIVE' AND gone_at IS NULL");
  }

  /** Lets time pass until a condition holds, checked once a simulated second. */
  private static void pass(World world, long millis, BooleanSupplier holds) {
    long end = world.scheduler.nowMillis() + millis;
    while (world.scheduler.nowMillis() < end && !holds.getAsBoolean()) {
      long second = world.scheduler.nowMillis() + 1_000;
      while (world.step(second * 1_000_000)) {
        world.failIfViolated();
      }
    }
  }
}
