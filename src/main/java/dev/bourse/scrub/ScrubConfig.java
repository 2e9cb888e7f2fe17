package dev.bourse.scrub;

import dev.bourse.core.Settings;

/**
 * Settings of the scrub.
 *
 * @param share {@code checkpoints.scrub}: how many millionths of the stored bytes are read again
 *     each day; 0 for none but what operators ask for
 */
public record ScrubConfig(int share) {
  /** A round of a month: disks and their file systems are usually scrubbed as often. */
  private static final double USUAL = 0.03;

  public static ScrubConfig from(Settings settings) {
    return new ScrubConfig(
        (int) Math.round(settings.fraction("checkpoints.scrub", USUAL) * Pace.WHOLE));
  }

  /** The share as operators write it: a number from 0 to 1. */
  public double fraction() {
    return (double) share / Pace.WHOLE;
  }
}
