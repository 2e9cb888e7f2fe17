package dev.bourse.store.sqlite;

import java.io.File;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that copies the log into the database file while the writer continues, as SQLite's
 * documentation of write-ahead logs proposes ("Performance Considerations"). If the writer copied
 * 32 MiB at the end of a commit, all waiting commits would be delayed by tens of milliseconds.
 *
 * <p>The log restarts only after all of it is copied, and while commits continue there is always a
 * rest. So when the log is long, the writer copies the rest itself. The rest contains only the
 * commits since the last copy began, so this takes a moment. If this thread has already started the
 * next copy, the writer waits for its end, because the engine would reject a second one at the same
 * time.
 *
 * <p>Only commit latency depends on this thread: if it fails, or falls behind on a slow disk, the
 * writer copies or waits when the log reaches {@link SqliteConnection#LONGEST_LOG_PAGES}.
 */
final class SqliteCheckpointer implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(SqliteCheckpointer.class);

  /**
   * Statements between two copies. Most change a page or two that others change as well, so fewer
   * copies write fewer pages; and copying the pages of this many statements takes less time than
   * running them.
   */
  private static final int STATEMENTS = 2_048;

  private static final long LONGEST_LOG_BYTES =
      (long) SqliteConnection.LONGEST_LOG_PAGES * SqliteConfig.PAGE_BYTES;

  private final Path file;
  private final File logFile;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition freed = lock.newCondition();

  /**
   * Held while the log is copied. Fair, because this thread could otherwise reacquire it before the
   * writer.
   */
  private final ReentrantLock copying = new ReentrantLock(true);

  private @Nullable SqliteConnection connection;
  private boolean due;
  private boolean closed;
  private boolean failing;

  /** Used by the writer only. */
  private int statements;

  private volatile boolean restIsDue;

  SqliteCheckpointer(Path file) {
    this.file = file;
    this.logFile = new File(file + "-wal");
  }

  long logBytes() {
    return logFile.length();
  }

  /** Counts statements that the writer has committed. */
  void committed(int more) {
    statements += more;
    if (statements < STATEMENTS) {
      return;
    }
    statements = 0;
    lock.lock();
    try {
      due = true;
      freed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Copies the rest of a long log, on the writer's thread and connection. */
  void copyRest(SqliteConnection writing) throws SQLException {
    if (!restIsDue && logFile.length() < LONGEST_LOG_BYTES) {
      return;
    }
    copying.lock();
    try {
      restIsDue = false;
      writing.checkpoint();
    } finally {
      copying.unlock();
    }
  }

  @Override
  public void run() {
    while (awaitTurn()) {
      copying.lock();
      try {
        if (connection == null) {
          connection = SqliteConnection.forCheckpoints(file);
        }
        restIsDue = connection.checkpoint() >= SqliteConnection.LOG_PAGES;
        if (failing) {
          failing = false;
          log.info("copying the log of store {} works again", file);
        }
      } catch (Throwable t) {
        failed(t);
      } finally {
        copying.unlock();
      }
    }
    close();
  }

  private boolean awaitTurn() {
    lock.lock();
    try {
      while (!due && !closed) {
        freed.awaitUninterruptibly();
      }
      due = false;
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Logs a failure. Uncopied pages stay in the log, so no data is lost, and the next turn retries.
   */
  private void failed(Throwable cause) {
    if (!failing) {
      failing = true;
      log.error("cannot copy the log of store {} into its file", file, cause);
    }
    close();
  }

  /** Ends the thread after the current copy. */
  void end() {
    lock.lock();
    try {
      closed = true;
      freed.signal();
    } finally {
      lock.unlock();
    }
  }

  private void close() {
    SqliteConnection open = connection;
    connection = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException e) {
        log.warn("closing a connection to the store failed", e);
      }
    }
  }
}
