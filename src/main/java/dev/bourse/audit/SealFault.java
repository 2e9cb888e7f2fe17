package dev.bourse.audit;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The first fault found in sealed rows.
 *
 * @param rowId the row; null if the fault is not about a single one
 * @param detail a description for people
 */
public record SealFault(long batch, @Nullable Long rowId, What what, String detail) {
  /** The kind of a fault. */
  public enum What {
    /** A row differs from its seal. */
    CHANGED,
    /** A sealed row is missing. */
    MISSING,
    /** An unsealed row is among sealed ones. */
    ADDED,
    /** The record of a batch contradicts itself or the previous batch. */
    SEAL,
    /** The record of a batch is missing. */
    GAP;

    /** Returns the name in the API. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
