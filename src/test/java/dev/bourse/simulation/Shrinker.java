package dev.bourse.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * Removes the steps of a plan that a violation does not need, by the algorithm ddmin of A. Zeller
 * and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): it tries
 * complements of ever smaller parts, while the same invariant is violated.
 */
final class Shrinker {
  /** Takes some seconds; a plan has some dozen steps. */
  private static final int MOST_RUNS = 150;

  private final Bug bug;
  private final String invariant;
  private int runs;

  private Shrinker(Bug bug, String invariant) {
    this.bug = bug;
    this.invariant = invariant;
  }

  /** Returns a plan of fewer steps that violates the same invariant. */
  static Plan shrink(Plan plan, Bug bug, ViolationException violation) {
    return new Shrinker(bug, violation.invariant()).shrink(plan);
  }

  private Plan shrink(Plan plan) {
    List<Integer> kept = new ArrayList<>(plan.steps().stream().map(Plan.Step::number).toList());
    int parts = 2;
    while (!kept.isEmpty() && runs < MOST_RUNS) {
      int size = Math.max(1, (kept.size() + parts - 1) / parts);
      boolean isShorter = false;
      for (int from = 0; from < kept.size() && !isShorter && runs < MOST_RUNS; from += size) {
        List<Integer> fewer = new ArrayList<>(kept);
        fewer.subList(from, Math.min(kept.size(), from + size)).clear();
        if (isViolatedBy(plan.only(fewer))) {
          kept = fewer;
          isShorter = true;
        }
      }
      if (isShorter) {
        parts = Math.max(2, parts - 1);
      } else if (size == 1) {
        break;
      } else {
        parts *= 2;
      }
    }
    return plan.only(kept);
  }

  private boolean isViolatedBy(Plan plan) {
    runs++;
    ViolationException violation = Simulation.run(plan, bug, 0).violation();
    return violation != null && violation.invariant().equals(invariant);
  }
}
