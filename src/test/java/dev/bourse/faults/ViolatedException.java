package dev.bourse.faults;

/** The service did not do what it promises, or the run could not go on. */
final class ViolatedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ViolatedException(String message) {
    super(message);
  }

  ViolatedException(String message, Throwable cause) {
    super(message, cause);
  }
}
