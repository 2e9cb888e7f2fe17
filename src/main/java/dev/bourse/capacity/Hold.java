package dev.bourse.capacity;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A billing hold in force on a cluster.
 *
 * @param stage its stage
 * @param reason its cause
 * @param enforceAfterMillis when the stage changes, or changed, from notice to enforce; null in
 *     grace and for a hold without a deadline
 */
public record Hold(Stage stage, String reason, @Nullable Long enforceAfterMillis) {
  public Hold {
    if (reason.isEmpty()) {
      throw new IllegalArgumentException("a hold in stage %s has no reason".formatted(stage));
    }
  }

  /** The stages of a hold, in order. */
  public enum Stage {
    /** There is a shortfall; nothing is paused. */
    GRACE,
    /** New capacity is paused. */
    NOTICE,
    /** Capacity is being reclaimed. */
    ENFORCE;

    /** Returns its name in activity and on all surfaces. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
