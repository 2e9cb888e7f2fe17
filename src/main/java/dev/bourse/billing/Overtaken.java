package dev.bourse.billing;

/** Another process has written the same rows first, so that nothing of the commit was written. */
final class Overtaken extends RuntimeException {
  private static final long serialVersionUID = 1;

  Overtaken() {
    super("another process was first", null, false, false);
  }
}
