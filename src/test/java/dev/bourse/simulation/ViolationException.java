package dev.bourse.simulation;

/** Thrown when an invariant does not hold. */
final class ViolationException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String invariant;

  /**
   * @param invariant the name of the invariant
   * @param what the finding, for the reader of the trace
   */
  ViolationException(String invariant, String what) {
    super(invariant + ": " + what);
    this.invariant = invariant;
  }

  String invariant() {
    return invariant;
  }
}
