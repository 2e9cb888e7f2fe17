package dev.bourse.secrets;

import dev.bourse.secrets.SecretScan.Finding;
import java.util.Optional;

/**
 * Text in UTF-16 that begins with a byte-order mark, as editors on Windows save it. Credentials are
 * ASCII, so each character becomes one byte and what is not ASCII becomes one that no rule knows.
 */
final class Utf16Layer implements SecretLayer {
  private static final byte OTHER = (byte) 0xff;
  private static final int PIECE = 16 * 1024;

  private final SecretScan scan;
  private final boolean isBigEndian;
  private final byte[] text = new byte[PIECE];
  private boolean isOdd;
  private int half;

  Utf16Layer(String plainName, boolean isBigEndian) {
    this.scan = SecretScan.ofLayer(plainName);
    this.isBigEndian = isBigEndian;
  }

  @Override
  public Optional<Finding> inspect(byte[] bytes, int from, int to) {
    Optional<Finding> found = Optional.empty();
    int i = from;
    while (i < to && found.isEmpty()) {
      int length = 0;
      if (isOdd) {
        text[length++] = character(half, bytes[i++] & 0xff);
        isOdd = false;
      }
      for (; i + 1 < to && length < PIECE; i += 2) {
        text[length++] = character(bytes[i] & 0xff, bytes[i + 1] & 0xff);
      }
      if (i + 1 == to) {
        half = bytes[i++] & 0xff;
        isOdd = true;
      }
      found = placed(scan.inspect(text, 0, length));
    }
    return found;
  }

  private byte character(int first, int second) {
    int high = isBigEndian ? first : second;
    int low = isBigEndian ? second : first;
    return high == 0 && low < 0x80 ? (byte) low : OTHER;
  }

  @Override
  public Optional<Finding> end() {
    return placed(scan.end());
  }

  /** The mark is a character as well. */
  private static Optional<Finding> placed(Optional<Finding> found) {
    return found.map(one -> new Finding(one.rule(), 2 * one.offset()));
  }
}
