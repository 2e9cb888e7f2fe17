package dev.bourse.doctor;

import java.util.Locale;

/** The gap between another machine's clock and this one's. */
final class ClockGap {
  /** The threshold of the clock alert; no feature of the service is sensitive to less. */
  private static final long MOST_MILLIS = 5_000;

  private ClockGap() {}

  /**
   * Records the gap.
   *
   * @param aheadMillis how far the other clock is ahead of this one, negative if behind
   */
  static void note(Notes notes, long aheadMillis) {
    String seen =
        Math.abs(aheadMillis) < 1_000
            ? "its clock agrees with ours to a second"
            : String.format(
                Locale.ROOT,
                "its clock is %.1f s %s ours",
                Math.abs(aheadMillis) / 1e3,
                aheadMillis > 0 ? "ahead of" : "behind");
    if (Math.abs(aheadMillis) > MOST_MILLIS) {
      notes.warn(seen, "synchronize both machines' clocks by NTP");
    } else {
      notes.see(seen);
    }
  }
}
