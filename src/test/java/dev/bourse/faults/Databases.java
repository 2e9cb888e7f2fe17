package dev.bourse.faults;

import dev.bourse.history.History.Window;
import dev.bourse.history.RecordedOperation;
import dev.bourse.history.RecordedOperation.Outcome;
import dev.bourse.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A database server that restarts, ends its sessions, and whose tables are locked. */
final class Databases implements Scenario {
  private static final int ROUNDS = 3;

  /** The store's three time-outs of two seconds one after the other, and a busy machine. */
  private static final long ANSWER_MICROS = (long) (9_000_000 * FaultWorld.PATIENCE);

  @Override
  public void run(Run run) throws Exception {
    FaultWorld world = new FaultWorld(run, "database");
    String url = run.addReplicas(world);
    PostgresServer server = run.postgres();
    world.calm();
    world.start();
    long began = world.recorder().now();
    for (int i = 0; i < ROUNDS; i++) {
      for (int j = 0; j < 5; j++) {
        server.terminateSessions();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
      }
      world.untilWritten("writes go on after all sessions were ended", 20);
      long from = world.recorder().now();
      lock(world, server, url, List.of("cluster", "audit", "token").get(i));
      world.untilWritten("writes go on after the lock", 20);
      server.stop();
      untilRefused(world, "writes are refused while the database is away");
      server.startAgain();
      // What the other process wrote just before can only be read now.
      for (ServiceProcess process : world.processes()) {
        world
            .recorder()
            .add(
                new Window(
                    process.name(), from, world.recorder().now(), TimeUnit.MINUTES.toMicros(1)));
      }
      world.untilWritten("writes go on after the database's restart", 20);
    }
    requireAnswers(world, began, ANSWER_MICROS);
    run.judge(
        world,
        "PostgreSQL's sessions ended "
            + 5 * ROUNDS
            + " times, tables locked for "
            + LOCK_SECONDS
            + " s and server restarted "
            + ROUNDS
            + " times");
  }

  private static final int LOCK_SECONDS = 4;

  private static void lock(FaultWorld world, PostgresServer server, String url, String table)
      throws SQLException {
    try (Connection other = server.connect(url);
        Statement taking = other.createStatement()) {
      other.setAutoCommit(false);
      taking.execute("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE");
      long began = world.recorder().now();
      untilRefused(world, "some are refused while " + table + " is locked");
      long left = LOCK_SECONDS * 1_000_000L - (world.recorder().now() - began);
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(left));
      other.rollback();
    }
  }

  /** Waits for a refusal that says to come back later. */
  static void untilRefused(FaultWorld world, String what) {
    long began = world.recorder().now();
    FaultWorld.until(
        what,
        20,
        () ->
            world.recorder().since(began).stream()
                .anyMatch(o -> o.shown().equals("overloaded") && o.invokedMicros() >= began));
  }

  /** Every request was answered, and in time. */
  static void requireAnswers(FaultWorld world, long since, long micros) {
    for (RecordedOperation operation : world.recorder().since(since)) {
      if (operation.completedMicros() - operation.invokedMicros() > micros) {
        throw new ViolatedException(
            "answered after more than " + micros / 1_000_000 + " s: " + operation);
      }
      if (operation.outcome() == Outcome.UNKNOWN && operation.shown().isEmpty()) {
        throw new ViolatedException("not answered: " + operation);
      }
    }
  }
}
