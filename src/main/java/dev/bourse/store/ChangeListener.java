package dev.bourse.store;

/**
 * Hears what other processes changed in the same store. Of its own process's changes it hears only
 * those that were stored after their callers had been told that the outcome is unknown.
 */
public interface ChangeListener {
  /** A commit that carried this change is stored and visible to reads. May come more than once. */
  void changed(Change change);

  /** Changes may have gone unheard: everything read from the store is to be compared with it. */
  void missed();

  /**
   * All that was visible in the store at a moment has been told, by {@link #changed} or {@link
   * #missed}. Comes several times a second while the store answers.
   *
   * @param nanoTime that moment, as the process's monotonic clock has it
   */
  default void heardUntil(long nanoTime) {}
}
