package dev.bourse.blob;

/**
 * Sees every byte of an upload once, in order. It is called from worker threads, by one at a time,
 * and what it did in one call is visible in the next and to whoever hears of the append's result.
 */
@FunctionalInterface
public interface Inspector {
  /**
   * Sees the next bytes. Their borders mean nothing: the second time an upload is opened they fall
   * elsewhere.
   *
   * @param bytes not to be kept nor changed
   * @throws RuntimeException to reject them: nothing of them is stored, and the append or the
   *     opening fails with that exception
   */
  void inspect(byte[] bytes, int from, int to);
}
