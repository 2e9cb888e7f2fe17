package dev.bourse.history;

import java.util.ArrayList;
import java.util.List;

/** What a check has found so far. */
final class Findings {
  /** A fault shows in many operations; the first few tell enough. */
  private static final int MAX = 20;

  private final List<HistoryViolation> all = new ArrayList<>();

  void add(HistoryViolation.Kind kind, String message) {
    if (all.size() < MAX) {
      all.add(new HistoryViolation(kind, message));
    }
  }

  List<HistoryViolation> all() {
    return List.copyOf(all);
  }
}
