package dev.bourse.secrets;

import dev.bourse.secrets.SecretScan.Finding;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a file holds in another form than its own bytes, which is looked into beside them while it
 * arrives: text of two bytes a character, or what is packed. One at a time uses it, as with {@link
 * SecretScan}.
 */
interface SecretLayer {
  /** The bytes of a file that tell its kind: a tar is known by what stands at byte 257. */
  int HEAD = 512;

  /** Takes the next bytes of the file, the first ones included. */
  Optional<Finding> inspect(byte[] bytes, int from, int to);

  /** There are no more; what it holds is given back. */
  Optional<Finding> end();

  /**
   * The layer of a file that begins so; null when it has none.
   *
   * @param name the plain name of the file
   * @param depth layers that this one is within
   */
  static @Nullable SecretLayer of(
      String name, byte[] head, int length, int depth, Unpacking unpacking) {
    if (depth >= Unpacking.DEPTH || length < 2) {
      return null;
    }
    Utf16Layer text = Utf16Layer.of(name, head, length, depth, unpacking);
    if (text != null) {
      return text;
    }
    if (begins(head, length, "\37\213")) {
      return new GzipLayer(name, depth, unpacking);
    }
    if (begins(head, length, "PK\3\4")) {
      return new ZipLayer(depth, unpacking);
    }
    if (begins(head, length, "BZh") && length > 4 && head[4] == 0x31) {
      return SlowLayer.ofBzip2(name, depth, unpacking);
    }
    if (begins(head, length, "\3757zXZ\0")) {
      return SlowLayer.ofXz(name, depth, unpacking);
    }
    return TarLayer.isTar(head, length) ? new TarLayer(depth, unpacking) : null;
  }

  private static boolean begins(byte[] head, int length, String mark) {
    if (length < mark.length()) {
      return false;
    }
    for (int i = 0; i < mark.length(); i++) {
      if ((head[i] & 0xff) != mark.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
