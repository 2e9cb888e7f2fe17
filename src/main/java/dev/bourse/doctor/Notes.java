package dev.bourse.doctor;

import dev.bourse.doctor.Finding.Verdict;
import java.util.ArrayList;
import java.util.List;

/** What a check has seen so far; told also of one that does not come to its end. */
public final class Notes {
  // All are guarded by this object.
  private final List<String> seen = new ArrayList<>();
  private final List<String> advice = new ArrayList<>();
  private Verdict verdict = Verdict.SKIPPED;
  private boolean isOfStore;

  /** All is well here. */
  public void see(String what) {
    note(Verdict.OK, what, "");
  }

  /** There is nothing to look at, or no way to. */
  public void skip(String why) {
    note(Verdict.SKIPPED, why, "");
  }

  /**
   * The service runs all the same.
   *
   * @param step what to do about it; empty for nothing
   */
  public void warn(String what, String step) {
    note(Verdict.WARNING, what, step);
  }

  /** The service does not start, or not all of it works. */
  public void fault(String what, String step) {
    note(Verdict.FAULT, what, step);
  }

  /** The store itself is not sound, or lacks a secret key. */
  public synchronized void unsound(String what, String step) {
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

  /** What it comes to. */
  public synchronized Finding finding(String name) {
    return new Finding(name, verdict, seen, advice, isOfStore);
  }
}
