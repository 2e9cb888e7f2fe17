package dev.bourse.capacity;

import dev.bourse.json.JsonBytes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why declared slots stay open, as the market last judged it.
 *
 * @param bidTooLow the ceiling is under what clears
 * @param capacityUnavailable no price would help; null when the pool has no detector armed
 */
public record Verdict(boolean bidTooLow, @Nullable Boolean capacityUnavailable) {
  /** Before the market has judged anything. */
  public static final Verdict NONE = new Verdict(false, null);

  /** Every one there can be: kept once rather than for each cluster. */
  private static final List<Verdict> ALL =
      List.of(
          NONE,
          new Verdict(false, false),
          new Verdict(false, true),
          new Verdict(true, null),
          new Verdict(true, false),
          new Verdict(true, true));

  /** Writes the verdict as the capacity state shows it. */
  void tell(JsonBytes json) {
    json.put("bid_too_low", bidTooLow).put("capacity_unavailable", capacityUnavailable);
  }

  /** The one that says this. */
  public static Verdict of(boolean bidTooLow, @Nullable Boolean capacityUnavailable) {
    int unavailable = capacityUnavailable == null ? 0 : capacityUnavailable ? 2 : 1;
    return ALL.get((bidTooLow ? 3 : 0) + unavailable);
  }
}
