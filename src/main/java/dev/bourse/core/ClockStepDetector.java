package dev.bourse.core;

import java.util.OptionalLong;

/**
 * Detects steps of a clock that can be set by comparing it with the monotonic clock. Pure apart
 * from its memory of earlier readings; not thread-safe.
 *
 * <p>Gradual corrections, as a time service makes them, are not steps. A move of more than {@link
 * #TOLERANCE_MILLIS} against the monotonic clock is a step; afterwards the clock is steady again
 * after it has run for {@code patienceAfterStep} without another.
 */
public final class ClockStepDetector {
  /** Smaller differences could be a pause between the readings of the two clocks. */
  public static final long TOLERANCE_MILLIS = 2_000;

  /** The greatest gradual correction of a clock: one part in this many. */
  private static final long DRIFT_PARTS = 1_000;

  /** A reading that took longer is too imprecise to use. */
  private static final long VAGUE_MILLIS = 10_000;

  private final long patienceAtStart;
  private final long patienceAfterStep;
  private boolean begun;
  private boolean stepped;
  private long offsetMillis;
  private long seenMillis;
  private long steadySinceMillis;

  /**
   * @param patienceAtStart milliseconds of observation until the clock first counts as steady
   * @param patienceAfterStep milliseconds without a step until it counts as steady again
   */
  public ClockStepDetector(long patienceAtStart, long patienceAfterStep) {
    this.patienceAtStart = patienceAtStart;
    this.patienceAfterStep = patienceAfterStep;
  }

  /**
   * Records a reading of both clocks.
   *
   * @param beforeMillis the monotonic clock before the other was read
   * @param readMillis the clock that can be set
   * @param afterMillis the monotonic clock after the other was read
   * @return milliseconds by which the clock was set since the previous reading, ahead (positive) or
   *     back; empty if it was not set
   */
  public OptionalLong read(long beforeMillis, long readMillis, long afterMillis) {
    long least = readMillis - afterMillis;
    long most = readMillis - beforeMillis;
    if (!begun) {
      begun = true;
      steadySinceMillis = beforeMillis;
      seenMillis = afterMillis;
      offsetMillis = least;
      return OptionalLong.empty();
    }
    if (most - least > VAGUE_MILLIS) {
      return OptionalLong.empty();
    }
    long drift = Math.max(0, afterMillis - seenMillis) / DRIFT_PARTS;
    // Carries over the remainder, which rounding would lose for short intervals.
    seenMillis += drift * DRIFT_PARTS;
    long nearest = Math.min(Math.max(offsetMillis, least), most);
    long moved = nearest - offsetMillis;
    if (Math.abs(moved) <= TOLERANCE_MILLIS) {
      offsetMillis += Math.min(Math.max(moved, -drift), drift);
      return OptionalLong.empty();
    }
    offsetMillis = nearest;
    seenMillis = afterMillis;
    steadySinceMillis = afterMillis;
    stepped = true;
    return OptionalLong.of(moved);
  }

  /** Milliseconds the clock must still run until it is steady; 0 when it is. */
  public long leftMillis(long nowMillis) {
    long patience = stepped ? patienceAfterStep : patienceAtStart;
    return begun ? Math.max(0, steadySinceMillis + patience - nowMillis) : patienceAtStart;
  }

  /**
   * Whether there is no evidence against the clock: it is steady, or has made no step since the
   * first reading.
   */
  public boolean isUndoubted(long nowMillis) {
    return begun && (!stepped || leftMillis(nowMillis) == 0);
  }

  /** Whether the clock is steady at a moment of the monotonic clock. */
  public boolean isSteady(long nowMillis) {
    return begun && leftMillis(nowMillis) == 0;
  }
}
