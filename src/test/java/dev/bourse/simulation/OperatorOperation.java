package dev.bourse.simulation;

import dev.bourse.access.Operator;
import dev.bourse.app.BareProcess;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAdminService;
import dev.bourse.json.Setting;
import dev.bourse.market.NodeService;
import dev.bourse.pools.settings.PoolService;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Operations of operators. Changes that would block clients' demand are undone after a while, so
 * that a world can come to rest.
 */
enum OperatorOperation implements PlanAction {
  /** Cordons a node for a while. */
  CORDON(
      (world, random) ->
          anyNode(world, random)
              .ifPresent(
                  node -> {
                    ask(world, random, "cordons " + node, cordoning(node, true));
                    later(
                        world,
                        random,
                        () ->
                            keepTrying(
                                world,
                                "uncordons " + node,
                                () -> !is(world, "node", "cordoned = 1", "node_id", node),
                                cordoning(node, false)));
                  })),

  /** Ends a node's quarantine or back-off. */
  RELEASE_NODE(
      (world, random) ->
          anyNode(world, random)
              .ifPresent(
                  node ->
                      ask(
                          world,
                          random,
                          "releases " + node,
                          core -> core.nodes().releaseNode(somebody(), node)))),

  /** Retries work on a node at once. */
  RETRY_NODE(
      (world, random) ->
          anyNode(world, random)
              .ifPresent(
                  node ->
                      ask(
                          world,
                          random,
                          "retries " + node,
                          core -> core.nodes().retryNode(somebody(), node)))),

  /** Retires a node, in any state, while some are left; it may come back later. */
  RETIRE_NODE(
      (world, random) -> {
        List<String> nodes = nodes(world, "");
        if (nodes.size() < 2) {
          return;
        }
        String node = nodes.get(random.nextInt(nodes.size()));
        if (random.nextBoolean()) {
          retireAndAdd(world, random, node);
        } else {
          retire(world, random, node);
        }
      }),

  /** Retires a free node just when a cluster wants one. */
  RETIRE_WANTED(
      (world, random) ->
          ClientOperation.ready(world, random)
              .ifPresent(
                  process -> {
                    String cluster = ClientOperation.anyCluster(world, random);
                    world.clients.declare(
                        process,
                        cluster,
                        World.GPUS_PER_NODE * random.nextInt(1, 6),
                        java.math.BigDecimal.valueOf(random.nextLong(500, 1_000), 2));
                    retireAtTicks(world, process, random);
                  })),

  /** Reports a node that is being reclaimed as clean; the report may be false. */
  END_RECLAIM((world, random) -> endSomeReclaim(world, random, 60)),

  /** Pins a held node, for a while or for good. */
  PIN(
      (world, random) ->
          heldNode(world, random)
              .ifPresent(
                  held -> {
                    ask(world, random, "pins " + held, pinning(held, true));
                    if (random.nextBoolean()) {
                      SplittableRandom then = random.split();
                      later(
                          world,
                          random,
                          () -> ask(world, then, "unpins " + held, pinning(held, false)));
                    }
                  })),

  /** Takes a cluster from the market for a while. */
  POSTURE(
      (world, random) -> {
        String cluster = ClientOperation.anyCluster(world, random);
        ask(world, random, cluster + " is static", posture(cluster, Cluster.Posture.STATIC));
        later(
            world,
            random,
            () ->
                keepTrying(
                    world,
                    cluster + " is the market's",
                    () -> is(world, "cluster", "posture = 'MARKET'", "name", cluster),
                    posture(cluster, Cluster.Posture.MARKET)));
      }),

  /** Starts or ends a cluster's maintenance. */
  MAINTENANCE(
      (world, random) -> {
        String cluster = ClientOperation.anyCluster(world, random);
        boolean isOn = random.nextBoolean();
        ask(
            world,
            random,
            "maintenance of " + cluster + " " + isOn,
            updating(cluster, Optional.empty(), Optional.empty(), Optional.of(isOn)));
      }),

  /** Disarms a cluster's writes for a while. */
  DISARM(
      (world, random) -> {
        String cluster = ClientOperation.anyCluster(world, random);
        ask(world, random, "disarms " + cluster, arming(cluster, false));
        later(
            world,
            random,
            () ->
                keepTrying(
                    world,
                    "arms " + cluster,
                    () -> is(world, "cluster", "writes_armed = 1", "name", cluster),
                    arming(cluster, true)));
      }),

  /** Disarms all writes for a while. */
  DISARM_ALL(
      (world, random) -> {
        ask(world, random, "disarms all", core -> switching(core, false));
        later(
            world,
            random,
            () ->
                keepTrying(
                    world,
                    "arms all",
                    () -> !is(world, "switch", "is_on = 0", "name", "capacity-writes"),
                    core -> switching(core, true)));
      }),

