package dev.bourse.store.sqlite;

import dev.bourse.store.BatchedPromise;
import dev.bourse.store.Migrations;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailable;
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
 * The one thread that writes. It takes the commits that wait, stores them in one transaction with
 * one flush to disk, and then answers them.
 *
 * <p>A commit that fails undoes only itself. Savepoints would do that at a cost on every commit, so
 * the batch first runs without: when the first statement of a commit fails it has changed nothing,
 * which is how a lost compare-and-set ends. Only when a later statement fails is the batch rolled
 * back and run again with a savepoint for each commit.
 */
final class SqliteWriter implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(SqliteWriter.class);

  /** Past this many, sharing the flush among more gains nothing and the first ones wait longer. */
  private static final int BATCH_COMMITS = 256;

  /** Fewer share a flush badly. */
  private static final int FULL_BATCH = 32;

  /** Keeps the transaction, and the wait of the commits in it, to some tens of milliseconds. */
  private static final int BATCH_STATEMENTS = 4_096;

  record Commit(List<Statement> statements, BatchedPromise<@Nullable Void> reply) {
    /** What counts against the queue: at least one, for an empty commit takes a place too. */
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

  /** Set while a transaction's end is written and flushed. */
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

  /**
   * Brings the schema up to date. Only before {@link #run}; when it fails the connection is closed.
   */
  void migrate(Migrations schema, Clock clock) throws Exception {
    SqliteConnection open = Objects.requireNonNull(connection, "opened by the constructor");
    try {
      // The steps are flushed with the first commit that is acknowledged. A power failure before it
      // undoes the last of them, each whole, and the next start carries them out again.
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
      batch.forEach(commit -> commit.reply.begins());
      try {
        store(batch);
      } catch (Throwable t) {
        // An Error (out of memory, say) must not end the only writer either.
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
   * Half of the commits that wait, where those are many: while these are stored, the callers of the
   * half before are answered and ask again. Were all taken, callers and writer would wait for each
   * other by turns; measured, a tenth slower.
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
      counted.rerun();
      open.execute("BEGIN IMMEDIATE");
      runWithSavepoints(open, batch);
    }
    committing = true;
    open.execute("COMMIT");
    committing = false;
    counted.stored(batch.size(), System.nanoTime() - begun);
    if (failing) {
      failing = false;
      log.info("the store {} accepts commits again", file);
    }
  }

  /** After the answers, which need not wait for it. */
  private void keepLogShort(List<Commit> batch) {
    try {
      if (connection != null) {
        checkpointer.copyRest(connection);
      }
    } catch (SQLException e) {
      // Nothing is lost: the log keeps what was not copied, and the other thread tells why it
      // fails.
      log.debug("the rest of the log of the store {} was not copied", file, e);
    }
    checkpointer.committed(batch.stream().mapToInt(Commit::weight).sum());
  }

  /**
   * False when a commit failed and left changes behind, so that all must run again.
   *
   * <p>Who arrives meanwhile waits for the next batch. To let them join was measured as slower: all
   * callers then come to be in one batch, and the writer waits for them while they are answered, as
   * they wait for it.
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
   * Sets the commit's reply. The position of the statement that failed; -1 when none did. A
   * statement that fails with an error leaves no change itself, one that fails its guard may.
   *
   * @throws SQLException when the environment failed rather than the commit
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
   * A new connection, with the next batch, sees nothing of this one and writes over what there is
   * of it. Only when that does not happen any more in this process, the next one may find it.
   */
  private void batchFailed(List<Commit> batch, Throwable cause) {
    boolean mayBeStored = committing && mayBeWhole(cause);
    if (mayBeStored) {
      counted.unknown();
    } else {
      counted.failed();
    }
    committing = false;
    for (Commit commit : batch) {
      // One that failed by itself would have failed in a batch that is stored, too.
      commit.reply.fail(
          new StoreUnavailable(
              "the store cannot be written",
              cause,
              SqliteConnection.isFull(cause),
              mayBeStored && commit.reply.failure() == null));
    }
    if (!failing) {
      failing = true;
      log.error(
          "the store {} cannot be written; {} of {} commits is stored",
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
        log.warn("a connection to the store did not close", e);
      }
    }
  }

  /**
   * Whether a transaction whose end failed so may be whole in the log all the same. The frame that
   * commits it is the last to be written: when writing fails, it is not there. But a flush may fail
   * of what reaches the disk later, and so may what is done after the flush.
   */
  private static boolean mayBeWhole(Throwable cause) {
    return !(cause instanceof SQLiteException engine)
        || switch (engine.getResultCode()) {
          case SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY, SQLITE_BUSY -> false;
          default -> true;
        };
  }

  /** Moves the log into the database file and closes. Only after {@link #run} has returned. */
  void close() throws SQLException {
    if (connection != null) {
      connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
      connection.close();
    }
  }
}
