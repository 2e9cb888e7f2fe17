package dev.bourse.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** {@code kill -9} at any moment, over and over: under writes, and while a process starts. */
final class Kills {
  /** The longest a process serves before it dies, and one start in five ends before it is over. */
  private static final int SERVE_MILLIS = 400;

  private static final int START_MILLIS = 1_200;
  private static final int IN_START_ONE_IN = 5;

  private Kills() {}

  static void ofOneProcess(Run run) throws Exception {
    FaultWorld world = new FaultWorld(run, "kills-sqlite");
    ServiceProcess only = world.add("only", List.of("store.url=sqlite"));
    world.start();
    Random random = new Random(run.seed());
    for (int i = 0; i < run.kills(); i++) {
      boolean forgets = run.plant() == Plant.LOST_FLUSHES && !only.isAlive();
      Path log = only.data().resolve("bourse.db-wal");
      byte[] before = forgets ? Files.readAllBytes(log) : new byte[0];
      kill(only, random);
      if (forgets) {
        Files.write(log, before);
      }
    }
    only.start();
    run.judge(world, "kill -9 of the one process, embedded store, " + run.kills() + " times");
  }

  /** One of the two is always there, but for a moment. */
  static void ofReplicas(Run run) throws Exception {
    FaultWorld world = new FaultWorld(run, "kills-postgres");
    run.addReplicas(world);
    world.start();
    Random random = new Random(run.seed());
    for (int i = 0; i < run.kills(); i++) {
      kill(world.process(i % 2), random);
    }
    for (ServiceProcess process : world.processes()) {
      process.start();
    }
    run.judge(world, "kill -9 of one of two replicas in turn, " + run.kills() + " times");
  }

  /** Starts it when it is not there, and kills it at a moment of chance. */
  private static void kill(ServiceProcess process, Random random) throws Exception {
    if (!process.isAlive()) {
      process.spawn();
      if (random.nextInt(IN_START_ONE_IN) == 0) {
        pause(random.nextInt(START_MILLIS));
        process.kill();
        return;
      }
      process.awaitReady();
    }
    pause(random.nextInt(SERVE_MILLIS));
    process.kill();
  }

  private static void pause(int millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
