package dev.bourse.secrets;

import dev.bourse.secrets.SecretScan.Finding;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Content of a file in another form than its own bytes, inspected alongside them while the file
 * arrives: UTF-16 text, compressed files and archives. Not thread-safe, like {@link SecretScan}.
 */
interface SecretLayer {
  /** The number of first bytes that identify a file's kind: a tar is recognized at byte 257. */
  int HEAD = 512;

  /** Inspects the next bytes of the file, from the first byte on. */
  Optional<Finding> inspect(byte[] bytes, int from, int to);

  /** Ends the file and releases resources. */
  Optional<Finding> end();

  /**
   * The layer for a file with these first bytes; null if there is none.
   *
   * @param name the plain name of the file
   * @param depth the number of enclosing layers
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
