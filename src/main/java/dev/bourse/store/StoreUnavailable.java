package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/** The store cannot serve now: queue full, disk full, engine away, closed. */
public class StoreUnavailable extends RuntimeException {
  private final boolean isFull;
  private final boolean mayBeStored;

  /** Nothing was written. */
  public StoreUnavailable(String message, @Nullable Throwable cause) {
    this(message, cause, false, false);
  }

  /**
   * @param isFull see {@link #isFull()}
   * @param mayBeStored see {@link #mayBeStored()}
   */
  public StoreUnavailable(
      String message, @Nullable Throwable cause, boolean isFull, boolean mayBeStored) {
    super(message, cause);
    this.isFull = isFull;
    this.mayBeStored = mayBeStored;
  }

  /**
   * Whether there is no room left for what was to be written, which time alone does not mend. Reads
   * are not concerned.
   */
  public boolean isFull() {
    return isFull;
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
