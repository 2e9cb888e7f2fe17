package dev.bourse.faults;

import dev.bourse.faults.FaultyProxy.Fault;
import dev.bourse.history.History.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A network between the processes and PostgreSQL that delays, cuts, and swallows. */
final class Networks implements Scenario {
  private static final int ROUNDS = 1;
  private static final int FAULT_SECONDS = 4;

  /** The store's time-outs one after the other: a silent network shows by them alone. */
  private static final long ANSWER_MICROS = (long) (12_000_000 * FaultWorld.PATIENCE);

  @Override
  public void run(Run run) throws Exception {
    FaultWorld world = new FaultWorld(run, "network");
    String url = run.postgres().newDatabase();
    List<FaultyProxy> networks = new ArrayList<>();
    for (String name : List.of("first", "second")) {
      FaultyProxy network = new FaultyProxy(run.postgres().port(), run.seed() + networks.size());
      networks.add(network);
      String through = url.replace(":" + run.postgres().port(), ":" + network.port());
      world.add(name, List.of("store.url=" + through));
    }
    world.calm();
    world.start();
    long began = world.recorder().now();
    for (int i = 0; i < ROUNDS * 2; i++) {
      for (Fault fault :
          List.of(Fault.DELAY, Fault.FLAKY, Fault.BLACK_HOLE, Fault.HALF_OPEN, Fault.RESET)) {
        ServiceProcess victim = world.process(i % 2);
        long from = world.recorder().now();
        networks.get(i % 2).set(fault);
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(FAULT_SECONDS));
        networks.get(i % 2).set(Fault.NONE);
        if (fault != Fault.DELAY) {
          // Cut off, a process shows what it knew, until that is too old to be shown.
          world
              .recorder()
              .add(
                  new Window(
                      victim.name(), from, world.recorder().now(), TimeUnit.MINUTES.toMicros(1)));
        }
        world.untilWritten("writes go on after the network's " + fault, 20);
      }
    }
    Databases.requireAnswers(world, began, ANSWER_MICROS);
    run.judge(
        world,
        "a network to PostgreSQL that delays, breaks, swallows, answers nothing and resets, "
            + ROUNDS
            + " time at each process");
    for (FaultyProxy network : networks) {
      network.close();
    }
  }
}
