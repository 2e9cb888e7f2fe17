package dev.bourse.bench;

import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The least a durable declaration can cost: one JDBC connection that runs the statements of a
 * declaration in a loop, in transactions of a given number of declarations, with the pragmas of the
 * service's engine. Prints declarations a second and the CPU each took.
 *
 * <p>Arguments: a database of the service that nobody has open (it is changed), seconds to run, and
 * declarations in a transaction.
 */
public final class BareCommits {
  private static final String DECLARE =
      "UPDATE cluster SET posture = ?, writes_armed = ?, maintenance = ?, version = ?,"
          + " max_gpus = ?, ceiling_cents = ?, priced_at = ?, declared_at = ?, declared_by = ?,"
          + " bid_too_low = ?, capacity_unavailable = ?, last_write_at = ?,"
          + " provision_failures = ?, hold_stage = ?, hold_reason = ?, hold_enforce_after = ?,"
          + " revision = ? WHERE name = ? AND revision = ?";
  private static final String ACTIVITY =
      "INSERT INTO activity (ts, cluster, kind, actor, who, max_gpus, ceiling_cents, note,"
          + " reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String AUDIT =
      "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
          + " VALUES (?, ?, ?, ?, ?, ?, ?)";
  private static final String ACTOR = "token:4fQz81LmPw0a";

  private final Connection connection;
  private final PreparedStatement declare;
  private final PreparedStatement activity;
  private final PreparedStatement audit;
  private final List<String> names = new ArrayList<>();
  private final List<Long> revisions = new ArrayList<>();
  private int next;

  private BareCommits(Connection connection) throws SQLException {
    this.connection = connection;
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = FULL");
      statement.execute("PRAGMA foreign_keys = ON");
      statement.execute("PRAGMA cache_size = -8192");
      statement.execute("PRAGMA wal_autocheckpoint = 8192");
      try (ResultSet rows = statement.executeQuery("SELECT name, revision FROM cluster")) {
        while (rows.next()) {
          names.add(rows.getString(1));
          revisions.add(rows.getLong(2));
        }
      }
    }
    connection.setAutoCommit(false);
    declare = connection.prepareStatement(DECLARE);
    activity = connection.prepareStatement(ACTIVITY);
    audit = connection.prepareStatement(AUDIT);
  }

  public static void main(String[] args) throws Exception {
    long nanos = TimeUnit.SECONDS.toNanos(Long.parseLong(args[1]));
    int batch = Integer.parseInt(args[2]);
    String url = "jdbc:sqlite:" + args[0] + "?jdbc.get_generated_keys=false";
    try (Connection connection = DriverManager.getConnection(url)) {
      BareCommits bare = new BareCommits(connection);
      // Half the time again to warm up: the loop is compiled by then.
      bare.run(nanos / 2, batch);
      long cpu = cpuNanos();
      long start = System.nanoTime();
      long declarations = bare.run(nanos, batch);
      double seconds = (System.nanoTime() - start) / 1e9;
      System.out.printf(
          "%.0f declarations/s, %.1f us CPU each%n",
          declarations / seconds, (cpuNanos() - cpu) / 1e3 / declarations);
    }
  }

  private static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
        .getProcessCpuTime();
  }

  private long run(long nanos, int batch) throws SQLException {
    long end = System.nanoTime() + nanos;
    long declarations = 0;
    while (System.nanoTime() < end) {
      for (int i = 0; i < batch; i++) {
        declare(next++ % names.size());
      }
      connection.commit();
      declarations += batch;
    }
    return declarations;
  }

  private void declare(int index) throws SQLException {
    String cluster = names.get(index);
    long revision = revisions.get(index);
    revisions.set(index, revision + 1);
    long now = System.currentTimeMillis();
    long ceiling = 200 + revision % 300;
    bind(
        declare,
        "MARKET",
        1,
        0,
        revision + 1,
        8,
        ceiling,
        now,
        now,
        ACTOR,
        0,
        0,
        now,
        0,
        null,
        null,
        null,
        revision + 1,
        cluster,
        revision);
    if (declare.executeUpdate() != 1) {
      throw new IllegalStateException("lost update of " + cluster);
    }
    bind(activity, now, cluster, "request", ACTOR, "user", 8, ceiling, null, null);
    activity.executeUpdate();
    bind(
        audit,
        now,
        "bench",
        ACTOR,
        "vm_capacity_put",
        cluster,
        "max_gpus=8 max_price_per_gpu_hour=2.50 version=17",
        0);
    audit.executeUpdate();
  }

  private static void bind(PreparedStatement statement, Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
  }
}
