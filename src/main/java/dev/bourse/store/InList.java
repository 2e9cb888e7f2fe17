package dev.bourse.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Values for {@code IN (…)}, in a few lengths only: an engine keeps what it has parsed of each text
 * of SQL, and one for every length would push the others out.
 */
public final class InList {
  private static final int SHORTEST = 1;
  private static final int GROWTH = 4;

  private InList() {}

  /** The values, the last of them repeated up to the next of the lengths. Not for none at all. */
  public static List<String> of(List<String> values) {
    int length = SHORTEST;
    while (length < values.size()) {
      length *= GROWTH;
    }
    List<String> all = new ArrayList<>(values);
    all.addAll(Collections.nCopies(length - all.size(), values.get(values.size() - 1)));
    return all;
  }

  /** {@code (?, ?, …)} for a list of {@link #of}. */
  public static String marks(List<String> values) {
    return "(" + String.join(", ", Collections.nCopies(values.size(), "?")) + ")";
  }
}
