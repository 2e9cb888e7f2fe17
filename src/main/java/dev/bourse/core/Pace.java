package dev.bourse.core;

import java.util.OptionalLong;

/**
 * Whether a clock that can be set keeps step with one that nobody sets. Pure but for what it
 * remembers; not safe for use by several threads.
 *
 * <p>A clock that is corrected a little at a time, as clocks over the network are, keeps step. One
 * that moves more than {@link #TOLERANCE_MILLIS} against the other has made a step, and is steady
 * again once it has gone on beside the other for as long as is asked of it.
 */
public final class Pace {
  /** Less than this is not told from a pause between the readings of two clocks. */
  public static final long TOLERANCE_MILLIS = 2_000;

  /** What a clock may gain or lose by being corrected: one part in so many. */
  private static final long DRIFT_PARTS = 1_000;

  /** A reading that took longer than this says too little about the moment it was made at. */
  private static final long VAGUE_MILLIS = 10_000;

  private final long patienceAtStart;
  private final long patienceAfterStep;
  private boolean begun;
  private boolean stepped;
  private long offsetMillis;
  private long seenMillis;
  private long steadySinceMillis;

  /**
   * @param patienceAtStart how long it must have been watched to be steady at all
   * @param patienceAfterStep how long it must have gone on after a step to be steady again
   */
  public Pace(long patienceAtStart, long patienceAfterStep) {
    this.patienceAtStart = patienceAtStart;
    this.patienceAfterStep = patienceAfterStep;
  }

  /**
   * Takes a reading of both.
   *
   * @param beforeMillis the clock nobody sets, before the other was read
   * @param readMillis the clock that can be set
   * @param afterMillis the clock nobody sets, after the other was read
   * @return how far the clock was set since the reading before, ahead or back; empty when it was
   *     not
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
    // What is left of it after a short while would be lost by rounding.
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

  /** For how long the clock will have to go on until it is steady; 0 when it is. */
  public long leftMillis(long nowMillis) {
    long patience = stepped ? patienceAfterStep : patienceAtStart;
    return begun ? Math.max(0, steadySinceMillis + patience - nowMillis) : patienceAtStart;
  }

  /** Whether nothing speaks against it: it is steady, or has made no step since it is watched. */
  public boolean isUndoubted(long nowMillis) {
    return begun && (!stepped || leftMillis(nowMillis) == 0);
  }

  /** Whether it is steady, as of a moment of the clock nobody sets. */
  public boolean isSteady(long nowMillis) {
    return begun && leftMillis(nowMillis) == 0;
  }
}
