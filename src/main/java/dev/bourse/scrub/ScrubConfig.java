package dev.bourse.scrub;

import dev.bourse.core.Settings;

/**
 * Settings of the scrub.
 *
 * @param share {@code checkpoints.scrub}: millionths of the stored bytes that are read each day; 0
 *     to check only on request
 */
public record ScrubConfig(int share) {
  /** A round of a month, as usual for disks and file systems. */
  private static final double USUAL = 0.03;

  public static ScrubConfig from(Settings settings) {
    return new ScrubConfig(
        (int) Math.round(settings.fraction("checkpoints.scrub", USUAL) * ReadThrottle.WHOLE));
  }

  /** Returns the share as operators write it: a number from 0 to 1. */
  public double fraction() {
    return (double) share / ReadThrottle.WHOLE;
  }
}
