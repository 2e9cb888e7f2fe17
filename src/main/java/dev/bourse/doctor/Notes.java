package dev.bourse.doctor;

import dev.bourse.doctor.Finding.Verdict;
import java.util.ArrayList;
import java.util.List;

/** The observations of a check so far; also read from a check that did not finish. */
public final class Notes {
  // Guarded by this object.
  private final List<String> seen = new ArrayList<>();
  private final List<String> advice = new ArrayList<>();
  private Verdict verdict = Verdict.SKIPPED;
  private boolean isOfStore;

  /** Records a good observation. */
  public void see(String what) {
    note(Verdict.OK, what, "");
  }

  /** Records that a check is not needed or not possible. */
  public void skip(String why) {
    note(Verdict.SKIPPED, why, "");
  }

  /**
   * Records a problem with which the service still runs.
   *
   * @param step advice; empty for none
   */
  public void warn(String what, String step) {
    note(Verdict.WARNING, what, step);
  }

  /** Records a problem with which the service does not start, or a part of it does not work. */
  public void fault(String what, String step) {
    note(Verdict.FAULT, what, step);
  }

  /** Records that the store itself is corrupt, or lacks a secret key. */
  public synchronized void corrupt(String what, String step) {
    isOfStore = true;
    note(Verdict.FAULT, what, step);
  }

  private synchronized void note(Verdict how, String what, String step) {
    seen.add(what);
    if (!step.isEmpty() && !advice.contains(step)) {
      advice.add(step);
    }
    if (how.compareTo(verdict) > 0) {
      verdict = how;
    }
  }

  /** Returns the result so far. */
  public synchronized Finding finding(String name) {
    return new Finding(name, verdict, seen, advice, isOfStore);
  }
}
