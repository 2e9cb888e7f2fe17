package dev.bourse.simulation;

import java.util.SplittableRandom;

/** A step of a plan: a client's operation or a fault. */
interface PlanAction {
  /** Its name in traces. */
  String name();

  /**
   * Performs it, at this moment of the world's time.
   *
   * @param random makes its choices; the same for the same step of a plan, even if other steps are
   *     left out
   */
  void perform(World world, SplittableRandom random);
}
