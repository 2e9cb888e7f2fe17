package dev.bourse.capacity;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A billing hold in force on a cluster.
 *
 * @param stage how far it has gone
 * @param reason what caused it
 * @param enforceAfterMillis when notice becomes enforce, or has become; null in grace and when
 *     nobody has said
 */
public record Hold(Stage stage, String reason, @Nullable Long enforceAfterMillis) {
  public Hold {
    if (reason.isEmpty()) {
      throw new IllegalArgumentException("a hold in stage %s has no reason".formatted(stage));
    }
  }

  /** The stages of a hold, in order. */
  public enum Stage {
    /** A shortfall was seen; nothing is paused. */
    GRACE,
    /** New capacity is paused. */
    NOTICE,
    /** Capacity is being reclaimed. */
    ENFORCE;

    /** As activity and surfaces spell it. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
