package dev.bourse.store;

/**
 * Receives changes that other processes made in the same store. It receives a change of its own
 * process only if the change was stored after its caller had received an unknown outcome.
 */
public interface ChangeListener {
  /**
   * Reports a change whose commit is stored and visible to reads. May be called more than once per
   * change.
   */
  void changed(Change change);

  /**
   * Reports that changes may have been lost, so that everything read from the store has to be
   * compared with it.
   */
  void missed();

  /**
   * Reports that every change visible in the store at a moment has been reported by {@link
   * #changed} or {@link #missed}. Called several times a second while the store answers.
   *
   * @param nanoTime that moment, on the process's monotonic clock
   */
  default void heardUntil(long nanoTime) {}
}
