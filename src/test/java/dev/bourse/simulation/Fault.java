package dev.bourse.simulation;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/**
 * Faults. Every fault ends by itself after a while, and all of them end when a simulation comes to
 * rest.
 */
enum Fault implements PlanAction {
  /** A process and the database cannot reach each other. */
  CUT_OFF(
      (world, random) -> {
        World.Slot slot = anySlot(world, random);
        slot.route.isCut = true;
        world.trace.add("p" + slot.index, "is cut off from the database");
        later(world, random, 30_000, () -> slot.route.isCut = false);
      }),

  /** No process can reach the database. */
  DATABASE_AWAY(
      (world, random) -> {
        world.weather.isDatabaseAway = true;
        world.trace.add("database", "is away");
        later(world, random, 20_000, () -> world.weather.isDatabaseAway = false);
      }),

  /** Messages to and from the database are lost: the order or the answer of a commit. */
  LOSS(
      (world, random) -> {
        world.weather.lossPercent = random.nextInt(1, 30);
        world.trace.add("network", "loses {} in 100 messages", world.weather.lossPercent);
        later(world, random, 30_000, () -> world.weather.lossPercent = 0);
      }),

  /** Some messages take seconds, and others overtake them. */
  SLOW(
      (world, random) -> {
        world.weather.slowPercent = random.nextInt(1, 40);
        world.trace.add("network", "delays {} in 100 messages", world.weather.slowPercent);
        later(world, random, 30_000, () -> world.weather.slowPercent = 0);
      }),

  /** Some commits wait within the server, and later ones are stored before them. */
  COMMITS_STALL(
      (world, random) -> {
        world.weather.stallPercent = random.nextInt(1, 40);
        world.trace.add("database", "stalls {} in 100 commits", world.weather.stallPercent);
        later(world, random, 30_000, () -> world.weather.stallPercent = 0);
      }),

  /**
   * The answers to some commits are lost, whether they are stored or rolled back, at once or later.
   */
  LOST_OUTCOME(
      (world, random) -> {
        world.weather.lostOutcomePercent = random.nextInt(1, 60);
        int hanging = random.nextBoolean() ? world.weather.lostOutcomePercent : 0;
        world.weather.stallPercent = Math.max(world.weather.stallPercent, hanging);
        world.trace.add(
            "database", "does not answer {} in 100 commits", world.weather.lostOutcomePercent);
        later(
            world,
            random,
            30_000,
            () -> {
              world.weather.lostOutcomePercent = 0;
              world.weather.stallPercent = 0;
            });
      }),

  /** Another session locks a cluster's row, and every write of it waits. */
  LOCKED_ROW(
      (world, random) -> {
        List<String> clusters = world.scale.clusters();
        world.weather.lockedCluster = clusters.get(random.nextInt(clusters.size()));
        world.trace.add("database", "has the row of {} locked", world.weather.lockedCluster);
        later(world, random, 20_000, () -> world.weather.lockedCluster = null);
      }),

  /** The standby becomes the primary when it has all stored data. */
  SWITCHOVER(
      (world, random) -> {
        world.trace.add("database", "is switched over");
        world.server.switchOver();
        takenOver(world, random);
      }),

  /**
   * A lagging standby is promoted: commits since its state are lost. Clients write before and
   * after, and a process may be stopped during it.
   */
  SET_BACK(
      (world, random) -> {
        DatabaseServer.Image image = world.server.image(world.scheduler.nowNanos());
        world.trace.add("standby", "stops following");
        long lagMillis = random.nextLong(100, 10_000);
        for (int i = random.nextInt(8); i > 0; i--) {
          SplittableRandom own = random.split();
          world.scheduler.afterMillis(
              random.nextLong(lagMillis + 10_000),
              () -> {
                if (!world.isHealed()) {
                  ClientOperation.DECLARE.perform(world, own);
                }
              });
        }
        if (random.nextBoolean()) {
          living(world, random)
              .ifPresent(
                  slot -> world.scheduler.afterMillis(lagMillis, () -> stop(world, slot, random)));
        }
        world.scheduler.afterMillis(
            lagMillis + 1,
            () -> {
              if (!world.isHealed() && world.setBack(image)) {
                takenOver(world, random);
              }
            });
      }),

