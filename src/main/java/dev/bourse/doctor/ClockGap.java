package dev.bourse.doctor;

import java.util.Locale;

/** How far another's clock may be from ours. */
final class ClockGap {
  /** As the alert has it; no feature of the service notices less. */
  private static final long MOST_MILLIS = 5_000;

  private ClockGap() {}

  /**
   * Notes it.
   *
   * @param aheadMillis how far the other's is before ours
   */
  static void note(Notes notes, long aheadMillis) {
    String seen =
        Math.abs(aheadMillis) < 1_000
            ? "its clock is ours to a second"
            : String.format(
                Locale.ROOT,
                "its clock is %.1f s %s ours",
                Math.abs(aheadMillis) / 1e3,
                aheadMillis > 0 ? "ahead of" : "behind");
    if (Math.abs(aheadMillis) > MOST_MILLIS) {
      notes.warn(seen, "have both machines' clocks set by NTP");
    } else {
      notes.see(seen);
    }
  }
}
