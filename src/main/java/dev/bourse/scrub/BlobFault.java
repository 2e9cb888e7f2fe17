package dev.bourse.scrub;

import java.util.Locale;

/**
 * A fault of a blob.
 *
 * @param detail a description for operators
 */
public record BlobFault(Kind kind, String detail) {
  /** The kind of a fault. */
  public enum Kind {
    /** The store has no such blob. */
    MISSING,
    /** Its length differs from that of the publication. */
    LENGTH,
    /** Its length is right, but its bytes differ. */
    DIGEST,
    /** The store has it but does not return its bytes, after several attempts. */
    UNREADABLE;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    static Kind of(String label) {
      return valueOf(label.toUpperCase(Locale.ROOT));
    }
  }
}
