package dev.bourse.store;

import io.vertx.pgclient.PgException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;

/** The store cannot serve now: queue full, disk full, engine away, closed. */
public final class StoreUnavailable extends RuntimeException {
  /** PostgreSQL's disk_full, of the class of insufficient resources. */
  private static final String DISK_FULL = "53100";

  private final boolean mayBeStored;

  /** Nothing was written. */
  public StoreUnavailable(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  public StoreUnavailable(String message, @Nullable Throwable cause, boolean mayBeStored) {
    super(message, cause);
    this.mayBeStored = mayBeStored;
  }

  /**
   * Whether there is no room left for what was to be written, which time alone does not mend. Reads
   * are not concerned.
   */
  public boolean isFull() {
    for (Throwable cause = getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException engine
          && (engine.getErrorCode() & 0xff) == SQLiteErrorCode.SQLITE_FULL.code) {
        return true;
      }
      if (cause instanceof PgException server && DISK_FULL.equals(server.getSqlState())) {
        return true;
      }
      if (String.valueOf(cause.getMessage()).contains("No space left on device")) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether the commit may be stored all the same: the engine was lost between the order to commit
   * and its answer, and did not come back in time to be asked; or the disk failed when the embedded
   * engine flushed what it had written, which this process then does not show, and the next one may
   * find. All or nothing of it is stored; the caller learns which by reading the row its guard
   * names. False whenever nothing was written.
   */
  public boolean mayBeStored() {
    return mayBeStored;
  }
}
