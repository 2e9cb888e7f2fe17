package dev.bourse.secrets;

import dev.bourse.secrets.SecretScan.Finding;
import java.util.Optional;

/**
 * Converts UTF-16 text, with or without a byte-order mark, as Windows editors and shells save it.
 * Credentials are ASCII, so each ASCII character becomes one byte and all others a byte that no
 * rule matches.
 */
final class Utf16Layer implements SecretLayer {
  private static final byte OTHER = (byte) 0xff;

  /** The byte-order marks, as the first two bytes. */
  private static final int LITTLE = 0xfffe;

  private static final int BIG = 0xfeff;

  /** Characters that are enough to recognize text without a mark. */
  private static final int SHORTEST = 16;

  private static final int PIECE = 16 * 1024;

  private final SecretScan scan;
  private final boolean isBigEndian;
  private final byte[] text = new byte[PIECE];
  private boolean isOdd;
  private int half;

  private Utf16Layer(String name, boolean isBigEndian, int depth, Unpacking unpacking) {
    this.scan = SecretScan.ofLayer(name, depth + 1, unpacking);
    this.isBigEndian = isBigEndian;
  }

  /** Whether a file with these first bytes, at least two, is UTF-16 text. */
  static boolean isText(byte[] head, int length) {
    int mark = mark(head);
    return mark == LITTLE || mark == BIG || isText(head, length, 0) || isText(head, length, 1);
  }

  private static int mark(byte[] head) {
    return (head[0] & 0xff) << 8 | (head[1] & 0xff);
  }

  /** The layer of a file for which {@link #isText} holds. */
  static Utf16Layer of(String name, byte[] head, int length, int depth, Unpacking unpacking) {
    boolean isBig = mark(head) == BIG || (mark(head) != LITTLE && isText(head, length, 1));
    return new Utf16Layer(name, isBig, depth, unpacking);
  }

  /** Whether nearly every second byte, from {@code first} on, is ASCII and the rest 0. */
  private static boolean isText(byte[] head, int length, int first) {
    int characters = length / 2;
    int ascii = 0;
    for (int i = 0; i < characters; i++) {
      int low = head[2 * i + first];
      int high = head[2 * i + 1 - first];
      ascii += high == 0 && (low >= ' ' || low == '\n' || low == '\r' || low == '\t') ? 1 : 0;
    }
    return characters >= SHORTEST && ascii * 10 >= characters * 9;
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

  /** The byte-order mark counts as a character. */
  private static Optional<Finding> placed(Optional<Finding> found) {
    return found.map(
        one -> one.member().isEmpty() ? new Finding(one.rule(), 2 * one.offset()) : one);
  }
}
