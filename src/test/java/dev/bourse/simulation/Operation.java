package dev.bourse.simulation;

import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Conditions;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** What clients and operators ask for, of any process that takes requests. */
enum Operation implements Deed {
  /**
   * A member declares how much a cluster wants, and at what price; some for a while or a sum, or
   * for so many nodes at least, and some say what they are to be told of.
   */
  DECLARE(
      (world, random) ->
          ready(world, random)
              .ifPresent(
                  process -> {
                    String cluster = anyCluster(world, random);
                    int nodes = random.nextInt(0, 4);
                    world.clients.declare(
                        process,
                        cluster,
                        World.GPUS_PER_NODE * nodes,
                        BigDecimal.valueOf(random.nextLong(50, 1_100), 2),
                        conditions(process, nodes, random));
                    if (random.nextInt(6) == 0) {
                      setAlerts(world, process, cluster, random);
                    }
                  })),

  /** A member says what a cluster is to be told of. */
  SET_ALERTS(
      (world, random) ->
          ready(world, random)
              .ifPresent(process -> setAlerts(world, process, anyCluster(world, random), random))),

  /** A member asks for another machine in the place of one. */
  SWAP(
      (world, random) ->
          ready(world, random)
              .ifPresent(
                  process -> {
                    String cluster = anyCluster(world, random);
                    heldNode(process, cluster, random)
                        .ifPresent(node -> world.clients.swap(process, cluster, node));
                  }));

  /** Every kind of operation there is. */
  static List<Deed> all() {
    List<Deed> all = new ArrayList<>();
    all.addAll(List.of(values()));
    all.addAll(MoneyOperation.all());
    all.addAll(List.of(OperatorOperation.values()));
    all.addAll(List.of(AccessOperation.values()));
    all.addAll(List.of(UploadOperation.values()));
    return all;
  }

  @SuppressWarnings("ImmutableEnumChecker") // What is done has no state of its own.
  private final BiConsumer<World, SplittableRandom> what;

  Operation(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void happen(World world, SplittableRandom random) {
    what.accept(world, random);
  }

  /** By the clock of the process that is asked, as a client that has just read from it has it. */
  private static Conditions conditions(Replica process, int nodes, SplittableRandom random) {
    JsonObject conditions = new JsonObject();
    if (nodes > 1 && random.nextInt(3) == 0) {
      conditions.put("min_gpus", World.GPUS_PER_NODE * random.nextInt(2, nodes + 1));
    } else if (random.nextBoolean()) {
      conditions.putNull("min_gpus");
    }
    if (random.nextInt(3) > 0) {
      return Conditions.of(conditions);
    }
    if (random.nextInt(3) > 0) {
      long ahead = random.nextLong(1_000, random.nextBoolean() ? 20_000 : 200_000);
      conditions.put("until", Times.rfc3339(process.wall().millis() + ahead));
    }
    if (random.nextInt(3) == 0) {
      conditions.put("max_spend_usd", random.nextLong(1, 300) / 100.0);
    }
    return Conditions.of(conditions);
  }

  /** Of what may well come while the simulation goes on. */
  private static void setAlerts(
      World world, Replica process, String cluster, SplittableRandom random) {
    world.clients.setAlerts(
        process,
        cluster,
        new Alerts.Thresholds(
            some(random, random.nextInt(1, 60)),
            some(random, random.nextLong(100, 600)),
            some(random, random.nextInt(1, 6)),
            some(random, random.nextLong(1, 100)),
            some(random, random.nextLong(1_000, 120_000))));
  }

  private static <T> @Nullable T some(SplittableRandom random, T value) {
    return random.nextBoolean() ? value : null;
  }

  static Optional<Replica> ready(World world, SplittableRandom random) {
    List<Replica> ready = world.ready();
    return ready.isEmpty()
        ? Optional.empty()
        : Optional.of(ready.get(random.nextInt(ready.size())));
  }

  static String anyCluster(World world, SplittableRandom random) {
    List<String> clusters = world.scale.clusters();
    return clusters.get(random.nextInt(clusters.size()));
  }

  private static Optional<String> heldNode(
      Replica process, String cluster, SplittableRandom random) {
    List<String> held =
        Clients.shown(process, cluster).map(Cluster::allocations).orElse(List.of()).stream()
            .filter(Allocation::fillsSlot)
            .map(Allocation::publicIp)
            .filter(java.util.Objects::nonNull)
            .toList();
    return held.isEmpty() ? Optional.empty() : Optional.of(held.get(random.nextInt(held.size())));
  }
}
