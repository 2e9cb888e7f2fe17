package dev.bourse.core;

import java.util.ArrayList;
import java.util.List;

/** A long list in parts that a query or a commit can take. */
public final class Slices {
  private Slices() {}

  /**
   * Its parts in order, views of the list.
   *
   * @param most how many a part has; the last may have fewer
   */
  public static <T> List<List<T>> of(List<T> all, int most) {
    List<List<T>> slices = new ArrayList<>();
    for (int from = 0; from < all.size(); from += most) {
      slices.add(all.subList(from, Math.min(all.size(), from + most)));
    }
    return slices;
  }
}
