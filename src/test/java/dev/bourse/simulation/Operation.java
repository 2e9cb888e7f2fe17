package dev.bourse.simulation;

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

/** What clients and operators ask for, of any process that takes requests. */
enum Operation implements Deed {
  /** A member declares how much a cluster wants, and at what price; some for a while or a sum. */
  DECLARE(
      (world, random) ->
          ready(world, random)
              .ifPresent(
                  process ->
                      world.clients.declare(
                          process,
                          anyCluster(world, random),
                          World.GPUS_PER_NODE * random.nextInt(0, 4),
                          BigDecimal.valueOf(random.nextLong(50, 1_100), 2),
                          conditions(process, random)))),

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
  private static Conditions conditions(Replica process, SplittableRandom random) {
    JsonObject conditions = new JsonObject();
    if (random.nextInt(3) > 0) {
      return Conditions.KEPT;
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
