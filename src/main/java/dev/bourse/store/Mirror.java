package dev.bourse.store;

import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a process holds in memory of rows that other processes change too.
 *
 * <p>Nothing here is asked for a key before the answer to the question before, so what was read
 * first never comes last.
 */
public interface Mirror {
  /**
   * What became of keys that were read anew.
   *
   * @param changed those whose rows were not as they were held
   * @param left those that could not be put in force yet, and are to be read again
   */
  record Refreshed(Set<String> changed, Set<String> left) {}

  /**
   * Reads these keys anew and puts what is stored in force; fails when they could not be read. Some
   * hundred keys come at once, and are one query.
   */
  Future<Refreshed> refresh(List<String> keys);

  /**
   * Whether what is held of a key is as new as this version of it, so that nothing has to be read.
   * Called on any thread.
   */
  default boolean holds(String key, long version) {
    return false;
  }

  /**
   * Puts a row in force that came with word of its change, unless what is held is newer. Rows may
   * come in any order, and while others are read.
   *
   * @param row as {@link Change#row} has it; one of a process of another release may lack something
   * @return false when the key must be read instead
   */
  default Future<Boolean> show(String key, String row) {
    return Future.succeededFuture(false);
  }

  /** Begins to compare all that is held with all that is stored; puts nothing in force. */
  Comparison compare();

  /** All of a mirror against the store, a slice at a time. */
  interface Comparison {
    /**
     * The keys of the next slice that are not held as they are stored; empty past the last slice. A
     * failure leaves it where it was.
     */
    Future<Optional<List<String>>> next();
  }
}
