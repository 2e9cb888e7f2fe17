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
 * The thread that copies the log into the database file beside the writer, as SQLite's
 * documentation of write-ahead logs proposes ("Performance Considerations"): done by the writer at
 * the end of a commit, 32 MiB of it hold up all that wait for tens of milliseconds.
 *
 * <p>The log begins anew only once all of it is copied, and while commits go on there is always
 * some more. So when it is long, the writer copies the rest itself, which is what was committed
 * during the last copy and takes a moment. Where this thread is at the next copy already, the
 * writer waits for its end: the engine would refuse a second one beside it.
 *
 * <p>Nothing depends on this thread but the time a commit takes: where it fails, or is behind on a
 * disk that is slow to flush, the writer copies or waits once the log has {@link
 * SqliteConnection#LONGEST_LOG_PAGES}.
 */
final class SqliteCheckpointer implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(SqliteCheckpointer.class);

  /**
   * Statements between two copies. Most change a page or two that others of them change as well, so
   * the fewer the copies, the fewer the pages; and a copy of what so many leave takes less time
   * than they do.
   */
  private static final int STATEMENTS = 2_048;

  private static final long LONGEST_LOG_BYTES =
      (long) SqliteConnection.LONGEST_LOG_PAGES * SqliteConfig.PAGE_BYTES;

  private final Path file;
  private final File logFile;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition told = lock.newCondition();

  /** Held while the log is copied. Fair: else this thread could take turns with itself. */
  private final ReentrantLock copying = new ReentrantLock(true);

  private @Nullable SqliteConnection connection;
  private boolean due;
  private boolean closed;
  private boolean failing;

  /** The writer's alone. */
  private int statements;

  private volatile boolean restIsDue;

  SqliteCheckpointer(Path file) {
    this.file = file;
    this.logFile = new File(file + "-wal");
  }

  long logBytes() {
    return logFile.length();
  }

  /** The writer has committed so many more statements. */
  void committed(int more) {
    statements += more;
    if (statements < STATEMENTS) {
      return;
    }
    statements = 0;
    lock.lock();
    try {
      due = true;
      told.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Copies, on the writer's thread and its connection, what is left of a log that is long. */
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
          log.info("the log of the store {} is copied again", file);
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
        told.awaitUninterruptibly();
      }
      due = false;
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  /** The log keeps what was not copied, so nothing is lost; the next turn begins anew. */
  private void failed(Throwable cause) {
    if (!failing) {
      failing = true;
      log.error("the log of the store {} cannot be copied into it", file, cause);
    }
    close();
  }

  /** Ends the thread after the copy it is at. */
  void end() {
    lock.lock();
    try {
      closed = true;
      told.signal();
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
        log.warn("a connection to the store did not close", e);
      }
    }
  }
}
