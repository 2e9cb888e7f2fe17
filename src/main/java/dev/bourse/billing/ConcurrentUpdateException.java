package dev.bourse.billing;

/** Another process wrote the same rows first, so the commit was rolled back. */
final class ConcurrentUpdateException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ConcurrentUpdateException() {
    super("another process wrote the same rows first", null, false, false);
  }
}
