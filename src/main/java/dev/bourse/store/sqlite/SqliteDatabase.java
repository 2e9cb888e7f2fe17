package dev.bourse.store.sqlite;

import dev.bourse.signals.Signals;
import dev.bourse.store.BatchedPromise;
import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.Migrations;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The embedded store: one SQLite file in write-ahead-log mode, flushed to disk at each group of
 * commits, with one writing thread and a few reading ones.
 *
 * <p>Futures of a caller without a Vert.x context complete on an event loop that the store chose
 * when it was opened. They never complete on the store's own threads, which a slow listener would
 * block.
 *
 * <p>Schemas must not declare deferred foreign keys: those fail at the end of a whole group.
 */
public final class SqliteDatabase implements Database {
  static final String NEW_TRAIL_IDS =
      """
      SELECT newest.id + 1 AS first_id, newest.id + ? AS last_id, '' AS skips FROM (SELECT MAX( \
      COALESCE((SELECT MAX(id) FROM audit), 0), \
      COALESCE((SELECT last_id FROM audit_read_segment \
      WHERE first_id = (SELECT MAX(first_id) FROM audit_read_segment)), 0)) AS id) AS newest\
      """;

  static final String CLOCK = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000)";

  private final ContextInternal home;
  private final StoreLock lock;
  private final StoreSignals counted = new StoreSignals();
  private final SqliteWriter writer;
  private final SqliteCheckpointer checkpointer;
  private final Inbox<SqliteWriter.Commit> commits;
  private final Inbox<SqliteReader.Query<?>> queries;
  private final List<Thread> readerThreads = new ArrayList<>();
  private final Thread writerThread;
  private final Thread checkpointerThread;
  private @Nullable Future<Void> closed;

  private SqliteDatabase(
      ContextInternal home,
      Path file,
      SqliteConfig config,
      StoreLock lock,
      Migrations schema,
      Clock clock)
      throws Exception {
    this.home = home;
    this.lock = lock;
    commits = new Inbox<>("statements", config.queuedStatements(), SqliteWriter.Commit::weight);
    queries = new Inbox<>("queries", config.queuedReads(), query -> 1);
    checkpointer = new SqliteCheckpointer(file);
    writer = new SqliteWriter(file, config, commits, checkpointer, counted);
    writer.migrate(schema, clock);
    writerThread = start("store-writer", writer);
    checkpointerThread = start("store-checkpointer", checkpointer);
    for (int i = 0; i < config.readers(); i++) {
      readerThreads.add(start("store-reader-" + i, new SqliteReader(file, queries, counted)));
    }
  }

  /**
   * Opens the store, creates a missing file, and brings its schema up to date.
   *
   * <p>Fails with {@link StoreRefusedException} if another process has it open, its schema is
   * unknown, its log is damaged, or the file is not usable.
   *
   * @param migrations the class-path folder of the schema, see {@link Migrations#load}
   */
  public static Future<SqliteDatabase> open(
      Vertx vertx, Path file, SqliteConfig config, String migrations, Clock clock) {
    ContextInternal home = (ContextInternal) vertx.getOrCreateContext();
    return vertx.executeBlocking(
        () -> {
          Migrations schema = Migrations.load(migrations);
          StoreLock lock = StoreLock.take(file);
          try {
            new WalGuard(file).check(config.acceptedDamage());
            return new SqliteDatabase(home, file, config, lock, schema, clock);
          } catch (SQLException e) {
            lock.close();
            throw new StoreRefusedException(
                "cannot open the store " + file + ": " + e.getMessage(), e);
          } catch (Exception e) {
            lock.close();
            throw e;
          }
        },
        false);
  }

  /**
   * Starts to read the schema and to load the engine's library before a store is opened. {@link
   * #open} repeats and reports a failure.
   */
  public static void prepare(Vertx vertx, String migrations) {
    vertx.executeBlocking(() -> Migrations.load(migrations), false);
    vertx.executeBlocking(
        () -> {
          SqliteDriver.load(null);
          return null;
        },
        false);
  }

  private static Thread start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    // Acknowledged data is on disk, so a process may end without stopping these threads.
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  @Override
  public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    BatchedPromise<List<T>> reply = new BatchedPromise<>(home);
    StoreUnavailableException refusal =
        queries.offer(new SqliteReader.Query<>(sql, parameters, mapper, reply, System.nanoTime()));
    return refusal == null ? reply.future() : Future.failedFuture(refusal);
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    BatchedPromise<Void> reply = new BatchedPromise<>(home);
    StoreUnavailableException refusal =
        commits.offer(new SqliteWriter.Commit(List.copyOf(statements), reply));
    return refusal == null ? reply.future() : Future.failedFuture(refusal);
  }

  /** Does nothing, because no other process can have the store open. */
  @Override
  public void listen(ChangeListener listener) {}

  /**
   * Returns the newest id, see {@link #newTrailIdsSql}: the one writer commits in the order of the
   * ids. Later ids are not settled, because otherwise the second query of a page could miss commits
   * from before it.
   */
  @Override
  public Future<Long> settledTrail(long enough) {
    return read(
            "SELECT COALESCE(MAX(id), 0) AS newest FROM audit",
            List.of(),
            row -> row.integer("newest"))
        .map(rows -> rows.get(0));
  }

  @Override
  public boolean isShared() {
    return false;
  }

  /**
   * The largest id belongs to a row, but within a commit the last inserted id is in the segments.
   */
  @Override
  public String newTrailIdsSql() {
    return NEW_TRAIL_IDS;
  }

  @Override
  public void registerMetrics(Signals signals) {
    counted.registerMetrics(signals);
    signals.gauge(
        "bourse_store_statements_waiting", "Statements that wait to be stored.", commits::waiting);
    signals.gauge(
        "bourse_store_reads_waiting", "Queries that wait for a reader.", queries::waiting);
    signals.gauge(
        "bourse_store_log_bytes",
        "Length of the embedded store's write-ahead log.",
        checkpointer::logBytes);
  }

  /** Returns the process's own clock, because no other process shares the rows. */
  @Override
  public String clockSql() {
    return CLOCK;
  }

  @Override
  public synchronized Future<Void> close() {
    if (closed == null) {
      commits.close();
      queries.close();
      BatchedPromise<Void> reply = new BatchedPromise<>(home);
      closed = reply.future();
      start("store-close", () -> finish(reply));
    }
    return closed;
  }

  private void finish(BatchedPromise<Void> reply) {
    try {
      for (Thread reader : readerThreads) {
        reader.join();
      }
      writerThread.join();
      checkpointer.end();
      checkpointerThread.join();
      try (lock) {
        writer.close();
      }
      reply.succeed(null);
    } catch (Exception e) {
      reply.fail(e);
    }
    BatchedPromise.deliver(List.of(reply));
  }
}