  /** Sets other terms for the pool for a while. */
  TERMS(
      (world, random) -> {
        long reserve = random.nextLong(50, 500);
        long cap = random.nextLong(400, 1_200);
        boolean swaps = random.nextInt(3) > 0;
        ask(
            world,
            random,
            "sets the terms " + reserve + " " + cap + " " + swaps,
            core -> terms(core, reserve, cap, swaps));
        later(
            world,
            random,
            () ->
                keepTrying(
                    world,
                    "sets the terms back",
                    () -> areTermsUsual(world),
                    core -> terms(core, 100, 1_000, true)));
      }),

  /** Adds a node, or one in place of a retired one. */
  ADD_NODE(
      (world, random) -> {
        if (mayAdd(world)) {
          add(world, random, "added-" + random.nextInt(4));
        }
      });

  private static final String ACTOR = "operator";
  private static final Operator SOMEBODY = new Operator("t1", "somebody");

  private static final int MOST_NODES = 10;

  /** The default of {@code market.tick}. */
  private static final long TICK_MILLIS = 10_000;

  private static final int TICKS = 3;

  /** A process may be stopped for 40 s and then execute earlier requests. */
  private static final int TRIES = 6;

  private static final long RETRY_MILLIS = 10_000;

  @SuppressWarnings("ImmutableEnumChecker") // lambdas without state.
  private final BiConsumer<World, SplittableRandom> what;

