package dev.bourse.store;

import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Audit rows a second the store takes by the number of rows in a statement and in a commit and by
 * the number of indexes. Two commits are kept under way, as a flusher with the next batch ready
 * would. Prints the writer thread's processor time per row.
 *
 * <p>Run as {@link SqliteCommitBench} is.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 3)
@Measurement(iterations = 3, time = 3)
public class AuditAppendBench {
  /** Rows of one invocation, whatever the commits they come in. */
  private static final int ROWS = 65_536;

  private static final String HEAD =
      "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read) VALUES ";

  @Param({"1", "8", "64"})
  public int rowsPerStatement;

  @Param({"1024", "8192"})
  public int rowsPerCommit;

  @Param({"0", "1", "2"})
  public int indexes;

  private Path folder;
  private Vertx vertx;
  private SqliteDatabase database;
  private String sql;
  private long rows;
  private long cpuAtStart;

  @Setup(Level.Trial)
  public void open() throws Exception {
    folder = Files.createTempDirectory("bourse-bench");
    vertx = Vertx.vertx();
    database =
        BenchSchema.await(
            SqliteDatabase.open(
                vertx,
                folder.resolve("bench.db"),
                SqliteConfig.defaults(),
                BenchSchema.NO_MIGRATIONS,
                Clock.systemUTC()));
    BenchSchema.await(database.commit(BenchSchema.create()));
    List<Statement> create =
        List.of(
            Statement.of("CREATE INDEX audit_org ON audit (org_id, is_read, id)"),
            Statement.of("CREATE INDEX audit_actor ON audit (actor, is_read, id)"));
    BenchSchema.await(database.commit(create.subList(0, indexes)));
    sql = HEAD + String.join(",", Collections.nCopies(rowsPerStatement, "(?,?,?,?,?,?,?)"));
  }

  /** Starts the count after warm-up too: the last setting before the measured iterations holds. */
  @Setup(Level.Iteration)
  public void startCounting() {
    rows = 0;
    cpuAtStart = writerNanos();
  }

  @TearDown(Level.Iteration)
  public void printWriterTime() {
    System.out.printf("writer %d ns/row; ", (writerNanos() - cpuAtStart) / Math.max(1, rows));
  }

  @TearDown(Level.Trial)
  public void close() throws Exception {
    BenchSchema.await(database.close());
    BenchSchema.await(vertx.close());
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private static long writerNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long nanos = 0;
    for (long id : threads.getAllThreadIds()) {
      if (threads.getThreadInfo(id).getThreadName().equals("store-writer")) {
        nanos += threads.getThreadCpuTime(id);
      }
    }
    return nanos;
  }

  @Benchmark
  @OperationsPerInvocation(ROWS)
  public void append() throws Exception {
    Future<?> before = Future.succeededFuture();
    for (int i = 0; i < ROWS / rowsPerCommit; i++) {
      Future<?> next = database.commit(statements());
      BenchSchema.await(before);
      before = next;
    }
    BenchSchema.await(before);
  }

  private List<Statement> statements() {
    List<Statement> statements = new ArrayList<>(rowsPerCommit / rowsPerStatement);
    for (int i = 0; i < rowsPerCommit; i += rowsPerStatement) {
      List<@Nullable Object> values = new ArrayList<>(rowsPerStatement * 7);
      for (int j = 0; j < rowsPerStatement; j++) {
        long id = rows++;
        values.add(System.currentTimeMillis());
        values.add("org-" + id % 500);
        values.add("token:4fQz81Lm" + id % 5_000);
        values.add("vm_capacity_get");
        values.add("org-" + id % 500 + "/cluster-training-main-" + id % 7);
        values.add("request 0b7c1f9e5d2a48c3 read by a client");
        values.add(1);
      }
      statements.add(new Statement(sql, values, null, 0));
    }
    return statements;
  }
}
