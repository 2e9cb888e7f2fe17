package dev.bourse.core;

import java.util.ArrayList;
import java.util.List;

/** Splits a long list into parts that fit a query or a commit. */
public final class Slices {
  private Slices() {}

  /**
   * The parts in order, as views of the list.
   *
   * @param most the length of each part, at least 1; the last may be shorter
   */
  public static <T> List<List<T>> of(List<T> all, int most) {
    List<List<T>> slices = new ArrayList<>();
    for (int from = 0; from < all.size(); from += most) {
      slices.add(all.subList(from, Math.min(all.size(), from + most)));
    }
    return slices;
  }
}
