package dev.bourse.history;

/** Something in a history that cannot be, with the operations that show it. */
public record HistoryViolation(Kind kind, String message) {
  /** In what way it cannot be. */
  public enum Kind {
    /** An acknowledged write is not stored, or has no row. */
    LOST,
    /** Two were acknowledged for one version, or one is stored twice. */
    DOUBLED,
    /** A read began after an acknowledgement it does not show, or a process went back. */
    STALE,
    /** A write began after another's acknowledgement and came before it. */
    OUT_OF_ORDER,
    /** What is stored or shown is not what was sent. */
    ALTERED,
    /** Stored though it was refused, or though nobody sent it. */
    UNASKED,
    /** A refusal says what was not so at any time of its request. */
    REFUSED_WITHOUT_CAUSE
  }

  @Override
  public String toString() {
    return kind + ": " + message;
  }
}
