package dev.bourse.auction;

/** How high a group of clusters can rise together, the lowest first. */
final class Water {
  private Water() {}

  /** The highest level up to which all can rise with so many seats, each to its goal at most. */
  static int highestLevel(int[] seated, int[] goals, int from, int to, long left) {
    int low = 0;
    int high = 0;
    for (int i = from; i < to; i++) {
      high = Math.max(high, goals[i]);
    }
    if (needed(seated, goals, from, to, high) <= left) {
      return high;
    }
    // Invariant: what low needs is there, what high needs is not.
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (needed(seated, goals, from, to, middle) <= left) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The seats that all need to rise to a level, each to its goal at most. */
  static long needed(int[] seated, int[] goals, int from, int to, int level) {
    long needed = 0;
    for (int i = from; i < to; i++) {
      needed += Math.max(0, Math.min(goals[i], level) - seated[i]);
    }
    return needed;
  }
}
