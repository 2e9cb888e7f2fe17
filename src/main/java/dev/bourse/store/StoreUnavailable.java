package dev.bourse.store;

import org.jspecify.annotations.Nullable;

/** The store cannot serve now: queue full, disk full, engine away, closed. */
public final class StoreUnavailable extends RuntimeException {
  private final boolean mayBeStored;

  /** Nothing was written. */
  public StoreUnavailable(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  StoreUnavailable(String message, @Nullable Throwable cause, boolean mayBeStored) {
    super(message, cause);
    this.mayBeStored = mayBeStored;
  }

  /**
   * Whether the commit may be stored all the same: the engine was lost between the order to commit
   * and its answer, and did not come back in time to be asked. All or nothing of it is stored; the
   * caller learns which by reading the row its guard names. False on embedded engines, and whenever
   * nothing was written.
   */
  public boolean mayBeStored() {
    return mayBeStored;
  }
}