  /** Changes are delivered twice, or only a gap is reported. */
  CONFUSED_FEED(
      (world, random) -> {
        world.weather.repeatPercent = random.nextInt(0, 60);
        world.weather.lostPlacePercent = random.nextInt(0, 60);
        world.trace.add("feed", "repeats itself and loses its place");
        later(
            world,
            random,
            60_000,
            () -> {
              world.weather.repeatPercent = 0;
              world.weather.lostPlacePercent = 0;
            });
      }),

  /**
   * A process is stopped for a while, as by a debugger or an overloaded host, and then acts late.
   */
  PAUSE((world, random) -> living(world, random).ifPresent(slot -> stop(world, slot, random))),

  /** A process dies between two instructions; another replaces it. */
  CRASH(
      (world, random) ->
          living(world, random)
              .ifPresent(
                  slot -> {
                    world.crash(slot);
                    later(world, random, 15_000, () -> world.startIfDown(slot));
                  })),

  /** The clock of a process's machine is set. */
  CLOCK_SET(
      (world, random) -> {
        World.Slot slot = anySlot(world, random);
        long off =
            switch (random.nextInt(4)) {
              case 0 -> random.nextLong(-2_000, 2_000);
              case 1 -> random.nextLong(-600_000, 600_000);
              case 2 -> random.nextLong(-3 * 86_400_000L, 3 * 86_400_000L);
              default -> 0;
            };
        slot.wall.set(off);
        world.trace.add("p" + slot.index, "has its clock set {} ms off", off);
        later(world, random, 120_000, () -> slot.wall.set(0));
      }),

  /** A process restarts while its machine's clock is far ahead or behind. */
  CLOCK_AT_RESTART(
      (world, random) ->
          living(world, random)
              .ifPresent(
                  slot -> {
                    long off = random.nextLong(3_600_000L, 40 * 86_400_000L);
                    world.crash(slot);
                    slot.wall.set(random.nextBoolean() ? off : -off);
                    world.trace.add(
                        "p" + slot.index, "has its clock {} ms off", slot.wall.offMillis());
                    later(world, random, 5_000, () -> world.startIfDown(slot));
                    later(world, random, 120_000, () -> slot.wall.set(0));
                  })),

  /** The clock of the database's machine is set, for long enough to be confirmed. */
  SERVER_CLOCK_SET(
      (world, random) -> {
        long off =
            switch (random.nextInt(4)) {
              case 0 -> random.nextLong(-1_900, 1_900);
              case 1 -> random.nextLong(-600_000, 600_000);
              case 2 -> random.nextLong(0, 3 * 3_600_000L);
              default -> random.nextLong(-3 * 86_400_000L, 3 * 86_400_000L);
            };
        world.serverClock.set(off);
        world.trace.add("database", "has its clock set {} ms off", off);
        later(world, random, 600_000, () -> world.serverClock.set(0));
      }),

  /** The clock of the database's machine runs too fast or too slow for a while. */
  SERVER_CLOCK_DRIFTS(
      (world, random) -> {
        long by = random.nextLong(-60, 60);
        world.trace.add("database", "has a clock that drifts by {} ms a second", by);
        drift(world, by, random.nextInt(10, 120));
      }),

  /** A machine cannot be reached for a while. */
  MACHINE_DEAD((world, random) -> machineIs(world, random, Machines.Health.DEAD)),

  /** A machine accepts calls and does not finish them for a while. */
  MACHINE_HANGS((world, random) -> machineIs(world, random, Machines.Health.HANGS)),

  /** A machine comes back empty, without a mark. */
  MACHINE_REBUILT(
      (world, random) -> {
        String machine = world.machines.any(random);
        if (machine != null) {
          world.machines.rebuild(machine);
        }
      }),

  /** Runs on machines break off. */
  RUNS_BREAK(
      (world, random) -> {
        world.weather.breakPercent = random.nextInt(10, 90);
        world.trace.add("machines", "break off {} in 100 runs", world.weather.breakPercent);
        later(world, random, 60_000, () -> world.weather.breakPercent = 0);
      }),

  /** Runs on machines take minutes. */
  RUNS_LAST(
      (world, random) -> {
        world.weather.longRunPercent = random.nextInt(10, 90);
        world.trace.add(
            "machines", "take minutes for {} in 100 runs", world.weather.longRunPercent);
        later(world, random, 60_000, () -> world.weather.longRunPercent = 0);
      }),

  /** Calls reach their machines late, whatever has happened to their callers. */
  CALLS_LATE(
      (world, random) -> {
        world.weather.lateCallPercent = random.nextInt(5, 60);
        world.trace.add(
            "machines", "are reached late by {} in 100 calls", world.weather.lateCallPercent);
        later(world, random, 60_000, () -> world.weather.lateCallPercent = 0);
      }),

