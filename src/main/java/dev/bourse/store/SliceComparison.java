package dev.bourse.store;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Compares rows with their copies in memory, in the order of their keys, one query per slice of
 * rows.
 */
public final class SliceComparison<R> implements Mirror.Comparison {
  /**
   * Rows of a slice: a few milliseconds for the engine, and less for the event loop that compares.
   */
  public static final int ROWS = 1_000;

  private final int rows;
  private final Function<String, Future<List<R>>> read;
  private final Function<R, String> key;
  private final Predicate<R> isHeld;
  private final Supplier<? extends Collection<String>> held;
  private final Set<String> seen = new HashSet<>();
  private String after = "";
  private boolean isOver;

  /**
   * @param read returns up to {@link #ROWS} rows whose keys follow a key, in order
   * @param isHeld whether the copy equals a row
   * @param held the keys of all copies; a copy without a row differs as well
   */
  public SliceComparison(
      Function<String, Future<List<R>>> read,
      Function<R, String> key,
      Predicate<R> isHeld,
      Supplier<? extends Collection<String>> held) {
    this(ROWS, read, key, isHeld, held);
  }

  /**
   * @param rows the most rows of a slice, for rows that are larger than most
   */
  public SliceComparison(
      int rows,
      Function<String, Future<List<R>>> read,
      Function<R, String> key,
      Predicate<R> isHeld,
      Supplier<? extends Collection<String>> held) {
    this.rows = rows;
    this.read = read;
    this.key = key;
    this.isHeld = isHeld;
    this.held = held;
  }

  @Override
  public Future<Optional<List<String>>> next() {
    if (isOver) {
      return Future.succeededFuture(Optional.empty());
    }
    return read.apply(after)
        .map(
            found -> {
              List<String> differing = new ArrayList<>();
              for (R row : found) {
                String of = key.apply(row);
                seen.add(of);
                after = of;
                if (!isHeld.test(row)) {
                  differing.add(of);
                }
              }
              if (found.size() < rows) {
                isOver = true;
                held.get().stream().filter(of -> !seen.contains(of)).forEach(differing::add);
              }
              return Optional.of(differing);
            });
  }
}