  OperatorOperation(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void perform(World world, SplittableRandom random) {
    what.accept(world, random);
  }

  private static void ask(
      World world, SplittableRandom random, String what, Function<BareProcess, Future<?>> call) {
    ClientOperation.ready(world, random)
        .ifPresent(
            process -> world.clients.call(process, what, core -> call.apply(core).mapEmpty()));
  }

  private static void later(World world, SplittableRandom random, Runnable what) {
    world.scheduler.afterMillis(random.nextLong(1_000, 60_000), what);
  }

  /** Checks for a minute whether a condition holds, and makes the call when it does not. */
  private static void keepTrying(
      World world, String what, BooleanSupplier isSo, Function<BareProcess, Future<?>> call) {
    keepTrying(world, what, isSo, call, TRIES);
  }

  private static void keepTrying(
      World world,
      String what,
      BooleanSupplier isSo,
      Function<BareProcess, Future<?>> call,
      int triesLeft) {
    if (!isSo.getAsBoolean() && !world.ready().isEmpty()) {
      world.clients.call(world.ready().get(0), what, core -> call.apply(core).mapEmpty());
    }
    if (triesLeft > 1) {
      world.scheduler.afterMillis(
          RETRY_MILLIS, () -> keepTrying(world, what, isSo, call, triesLeft - 1));
    }
  }

  private static boolean is(World world, String table, String what, String key, String value) {
    return world
            .server
            .engine()
            .number(
                "SELECT COUNT(*) FROM " + table + " WHERE " + what + " AND " + key + " = ?", value)
        > 0;
  }

  private static List<String> nodes(World world, String filter) {
    return world
        .server
        .engine()
        .query(
            "SELECT node_id FROM node WHERE retired_at IS NULL" + filter + " ORDER BY node_id",
            List.of(),
            row -> row.text("node_id"));
  }

  private static Optional<String> any(List<String> all, SplittableRandom random) {
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
  }

  private static List<String> freeNodes(World world) {
    return nodes(
        world,
        " AND NOT EXISTS (SELECT 1 FROM allocation a WHERE a.node_id = node.node_id"
            + " AND a.gone_at IS NULL)");
  }

  private static boolean mayAdd(World world) {
    return nodes(world, "").size() < MOST_NODES;
  }

  /** The values of the world file. */
  private static boolean areTermsUsual(World world) {
    return is(
        world,
        "pool",
        "reserve_cents = 100 AND cap_cents = 1000 AND swaps_enabled = 1",
        "name",
        World.POOL);
  }

  private static Operator somebody() {
    return SOMEBODY;
  }

  private static Optional<String> anyNode(World world, SplittableRandom random) {
    return any(nodes(world, ""), random);
  }

  private static Function<BareProcess, Future<?>> cordoning(String node, boolean isOn) {
    return core -> core.nodes().cordonNode(SOMEBODY, node, isOn);
  }

  private static void retire(World world, SplittableRandom random, String node) {
    ask(world, random, "retires " + node, core -> core.retirement().retireNode(SOMEBODY, node));
  }

  private static void retireAndAdd(World world, SplittableRandom random, String node) {
    retire(world, random, node);
    SplittableRandom then = random.split();
    later(world, random, () -> add(world, then, node));
  }

  /** At moments when the market has read free nodes and not yet granted them. */
  private static void retireAtTicks(World world, Replica process, SplittableRandom random) {
    BareProcess core = process.core();
    if (core == null) {
      return;
    }
    long next =
        core.clusters()
            .findQuote(World.POOL)
            .map(quote -> quote.nextTickAtMillis() - process.wall().millis())
            .orElse(0L);
    for (int i = 0; i < TICKS; i++) {
      SplittableRandom then = random.split();
      world.scheduler.after(
          (next + i * TICK_MILLIS) * 1_000_000 + random.nextLong(-8_000_000, 8_000_000),
          () -> {
            List<String> free = freeNodes(world);
            if (!free.isEmpty()) {
              retireAndAdd(world, then, free.get(0));
            }
          });
    }
  }

  /** An operator retries every node that waits for one. */
  static void retryQuarantined(World world) {
    for (String node : nodes(world, " AND quarantined_at IS NOT NULL")) {
      ask(
          world,
          new SplittableRandom(0),
          "retries " + node,
          core -> core.nodes().retryNode(SOMEBODY, node));
    }
  }

  private static void add(World world, SplittableRandom random, String node) {
    world.machines.dropOrders(node);
    ask(
        world,
        random,
        "adds " + node,
        core ->
            core.nodes()
                .addNode(
                    SOMEBODY,
                    World.POOL,
                    new NodeService.Added(
                        node, Optional.empty(), Optional.empty(), Optional.empty())));
  }

  /**
   * Not a node that is being reimaged, because its new host key would have to be pinned as well.
   */
  private static void endSomeReclaim(World world, SplittableRandom random, int looksLeft) {
    List<String> reclaiming =
        nodes(
            world,
            " AND reimage_of IS NULL"
                + " AND EXISTS (SELECT 1 FROM allocation a WHERE a.node_id = node.node_id"
                + " AND a.gone_at IS NULL AND a.state = 'RECLAIMING')");
    if (!reclaiming.isEmpty()) {
      String node = reclaiming.get(random.nextInt(reclaiming.size()));
      boolean isBack = random.nextBoolean();
      world.machines.dropOrders(node);
      ask(
          world,
          random,
          "ends the reclaim of " + node,
          core -> core.retirement().endReclaim(SOMEBODY, node, isBack));
    } else if (looksLeft > 1) {
      world.scheduler.afterMillis(1_000, () -> endSomeReclaim(world, random, looksLeft - 1));
    }
  }

  /** A held node's address, and its cluster. */
  private record Address(String cluster, String publicIp) {
    @Override
    public String toString() {
      return publicIp + " of " + cluster;
    }
  }

  private static Optional<Address> heldNode(World world, SplittableRandom random) {
    List<Address> held =
        world
            .server
            .engine()
            .query(
                "SELECT cluster, public_ip FROM allocation WHERE gone_at IS NULL"
                    + " AND state <> 'RECLAIMING' AND public_ip IS NOT NULL ORDER BY node_id",
                List.of(),
                row -> new Address(row.text("cluster"), row.text("public_ip")));
    return held.isEmpty() ? Optional.empty() : Optional.of(held.get(random.nextInt(held.size())));
  }

  private static Function<BareProcess, Future<?>> pinning(Address held, boolean isOn) {
    return core -> core.clusterAdmin().pinNode(ACTOR, held.cluster, held.publicIp, isOn);
  }

  private static Function<BareProcess, Future<?>> posture(String cluster, Cluster.Posture posture) {
    return updating(cluster, Optional.of(posture), Optional.empty(), Optional.empty());
  }

  private static Function<BareProcess, Future<?>> arming(String cluster, boolean isOn) {
    return updating(cluster, Optional.empty(), Optional.of(isOn), Optional.empty());
  }

  private static Function<BareProcess, Future<?>> updating(
      String cluster,
      Optional<Cluster.Posture> posture,
      Optional<Boolean> writesArmed,
      Optional<Boolean> maintenance) {
    return core ->
        core.clusterAdmin()
            .updateCluster(
                ACTOR,
                cluster,
                new ClusterAdminService.Settings(
                    posture, writesArmed, maintenance, Setting.kept(), Optional.empty()));
  }

  private static Future<?> switching(BareProcess core, boolean isOn) {
    return core.switches()
        .writeSwitches(ACTOR, Optional.of(isOn), Optional.empty(), Optional.empty());
  }

  private static Future<?> terms(BareProcess core, long reserve, long cap, boolean swaps) {
    return core.pools()
        .updatePool(
            ACTOR,
            World.POOL,
            new PoolService.Settings(
                Setting.kept(),
                Optional.of(reserve),
                Optional.of(cap),
                Optional.empty(),
                Optional.of(swaps),
                Optional.empty(),
                Optional.empty(),
                Setting.kept(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty()),
            PoolService.Settings.NONE);
  }
}
