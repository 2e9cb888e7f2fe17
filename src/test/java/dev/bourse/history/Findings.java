package dev.bourse.history;

import java.util.ArrayList;
import java.util.List;

/** What a check has found so far. */
final class Findings {
  /** A fault shows in many operations; the first few tell enough. */
  private static final int MAX = 20;

  private final List<Violation> all = new ArrayList<>();

  void add(Violation.Kind kind, String message) {
    if (all.size() < MAX) {
      all.add(new Violation(kind, message));
    }
  }

  List<Violation> all() {
    return List.copyOf(all);
  }
}
