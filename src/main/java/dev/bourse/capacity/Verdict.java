package dev.bourse.capacity;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The market's last verdict on why declared slots stay open.
 *
 * @param bidTooLow true if the ceiling is under the admission price
 * @param capacityUnavailable true if no price would help; null if the pool's detector is off
 */
public record Verdict(boolean bidTooLow, @Nullable Boolean capacityUnavailable) {
  /** The verdict before the first tick. */
  public static final Verdict NONE = new Verdict(false, null);

  /** All possible verdicts, shared by all clusters. */
  private static final List<Verdict> ALL =
      List.of(
          NONE,
          new Verdict(false, false),
          new Verdict(false, true),
          new Verdict(true, null),
          new Verdict(true, false),
          new Verdict(true, true));

  /** Returns the shared verdict with these values. */
  public static Verdict of(boolean bidTooLow, @Nullable Boolean capacityUnavailable) {
    int unavailable = capacityUnavailable == null ? 0 : capacityUnavailable ? 2 : 1;
    return ALL.get((bidTooLow ? 3 : 0) + unavailable);
  }
}
