package dev.bourse.store;

/** A statement of a commit changed another number of rows than it demanded; nothing was written. */
public final class GuardFailed extends RuntimeException {
  private final String guard;

  public GuardFailed(String guard) {
    super("guard '" + guard + "' does not hold", null, false, false);
    this.guard = guard;
  }

  /** The name the statement's guard was given. */
  public String guard() {
    return guard;
  }
}
