package dev.bourse.market;

import dev.bourse.store.Statement;

/**
 * The right to run a pool's market.
 *
 * @param owner the process that holds it
 * @param epoch the fencing token, which grows by one with each holder; commits with an older one
 *     fail on the fence
 */
record Lease(String pool, String owner, long epoch) {
  Lease {
    if (epoch < 1) {
      throw new IllegalArgumentException("lease epoch " + epoch + ": must be at least 1");
    }
  }

  /**
   * Returns a guard that fails a commit with {@link LeaseLostException} unless this lease is still
   * the pool's latest.
   */
  Statement fence() {
    return Statement.guarded(
        LeaseLostException::new,
        "UPDATE lease SET epoch = epoch WHERE pool = ? AND owner = ? AND epoch = ?",
        pool,
        owner,
        epoch);
  }

  /** Another process has taken the pool's lease, so the commit wrote nothing. */
  static final class LeaseLostException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LeaseLostException() {
      super("another process has the pool's lease", null, false, false);
    }
  }
}
