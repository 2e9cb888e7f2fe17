package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/**
 * The store cannot serve now: its queue or disk is full, its engine is unreachable, or it is
 * closed.
 */
public class StoreUnavailableException extends RuntimeException {
  private final boolean isFull;
  private final boolean mayBeStored;

  /** Creates an exception for a call that wrote nothing. */
  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    this(message, cause, false, false);
  }

  /**
   * @param isFull see {@link #isFull()}
   * @param mayBeStored see {@link #mayBeStored()}
   */
  public StoreUnavailableException(
      String message, @Nullable Throwable cause, boolean isFull, boolean mayBeStored) {
    super(message, cause);
    this.isFull = isFull;
    this.mayBeStored = mayBeStored;
  }

  /**
   * Returns true if the store has no space left for writes, which does not resolve with time alone.
   * Reads still work.
   */
  public boolean isFull() {
    return isFull;
  }

  /**
   * Returns true if the commit may be stored after all. Either the connection to the engine was
   * lost between the COMMIT and its answer and did not come back in time, or the disk failed when
   * the embedded engine flushed; this process then does not show the commit, but the next one may
   * find it. Either all of it is stored or nothing; the caller learns which by reading the row that
   * its guard names. False if nothing was written.
   */
  public boolean mayBeStored() {
    return mayBeStored;
  }
}
