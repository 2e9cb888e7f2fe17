package dev.bourse.secrets;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a file holds in another form than its own bytes, which is looked into beside them while it
 * arrives: text of two bytes a character, or what is packed. One at a time uses it, as with {@link
 * SecretScan}.
 */
interface SecretLayer {
  /** Takes the next bytes of the file, the first two included. */
  Optional<SecretScan.Finding> inspect(byte[] bytes, int from, int to);

  /** There are no more; what it holds is given back. */
  Optional<SecretScan.Finding> end();

  /**
   * The layer of a file that begins so; null when it has none.
   *
   * @param mayBePacked whether what is packed is looked into
   */
  static @Nullable SecretLayer of(String plainName, int first, int second, boolean mayBePacked) {
    if (first == 0xff && second == 0xfe) {
      return new Utf16Layer(plainName, false);
    }
    if (first == 0xfe && second == 0xff) {
      return new Utf16Layer(plainName, true);
    }
    return mayBePacked && first == 0x1f && second == 0x8b ? new GzipLayer(plainName) : null;
  }
}
