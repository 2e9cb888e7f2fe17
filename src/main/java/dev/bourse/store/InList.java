package dev.bourse.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Values for {@code IN (…)}, padded to a few lengths, because an engine caches each text of SQL and
 * one text for every length would evict the others.
 */
public final class InList {
  private static final int SHORTEST = 1;
  private static final int GROWTH = 4;

  private InList() {}

  /**
   * Returns the values, with the last one repeated up to the next padded length. The list must not
   * be empty.
   */
  public static List<String> of(List<String> values) {
    int length = SHORTEST;
    while (length < values.size()) {
      length *= GROWTH;
    }
    List<String> all = new ArrayList<>(values);
    all.addAll(Collections.nCopies(length - all.size(), values.get(values.size() - 1)));
    return all;
  }

  /** Returns {@code (?, ?, …)} for a list that {@link #of} returned. */
  public static String marks(List<String> values) {
    return "(" + String.join(", ", Collections.nCopies(values.size(), "?")) + ")";
  }
}
