package dev.bourse.store;

/** How many of the commits that wait an engine stores together. */
public final class BatchSize {
  /** Fewer share a flush badly. */
  private static final int FULL = 32;

  private BatchSize() {}

  /**
   * Half of the commits that wait, where those are many: while these are stored, the callers of the
   * half before are answered and ask again. Were all taken, the callers and the engine would wait
   * for each other by turns; measured, a tenth slower.
   *
   * @param most of one batch, as the engine has it
   */
  public static int of(int waiting, int most) {
    return Math.min(most, Math.max(FULL, waiting / 2));
  }
}
