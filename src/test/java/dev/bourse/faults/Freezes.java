package dev.bourse.faults;

import dev.bourse.history.History.Window;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;

/** SIGSTOP and SIGCONT: of the process that runs the market, with its clients at work. */
final class Freezes implements Scenario {
  private static final int FREEZES = 6;

  @Override
  public void run(Run run) throws Exception {
    FaultWorld world = new FaultWorld(run, "freezes");
    String url = run.addReplicas(world);
    world.start();
    try (Connection database = run.postgres().connect(url)) {
      for (int i = 0; i < FREEZES; i++) {
        // Whoever takes over keeps the market: each is the holder in its turn.
        ServiceProcess holder = world.process(i % 2);
        long epoch = number(database, "SELECT epoch FROM lease");
        holder.freeze();
        long from = world.recorder().now();
        FaultWorld.until(
            "the other process takes the market over",
            20,
            () -> number(database, "SELECT epoch FROM lease") == epoch + 1);
        ServiceProcess other = world.process(1 - i % 2);
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
        throw new Violated(twice + " nodes were granted to two at a time");
      }
    }
    run.judge(world, "SIGSTOP of the market's process and SIGCONT, " + FREEZES + " times");
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
      throw new Violated("the database does not answer", e);
    }
  }
}
