package dev.bourse.simulation;

import java.util.SplittableRandom;

/** Something that is done to a world: a client's operation or a fault. */
interface Deed {
  /** Its name in traces. */
  String name();

  /**
   * Does it, at this moment of the world's time.
   *
   * @param random decides what it is done to; the same for the same step of a plan, whatever else
   *     is left out
   */
  void happen(World world, SplittableRandom random);
}
