package dev.bourse.audit;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The first thing found wrong with sealed rows.
 *
 * @param rowId the row; null when it is not about a single one
 * @param detail for people
 */
public record SealFault(long batch, @Nullable Long rowId, What what, String detail) {
  /** What is wrong. */
  public enum What {
    /** A row is not as it was sealed. */
    CHANGED,
    /** A sealed row is gone. */
    MISSING,
    /** A row is there that was not sealed, among rows that were. */
    ADDED,
    /** The record of a batch contradicts itself, or the batch before it. */
    SEAL,
    /** The record of a batch is gone. */
    GAP;

    /** As clients see it. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
