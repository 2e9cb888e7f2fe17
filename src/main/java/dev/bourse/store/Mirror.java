package dev.bourse.store;

import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An in-memory copy of rows that other processes change too.
 *
 * <p>Callers send one request per key at a time, so an older read cannot overwrite a newer one.
 */
public interface Mirror {
  /**
   * The result of reading keys again.
   *
   * @param changed keys whose rows differed from the copy
   * @param left keys that could not be applied yet and have to be read again
   */
  record Refreshed(Set<String> changed, Set<String> left) {}

  /**
   * Reads keys from the store and applies their rows. Fails if the keys could not be read. Up to
   * some hundred keys come at once, and are one query.
   */
  Future<Refreshed> refresh(List<String> keys);

  /**
   * Returns whether the copy of a key is at least this version, so that nothing has to be read.
   * Called on any thread.
   */
  default boolean holds(String key, long version) {
    return false;
  }

  /**
   * Applies a row that came with a change, unless the copy is newer. Rows may arrive in any order,
   * and while others are read.
   *
   * @param row the {@link Change#row}; a process of another release may omit columns
   * @return false if the key has to be read instead
   */
  default Future<Boolean> apply(String key, String row) {
    return Future.succeededFuture(false);
  }

  /** Starts a comparison of all copies with all rows; applies nothing. */
  Comparison compare();

  /** A comparison of a whole mirror with the store, in slices. */
  interface Comparison {
    /**
     * Returns the keys of the next slice whose copies differ from their rows; empty after the last
     * slice. After a failure, the next call repeats the slice.
     */
    Future<Optional<List<String>>> next();
  }
}
