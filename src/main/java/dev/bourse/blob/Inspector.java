package dev.bourse.blob;

/**
 * Sees every byte of an upload once, in order. Worker threads call it one at a time, and the
 * effects of one call are visible to the next call and to the code that receives the append's
 * result.
 */
@FunctionalInterface
public interface Inspector {
  /**
   * Inspects the next bytes. Block boundaries have no meaning; they differ when the upload is
   * opened again.
   *
   * @param bytes must not be kept or changed
   * @throws RuntimeException to reject the bytes: none of them is stored, and the append or the
   *     opening fails with that exception
   */
  void inspect(byte[] bytes, int from, int to);
}
