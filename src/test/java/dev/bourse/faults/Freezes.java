package dev.bourse.faults;

import dev.bourse.history.History.Window;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** SIGSTOP and SIGCONT: of the process that runs the market, with its clients at work. */
final class Freezes implements Scenario {
  private static final int FREEZES = 6;

  @Override
  public void run(Run run) throws Exception {
    int freezes = run.rounds(FREEZES);
    FaultWorld world = new FaultWorld(run, "freezes");
    String url = run.addReplicas(world);
    world.start();
    Map<String, ServiceProcess> named = named(world);
    try (Connection database = run.postgres().connect(url)) {
      for (int i = 0; i < freezes; i++) {
        String owner = freezeHolder(named, database);
        ServiceProcess holder = Objects.requireNonNull(named.get(owner));
        long from = world.recorder().now();
        FaultWorld.until(
            "the other process takes the market over", 20, () -> !owner.equals(owner(database)));
        ServiceProcess other = world.process(holder == world.process(0) ? 1 : 0);
        int written = world.recorder().writes(other.name());
        FaultWorld.until(
            "the other process takes writes",
            20,
            () -> world.recorder().writes(other.name()) > written + 20);
        holder.thaw();
        world
            .recorder()
            .add(
                new Window(
                    holder.name(), from, world.recorder().now(), TimeUnit.MINUTES.toMicros(1)));
        world.untilWritten("writes go on after the thaw", 20);
      }
      long twice = number(database, HELD_TWICE);
      if (twice != 0) {
        throw new ViolatedException(twice + " nodes were granted to two at a time");
      }
    }
    run.judge(world, "SIGSTOP of the market's process and SIGCONT, " + freezes + " times");
  }

  /** Returns each process by the name that leases have for it. */
  private static Map<String, ServiceProcess> named(FaultWorld world) {
    Map<String, ServiceProcess> named = new HashMap<>();
    for (ServiceProcess process : world.processes()) {
      String url = String.valueOf(process.baseUrl());
      named.put(
          Http.ok(url, "GET", "/api/operator/status", world.operatorToken(), null)
              .getString("process"),
          process);
    }
    return named;
  }

  /** Freezes the process that holds the market's lease, and returns its name. */
  private static String freezeHolder(Map<String, ServiceProcess> named, Connection database)
      throws IOException, InterruptedException {
    long patient = (long) (20 * FaultWorld.PATIENCE);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(patient);
    while (System.nanoTime() < deadline) {
      String owner = owner(database);
      ServiceProcess holder = Objects.requireNonNull(named.get(owner));
      holder.freeze();
      // On a busy machine a process may lose its lease at any moment, even before it has stopped.
      if (owner.equals(owner(database))) {
        return owner;
      }
      holder.thaw();
    }
    throw new ViolatedException(
        "no process keeps the market's lease until it is frozen, within " + patient + " s");
  }

  private static String owner(Connection database) {
    try (Statement statement = database.createStatement();
        ResultSet rows = statement.executeQuery("SELECT owner FROM lease")) {
      rows.next();
      return rows.getString(1);
    } catch (SQLException e) {
      throw new ViolatedException("the database does not answer", e);
    }
  }

  private static final String HELD_TWICE =
      """
      SELECT COUNT(*) FROM allocation a JOIN allocation b
      ON a.node_id = b.node_id AND a.allocation_id < b.allocation_id
      AND a.granted_at < COALESCE(b.gone_at, 1::bigint << 62)
      AND b.granted_at < COALESCE(a.gone_at, 1::bigint << 62)
      """;

  private static long number(Connection database, String sql) {
    try (Statement statement = database.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new ViolatedException("the database does not answer", e);
    }
  }
}
