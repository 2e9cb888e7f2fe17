package dev.bourse.scrub;

import java.util.Locale;

/**
 * What is wrong with a blob.
 *
 * @param detail in words, for operators
 */
public record Fault(Kind kind, String detail) {
  /** In which way. */
  public enum Kind {
    /** The store has no such blob. */
    MISSING,
    /** It has another length than it was published with. */
    LENGTH,
    /** It has the length, and other bytes. */
    DIGEST,
    /** The store has it and does not give its bytes, though asked several times. */
    UNREADABLE;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    static Kind of(String label) {
      return valueOf(label.toUpperCase(Locale.ROOT));
    }
  }
}
