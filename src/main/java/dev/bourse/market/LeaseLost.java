package dev.bourse.market;

/** Another process has taken a pool's lease, so that nothing of the commit was written. */
final class LeaseLost extends RuntimeException {
  private static final long serialVersionUID = 1;

  LeaseLost() {
    super("another process has the pool's lease", null, false, false);
  }
}
