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

/** Operations of clients and operators, through any process that takes requests. */
enum ClientOperation implements PlanAction {
  /**
   * A member declares a cluster's demand and price; some declarations have an end, a budget or a
   * minimum of nodes, and some set alerts.
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

  /** A member sets a cluster's alerts. */
  SET_ALERTS(
      (world, random) ->
          ready(world, random)
              .ifPresent(process -> setAlerts(world, process, anyCluster(world, random), random))),

  /** A member swaps a node. */
  SWAP(
      (world, random) ->
          ready(world, random)
              .ifPresent(
                  process -> {
                    String cluster = anyCluster(world, random);
                    heldNode(process, cluster, random)
                        .ifPresent(node -> world.clients.swap(process, cluster, node));
                  }));

  /** Returns every kind of operation. */
  static List<PlanAction> all() {
    List<PlanAction> all = new ArrayList<>();
    all.addAll(List.of(values()));
    all.addAll(MoneyOperation.all());
    all.addAll(List.of(OperatorOperation.values()));
    all.addAll(List.of(AccessOperation.values()));
    all.addAll(List.of(UploadOperation.values()));
    return all;
  }

  @SuppressWarnings("ImmutableEnumChecker") // lambdas without state.
  private final BiConsumer<World, SplittableRandom> what;

  ClientOperation(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void perform(World world, SplittableRandom random) {
    what.accept(world, random);
  }

  /** Uses the clock of the called process, like a client that has just read from it. */
  private static Conditions.Changes conditions(
      Replica process, int nodes, SplittableRandom random) {
    JsonObject conditions = new JsonObject();
    if (nodes > 1 && random.nextInt(3) == 0) {
      conditions.put("min_gpus", World.GPUS_PER_NODE * random.nextInt(2, nodes + 1));
    } else if (random.nextBoolean()) {
      conditions.putNull("min_gpus");
    }
    if (random.nextInt(3) > 0) {
      return Conditions.Changes.of(conditions);
    }
    if (random.nextInt(3) > 0) {
      long ahead = random.nextLong(1_000, random.nextBoolean() ? 20_000 : 200_000);
      conditions.put("until", Times.rfc3339(process.wall().millis() + ahead));
    }
    if (random.nextInt(3) == 0) {
      conditions.put("max_spend_usd", random.nextLong(1, 300) / 100.0);
    }
    return Conditions.Changes.of(conditions);
  }

  /** Draws thresholds that may be reached during the simulation. */
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
