package dev.bourse.simulation;

import dev.bourse.store.Statement;
import java.math.BigDecimal;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Runs a plan and checks all invariants. */
final class Simulation {
  /** The longest first start. */
  private static final long START_MILLIS = 5_000;

  /**
   * Time in which every retry, lease, back-off and time-out ends once all faults have ended; the
   * longest is a machine's third back-off, of four minutes.
   */
  private static final long REST_MILLIS = 300_000;

  /**
   * The same with a lease that a server granted while its clock was ahead, which is waited for as
   * long as the longest lease.
   */
  private static final long REST_AFTER_LEASE_MILLIS = REST_MILLIS + 600_000;

  /** Time after which work that began before the end of the faults has failed for the last time. */
  private static final long RETRY_MILLIS = 120_000;

  /** Time in which every machine is released. */
  private static final long RELEASE_MILLIS = 120_000;

  /** Some hundred are usual in a small world. */
  private static final int MOST_STEPS_A_SECOND = 200_000;

  static final String KEY =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGzS76FGWDk2LWIsC07vR5a2E0nAgt8dm5xXc7xJiOWX"
          + " ada@example.com";

  /**
   * The outcome of a simulation.
   *
   * @param violation the violated invariant; null if all hold
   * @param digest distinguishes two runs
   * @param trace the kept part of the trace
   * @param simulatedMillis its length in the world's time
   */
  record Outcome(
      Plan plan,
      @Nullable ViolationException violation,
      long digest,
      String trace,
      long simulatedMillis,
      int acknowledged) {}

  private final Plan plan;
  private final World world;
  private List<Invariant> invariants;

  private Simulation(Plan plan, World world, List<Invariant> invariants) {
    this.plan = plan;
    this.world = world;
    this.invariants = invariants;
  }

  /**
   * Runs a plan to its end or to the first violation.
   *
   * @param traceLines lines of the trace to keep
   * @param bug the planted bug; {@link Bug#NONE} for none
   */
  static Outcome run(Plan plan, Bug bug, int traceLines) {
    try (World world = new World(plan.scale(), plan.seed(), traceLines, bug)) {
      TracedLog.into(world.trace);
      Simulation simulation = new Simulation(plan, world, Invariants.all());
      ViolationException violation = null;
      try {
        simulation.run();
      } catch (ViolationException e) {
        violation = e;
        world.trace.add("VIOLATION", "{}", e.getMessage());
      }
      return new Outcome(
          plan,
          violation,
          world.trace.digest(),
          world.trace.text(),
          world.scheduler.nowMillis(),
          world.clients.acknowledged().size());
    } catch (Exception e) {
      throw new IllegalStateException("seed " + plan.seed(), e);
    } finally {
      TracedLog.into(null);
    }
  }

  private void run() {
    world.seed();
    world.server.watch(this::afterCommit);
    world.onSetBack(this::afterSetBack);
    world.slots().forEach(world::start);
    passMillis(START_MILLIS);
    for (String organization : world.scale.organizationIds()) {
      world.clients.addKey(world.ready().get(0), organization, KEY);
    }
    passMillis(1_000);
    long begin = world.scheduler.nowMillis();
    for (Plan.Step step : plan.steps()) {
      passUntil(begin + step.atMillis());
      step.deed().perform(world, new SplittableRandom(step.seed()));
    }
    passUntil(begin + plan.lengthMillis());
    heal();
    boolean wasLeaseLong = world.serverClock.mostAheadMillis() > 1_000;
    passMillis(wasLeaseLong ? REST_AFTER_LEASE_MILLIS : REST_MILLIS);
    invariants.forEach(invariant -> invariant.atRest(world));
    release();
    invariants.forEach(invariant -> invariant.whenReleased(world));
  }

  private void afterCommit(String process, List<Statement> statements) {
    for (Invariant invariant : invariants) {
      invariant.afterCommit(world, process, statements);
    }
  }

  private void afterSetBack() {
    invariants = invariants.stream().filter(invariant -> invariant.outlivesSetBack(world)).toList();
  }

  private void passMillis(long millis) {
    passUntil(world.scheduler.nowMillis() + millis);
  }

  private void passUntil(long millis) {
    while (world.scheduler.nowMillis() < millis) {
      long second = Math.min(millis, world.scheduler.nowMillis() / 1_000 * 1_000 + 1_000);
      int steps = 0;
      while (world.step(second * 1_000_000)) {
        world.failIfViolated();
        if (++steps > MOST_STEPS_A_SECOND) {
          throw new ViolationException(
              "NobodySpins", "more than " + MOST_STEPS_A_SECOND + " steps in a second");
        }
      }
      if (second % 1_000 == 0) {
        invariants.forEach(invariant -> invariant.everySecond(world));
      }
    }
  }

  /** Ends every fault. */
  private void heal() {
    world.trace.add("world", "all faults end");
    world.healed();
    world.weather.clear();
    world.serverClock.set(0);
    world.machines.all().keySet().forEach(id -> world.machines.setHealth(id, Machines.Health.WELL));
    for (World.Slot slot : world.slots()) {
      slot.wall.set(0);
      if (slot.replica != null && slot.replica.isStopped()) {
        slot.replica.resume();
      }
      world.startIfDown(slot);
    }
    world.scheduler.afterMillis(RETRY_MILLIS, () -> OperatorOperation.retryQuarantined(world));
  }

  /** Has every cluster release all its nodes. */
  private void release() {
    long deadline = world.scheduler.nowMillis() + RELEASE_MILLIS;
    for (String cluster : world.scale.clusters()) {
      world.clients.declare(world.ready().get(0), cluster, 0, BigDecimal.ONE);
    }
    passUntil(deadline);
  }
}
