package dev.bourse.core;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list.
 *
 * @param items the page's items, in the list's order
 * @param more whether the list goes on after them
 */
public record Page<T>(List<T> items, boolean more) {
  public Page {
    items = List.copyOf(items);
  }

  /** The page's last item; the page must not be empty. */
  public T last() {
    return items.get(items.size() - 1);
  }

  /**
   * Returns the cursor of the next page; null at the end.
   *
   * @param key the value of an item after which the next page begins
   */
  public @Nullable String next(Function<T, String> key) {
    return more ? key.apply(last()) : null;
  }

  /** A page of at most {@code size} items from a read that fetched one more. */
  public static <T> Page<T> of(List<T> fetched, int size) {
    return fetched.size() > size
        ? new Page<>(fetched.subList(0, size), true)
        : new Page<>(fetched, false);
  }
}