  /** A machine that hangs answers probes as if it were well. */
  PROBE_LIES(
      (world, random) -> {
        String machine = world.machines.any(random);
        if (machine != null) {
          world.machines.state(machine).isProbeLying = true;
          machineIs(world, machine, random, Machines.Health.HANGS);
          later(world, random, 120_000, () -> world.machines.state(machine).isProbeLying = false);
        }
      }),

  /** A machine reports a mark of an unknown allocation. */
  MARK_LIES(
      (world, random) -> {
        String machine = world.machines.any(random);
        if (machine != null) {
          world.machines.state(machine).claims = "alc_unknown";
          world.trace.add(machine, "says that it is marked for alc_unknown");
          later(world, random, 60_000, () -> world.machines.state(machine).claims = null);
        }
      }),

  /** Disks fail at some calls, or are full, or are slow. */
  BAD_DISKS(
      (world, random) -> {
        Weather weather = world.weather;
        switch (random.nextInt(4)) {
          case 0 -> weather.diskFaultPercent = random.nextInt(1, 60);
          case 1 -> weather.diskFullPercent = random.nextInt(1, 100);
          case 2 -> weather.diskBusyPercent = random.nextInt(1, 60);
          default -> weather.diskSlowPercent = random.nextInt(1, 60);
        }
        world.trace.add("disks", "are bad");
        later(
            world,
            random,
            60_000,
            () -> {
              weather.diskFaultPercent = 0;
              weather.diskFullPercent = 0;
              weather.diskBusyPercent = 0;
              weather.diskSlowPercent = 0;
            });
      }),

  /** A process's machine loses power: data that was not flushed is partly lost. */
  POWER_LOSS(
      (world, random) ->
          living(world, random)
              .ifPresent(
                  slot -> {
                    world.crash(slot);
                    slot.disk.losePower(random);
                    later(world, random, 15_000, () -> world.startIfDown(slot));
                  }));

  @SuppressWarnings("ImmutableEnumChecker") // lambdas without state.
  private final BiConsumer<World, SplittableRandom> what;

  Fault(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void perform(World world, SplittableRandom random) {
    what.accept(world, random);
  }

  /** Ends a fault after a limited time. */
  private static void later(World world, SplittableRandom random, long mostMillis, Runnable end) {
    world.scheduler.afterMillis(random.nextLong(100, mostMillis), end);
  }

  private static void stop(World world, World.Slot slot, SplittableRandom random) {
    Replica replica = slot.replica;
    if (replica == null || replica.isDead() || replica.isStopped() || world.isHealed()) {
      return;
    }
    replica.trace("is stopped");
    replica.pause();
    later(
        world,
        random,
        40_000,
        () -> {
          replica.trace("goes on");
          replica.resume();
        });
  }

  /** No process reaches the new server until addresses are corrected. */
  private static void takenOver(World world, SplittableRandom random) {
    world.weather.isDatabaseAway = true;
    later(world, random, 8_000, () -> world.weather.isDatabaseAway = false);
  }

  private static void drift(World world, long byMillis, int seconds) {
    if (seconds == 0) {
      world.serverClock.set(0);
    } else if (!world.isHealed()) {
      world.serverClock.set(world.serverClock.offMillis() + byMillis);
      world.scheduler.afterMillis(1_000, () -> drift(world, byMillis, seconds - 1));
    }
  }

  private static World.Slot anySlot(World world, SplittableRandom random) {
    return world.slots().get(random.nextInt(world.slots().size()));
  }

  private static Optional<World.Slot> living(World world, SplittableRandom random) {
    List<World.Slot> living =
        world.slots().stream()
            .filter(s -> s.replica != null && !s.replica.isDead() && !s.replica.isStopped())
            .toList();
    return living.isEmpty()
        ? Optional.empty()
        : Optional.of(living.get(random.nextInt(living.size())));
  }

  private static void machineIs(World world, SplittableRandom random, Machines.Health health) {
    String machine = world.machines.any(random);
    if (machine != null) {
      machineIs(world, machine, random, health);
    }
  }

  private static void machineIs(
      World world, String machine, SplittableRandom random, Machines.Health health) {
    world.machines.setHealth(machine, health);
    later(world, random, 120_000, () -> world.machines.setHealth(machine, Machines.Health.WELL));
  }
}
