package dev.bourse.store.sqlite;

import dev.bourse.store.BatchedPromise;
import dev.bourse.store.Migrations;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailableException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteException;

/**
 * The one thread that writes. It takes waiting commits, stores them in one transaction with one
 * flush to disk, and then answers them.
 *
 * <p>A failed commit rolls back only itself. Savepoints would do that at a cost for every commit,
 * so the batch first runs without them: if the first statement of a commit fails, it has changed
 * nothing; a lost compare-and-set fails like this. Only if a later statement fails is the batch
 * rolled back and run again with a savepoint per commit.
 */
final class SqliteWriter implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(SqliteWriter.class);

  /** Beyond this number, sharing the flush gains nothing and the first commits wait longer. */
  private static final int BATCH_COMMITS = 256;

  /** A smaller batch makes poor use of a flush. */
  private static final int FULL_BATCH = 32;

  /** Limits the transaction, and the wait of its commits, to some tens of milliseconds. */
  private static final int BATCH_STATEMENTS = 4_096;

  record Commit(List<Statement> statements, BatchedPromise<@Nullable Void> reply) {
    /** Returns its weight in the queue, at least one because an empty commit takes a slot too. */
    int weight() {
      return Math.max(1, statements.size());
    }
  }

  private final Path file;
  private final long maxFileBytes;
  private final Inbox<Commit> inbox;
  private final SqliteCheckpointer checkpointer;
  private final StoreSignals counted;
  private @Nullable SqliteConnection connection;
  private boolean failing;

  /** True while a transaction's end is written and flushed. */
  private boolean committing;

  SqliteWriter(
      Path file,
      SqliteConfig config,
      Inbox<Commit> inbox,
      SqliteCheckpointer checkpointer,
      StoreSignals counted)
      throws SQLException {
    this.file = file;
    this.maxFileBytes = config.maxFileBytes();
    this.inbox = inbox;
    this.checkpointer = checkpointer;
    this.counted = counted;
    this.connection = SqliteConnection.forWriting(file, maxFileBytes);
  }

  /** Brings the schema up to date. Call it before {@link #run}; a failure closes the connection. */
  void migrate(Migrations schema, Clock clock) throws Exception {
    SqliteConnection open = Objects.requireNonNull(connection, "opened by the constructor");
    try {
      // The migrations are flushed with the first acknowledged commit. A power failure before that
      // rolls back the last of them, each as a whole, and the next start applies them again.
      open.execute("PRAGMA synchronous = NORMAL");
      SqliteSchemaSession.settled(schema.applyOrServe(new SqliteSchemaSession(open), clock));
      open.execute("PRAGMA synchronous = FULL");
    } catch (Exception e) {
      open.close();
      throw e;
    }
  }

  @Override
  public void run() {
    List<Commit> batch = new ArrayList<>(BATCH_COMMITS);
    List<BatchedPromise<?>> replies = new ArrayList<>(BATCH_COMMITS);
    while (inbox.take(batch, SqliteWriter::batchOf, BATCH_STATEMENTS)) {
      batch.forEach(commit -> commit.reply.recordStart());
      try {
        store(batch);
      } catch (Throwable t) {
        // An Error, for example out of memory, must not end the only writer either.
        batchFailed(batch, t);
      }
      batch.forEach(commit -> replies.add(commit.reply));
      BatchedPromise.deliver(replies);
      keepLogShort(batch);
      batch.clear();
      replies.clear();
    }
  }

  /**
   * Returns half of a large queue: while these commits are stored, the callers of the previous half
   * are answered and send new ones. If all were taken, callers and writer would wait for each other
   * in turns; measured, that is a tenth slower.
   */
  private static int batchOf(int waiting) {
    return Math.min(BATCH_COMMITS, Math.max(FULL_BATCH, waiting / 2));
  }

  private void store(List<Commit> batch) throws SQLException {
    if (connection == null) {
      connection = SqliteConnection.forWriting(file, maxFileBytes);
    }
    SqliteConnection open = connection;
    long begun = System.nanoTime();
    open.execute("BEGIN IMMEDIATE");
    if (!runBare(open, batch)) {
      open.rollback();
      counted.recordRerun();
      open.execute("BEGIN IMMEDIATE");
      runWithSavepoints(open, batch);
    }
    committing = true;
    open.execute("COMMIT");
    committing = false;
    counted.recordStored(batch.size(), System.nanoTime() - begun);
    if (failing) {
      failing = false;
      log.info("the store {} accepts commits again", file);
    }
  }

  /** Runs after the answers, so that they do not wait for it. */
  private void keepLogShort(List<Commit> batch) {
    try {
      if (connection != null) {
        checkpointer.copyRest(connection);
      }
    } catch (SQLException e) {
      // The log keeps uncopied pages, so no data is lost, and the other thread logs why it fails.
      log.debug("could not copy the rest of the log of store {}", file, e);
    }
    checkpointer.committed(batch.stream().mapToInt(Commit::weight).sum());
  }

  /**
   * Returns false if a commit failed after it had made changes, so that all must run again.
   *
   * <p>New commits wait for the next batch. Letting them join was measured as slower: all callers
   * end up in one batch, and callers and writer wait for each other in turns.
   */
  private static boolean runBare(SqliteConnection connection, List<Commit> batch)
      throws SQLException {
    for (Commit commit : batch) {
      if (runUntilFailure(connection, commit) > 0) {
        return false;
      }
    }
    return true;
  }

  private static void runWithSavepoints(SqliteConnection connection, List<Commit> batch)
      throws SQLException {
    for (Commit commit : batch) {
      connection.execute("SAVEPOINT c");
      runUntilFailure(connection, commit);
      if (commit.reply.failure() != null) {
        connection.execute("ROLLBACK TO c");
      }
      connection.execute("RELEASE c");
    }
  }

  /**
   * Runs a commit and sets its reply. Returns the position of the failed statement, or -1. A
   * statement that fails with an error leaves no change; one that fails its guard may.
   *
   * @throws SQLException if the environment failed and not the commit
   */
  private static int runUntilFailure(SqliteConnection connection, Commit commit)
      throws SQLException {
    commit.reply.succeed(null);
    for (int i = 0; i < commit.statements.size(); i++) {
      Statement statement = commit.statements.get(i);
      try {
        long changed = connection.execute(statement);
        RuntimeException refusal = statement.refusalOf(changed);
        if (refusal != null) {
          commit.reply.fail(refusal);
          return changed == 0 ? i : i + 1;
        }
      } catch (SQLException e) {
        if (SqliteConnection.isEnvironmental(e)) {
          throw e;
        }
        commit.reply.fail(e);
        return i;
      } catch (RuntimeException e) {
        commit.reply.fail(e);
        return i;
      }
    }
    return -1;
  }

  /**
   * Handles a failed batch. The next batch uses a new connection, which does not see this
   * transaction and overwrites it. Only if this process writes no further batch may the next
   * process find it.
   */
  private void batchFailed(List<Commit> batch, Throwable cause) {
    boolean mayBeStored = committing && mayBeWhole(cause);
    if (mayBeStored) {
      counted.recordUnknown();
    } else {
      counted.recordFailure();
    }
    committing = false;
    for (Commit commit : batch) {
      // A commit that failed by itself would also have failed in a stored batch.
      commit.reply.fail(
          new StoreUnavailableException(
              "cannot write to the store",
              cause,
              SqliteConnection.isFull(cause),
              mayBeStored && commit.reply.failure() == null));
    }
    if (!failing) {
      failing = true;
      log.error(
          "cannot write to the store {}; stored: {} of {} commits",
          file,
          mayBeStored ? "all or nothing" : "nothing",
          batch.size(),
          cause);
    }
    SqliteConnection broken = connection;
    connection = null;
    if (broken != null) {
      try {
        broken.close();
      } catch (SQLException e) {
        log.warn("closing a connection to the store failed", e);
      }
    }
  }

  /**
   * Returns whether a transaction whose end failed may still be complete in the log. The frame that
   * commits it is written last, so a failed write means that it is missing. But the flush may fail
   * after the data has reached the disk, and so may any later step.
   */
  private static boolean mayBeWhole(Throwable cause) {
    return !(cause instanceof SQLiteException engine)
        || switch (engine.getResultCode()) {
          case SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY, SQLITE_BUSY -> false;
          default -> true;
        };
  }

  /**
   * Moves the log into the database file and closes. Call it only after {@link #run} has returned.
   */
  void close() throws SQLException {
    if (connection != null) {
      connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
      connection.close();
    }
  }
}
