package dev.bourse.faults;

/** The service did not do what it promises, or the run could not go on. */
final class Violated extends RuntimeException {
  private static final long serialVersionUID = 1;

  Violated(String message) {
    super(message);
  }

  Violated(String message, Throwable cause) {
    super(message, cause);
  }
}
