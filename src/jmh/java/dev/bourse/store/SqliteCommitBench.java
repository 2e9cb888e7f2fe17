package dev.bourse.store;

import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Durable commits a second of the embedded store under 64 concurrent committers, beside a bare JDBC
 * loop that stores the same three statements in transactions of 64.
 *
 * <p>Run: {@code mvn -Pbench test-compile dependency:build-classpath -Dmdep.outputFile=target/cp},
 * then {@code java -cp target/test-classes:target/classes:$(cat target/cp) org.openjdk.jmh.Main
 * SqliteCommitBench}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 3)
@Measurement(iterations = 5, time = 3)
public class SqliteCommitBench {
  private static final int COMMITTERS = 64;
  private static final int ROUNDS = 100;
  private static final int CLUSTERS = 1_000;

  private static final String SET =
      "UPDATE cluster SET revision = ?, max_gpus = ?, price_cents = ? WHERE name = ? AND revision ="
          + " ?";
  private static final String ACTIVITY =
      "INSERT INTO activity (ts, cluster, kind, actor, note) VALUES (?, ?, ?, ?, ?)";
  private static final String AUDIT =
      "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
          + " VALUES (?, ?, ?, ?, ?, ?, ?)";

  private final long[] revisions = new long[CLUSTERS];
  private Path folder;
  private Path file;

  @Setup(Level.Trial)
  public void createFolder() throws Exception {
    folder = Files.createTempDirectory("bourse-bench");
    file = folder.resolve("bench.db");
  }

  @TearDown(Level.Trial)
  public void deleteFolder() throws Exception {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private static String cluster(int index) {
    return "org-acme/cluster-" + index;
  }

  /** The bare loop: one connection, prepared statements, the pragmas of the engine. */
  @State(Scope.Benchmark)
  public static class Bare {
    Connection connection;
    PreparedStatement set;
    PreparedStatement activity;
    PreparedStatement audit;
    int next;

    @Setup(Level.Trial)
    public void open(SqliteCommitBench bench) throws Exception {
      connection =
          DriverManager.getConnection(
              "jdbc:sqlite:" + bench.file + "?jdbc.get_generated_keys=false");
      try (java.sql.Statement statement = connection.createStatement()) {
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("PRAGMA synchronous = FULL");
        statement.execute("PRAGMA cache_size = -8192");
        statement.execute("PRAGMA wal_autocheckpoint = 8192");
        for (Statement create : BenchSchema.create()) {
          statement.execute(create.sql());
        }
      }
      connection.setAutoCommit(false);
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO cluster VALUES (?, 0, 0, 0)")) {
        for (int i = 0; i < CLUSTERS; i++) {
          insert.setString(1, cluster(i));
          insert.executeUpdate();
        }
      }
      connection.commit();
      set = connection.prepareStatement(SET);
      activity = connection.prepareStatement(ACTIVITY);
      audit = connection.prepareStatement(AUDIT);
    }

    @TearDown(Level.Trial)
    public void close() throws Exception {
      connection.close();
    }
  }

  /** The engine, and the contexts of the event loops its committers run on. */
  @State(Scope.Benchmark)
  public static class Engine {
    Vertx vertx;
    SqliteDatabase database;
    Context[] contexts;

    @Setup(Level.Trial)
    public void open(SqliteCommitBench bench) throws Exception {
      vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(2));
      database =
          BenchSchema.await(
              SqliteDatabase.open(
                  vertx,
                  bench.file,
                  SqliteConfig.defaults(),
                  BenchSchema.NO_MIGRATIONS,
                  Clock.systemUTC()));
      BenchSchema.await(database.commit(BenchSchema.create()));
      for (int i = 0; i < CLUSTERS; i++) {
        BenchSchema.await(
            database.commit(
                List.of(Statement.of("INSERT INTO cluster VALUES (?, 0, 0, 0)", cluster(i)))));
      }
      contexts = BenchSchema.contexts(vertx, 2);
    }

    @TearDown(Level.Trial)
    public void close() throws Exception {
      BenchSchema.await(database.close());
      BenchSchema.await(vertx.close());
    }
  }

  @Benchmark
  @OperationsPerInvocation(COMMITTERS)
  public void bareJdbcLoop(Bare bare) throws Exception {
    for (int i = 0; i < COMMITTERS; i++) {
      int index = bare.next++ % CLUSTERS;
      String cluster = cluster(index);
      long revision = revisions[index]++;
      long now = System.currentTimeMillis();
      bare.set.setLong(1, revision + 1);
      bare.set.setLong(2, 8 * (revision % 16));
      bare.set.setLong(3, 250);
      bare.set.setString(4, cluster);
      bare.set.setLong(5, revision);
      if (bare.set.executeUpdate() != 1) {
        throw new IllegalStateException("lost update");
      }
      bare.activity.setLong(1, now);
      bare.activity.setString(2, cluster);
      bare.activity.setString(3, "declared");
      bare.activity.setString(4, "token:4fQz81LmPw0a");
      bare.activity.setString(5, "");
      bare.activity.executeUpdate();
      bare.audit.setLong(1, now);
      bare.audit.setString(2, "org-acme");
      bare.audit.setString(3, "token:4fQz81LmPw0a");
      bare.audit.setString(4, "vm_capacity_put");
      bare.audit.setString(5, cluster);
      bare.audit.setString(6, "max_gpus=64 price=2.50 version=17");
      bare.audit.setInt(7, 0);
      bare.audit.executeUpdate();
    }
    bare.connection.commit();
  }

  @Benchmark
  @OperationsPerInvocation(COMMITTERS * ROUNDS)
  public void engineWith64Committers(Engine engine) throws Exception {
    CountDownLatch done = new CountDownLatch(COMMITTERS);
    for (int i = 0; i < COMMITTERS; i++) {
      int index = i;
      engine.contexts[i % engine.contexts.length].runOnContext(
          v -> commit(engine.database, index, ROUNDS, done));
    }
    done.await();
  }

  private void commit(SqliteDatabase database, int index, int rounds, CountDownLatch done) {
    if (rounds == 0) {
      done.countDown();
      return;
    }
    // Each committer goes round clusters of its own, so that none races another for a revision.
    int mine = index + COMMITTERS * (rounds % (CLUSTERS / COMMITTERS));
    String cluster = cluster(mine);
    long revision = revisions[mine]++;
    long now = System.currentTimeMillis();
    database
        .commit(
            List.of(
                Statement.guarded(
                    IllegalStateException::new,
                    SET,
                    revision + 1,
                    8 * (revision % 16),
                    250,
                    cluster,
                    revision),
                Statement.of(ACTIVITY, now, cluster, "declared", "token:4fQz81LmPw0a", ""),
                Statement.of(
                    AUDIT,
                    now,
                    "org-acme",
                    "token:4fQz81LmPw0a",
                    "vm_capacity_put",
                    cluster,
                    "max_gpus=64 price=2.50 version=17",
                    0)))
        .onComplete(
            v -> commit(database, index, rounds - 1, done),
            failure -> {
              throw new IllegalStateException(failure);
            });
  }
}
