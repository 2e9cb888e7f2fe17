package dev.bourse.faults;

import java.util.Set;
import java.util.TreeSet;

/**
 * A fault, the alerts that it makes fire, and its cure.
 *
 * @param fault what is done, in words
 * @param fires what has to fire, all of it at a time
 * @param mayFire what may fire besides: true as well, and not by every course of the fault
 * @param breaks brings the fault about
 * @param goesOn done over and over until all have fired: what some faults need to last
 * @param mends takes the fault away
 */
record AlertTrial(
    String fault, Set<String> fires, Set<String> mayFire, Step breaks, Step goesOn, Step mends) {
  /** Something that is done. */
  interface Step {
    /** Nothing. */
    Step NONE = () -> {};

    void run() throws Exception;
  }

  /** A fault that lasts by itself. */
  static AlertTrial of(
      String fault, Set<String> fires, Set<String> mayFire, Step breaks, Step mends) {
    return new AlertTrial(fault, fires, mayFire, breaks, Step.NONE, mends);
  }

  /** All that may fire while there is the fault. */
  Set<String> allowed() {
    Set<String> allowed = new TreeSet<>(fires);
    allowed.addAll(mayFire);
    return allowed;
  }
}
