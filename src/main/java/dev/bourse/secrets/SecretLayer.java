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
    if (Utf16Layer.isText(head, length)) {
      return unpacking.addLayer() ? Utf16Layer.of(name, head, length, depth, unpacking) : null;
    }
    boolean isBzip2 = begins(head, length, "BZh") && length > 4 && head[4] == 0x31;
    boolean isXz = begins(head, length, "\3757zXZ\0");
    boolean isGzip = begins(head, length, "\37\213");
    boolean isZip = begins(head, length, "PK\3\4");
    boolean isTar = TarLayer.isTar(head, length);
    if (!(isBzip2 || isXz || isGzip || isZip || isTar) || !unpacking.addLayer()) {
      return null;
    }
    if (isBzip2) {
      return SlowLayer.ofBzip2(name, depth, unpacking);
    }
    if (isXz) {
      return SlowLayer.ofXz(name, depth, unpacking);
    }
    if (isGzip) {
      return new GzipLayer(name, depth, unpacking);
    }
    return isZip ? new ZipLayer(depth, unpacking) : new TarLayer(depth, unpacking);
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
