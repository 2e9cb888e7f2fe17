package dev.bourse.secrets;

import static dev.bourse.secrets.SecretText.BASE64;
import static dev.bourse.secrets.SecretText.BREAK;
import static dev.bourse.secrets.SecretText.EQUALS;
import static dev.bourse.secrets.SecretText.HEX;

import dev.bourse.secrets.SecretScan.Finding;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Scans base64 and hexadecimal text within a file, on one line or several. A run is decoded and
 * scanned if it starts as text, as a key or as a compressed file. Most runs are none of these:
 * checksums, images, weights.
 *
 * <p>The search probes one place in {@value #STRIDE}, so it finds every run of at least {@value
 * #SHORTEST} characters.
 */
final class EncodedRuns {
  private static final int STRIDE = 32;
  private static final int PROBE = 8;

  /** 27 bytes of base64; few credentials are shorter. */
  private static final int SHORTEST = STRIDE + PROBE;

  /** The number of decoded bytes that decide the kind of a run. */
  private static final int BEGINNING = 12;

  /** Most blanks, and escapes of blanks, between two lines of a run. */
  private static final int BETWEEN = 64;

  /** The least length of a line in multi-line text. */
  private static final int LINE = 60;

  private static final int PIECE = 8 * 1024;

  /** The value of each character, -1 for characters outside the alphabet. */
  private static final byte[] SIXES =
      values("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

  private static final byte[] FOURS = values("0123456789abcdef");

  static {
    for (char c = 'A'; c <= 'F'; c++) {
      FOURS[c] = FOURS[c | 0x20];
    }
  }

  private static byte[] values(String alphabet) {
    byte[] values = new byte[256];
    Arrays.fill(values, (byte) -1);
    for (int i = 0; i < alphabet.length(); i++) {
      values[alphabet.charAt(i)] = (byte) i;
    }
    return values;
  }

  /** The end of a run of one alphabet, up to a limit. */
  private static int end(byte[] bytes, byte[] alphabet, int from, int limit) {
    int i = from;
    while (i < limit && alphabet[bytes[i] & 0xff] >= 0) {
      i++;
    }
    return i;
  }

  private final int depth;
  private final Unpacking unpacking;
  private @Nullable SecretScan scan;
  private final byte[] decoded;
  private int length;

  /** The offset in the file up to which the search has looked. */
  private long next;

  /** The offset of the run that is being decoded; -1 if there is none. */
  private long start = -1;

  /** The end of the previous run; the next one cannot start before it. */
  private long behind;

  /** Whether the last run continues beyond the limit and is not worth scanning. */
  private boolean isPassing;

  private boolean isHexadecimal;
  private int bits;
  private int bitCount;

  /**
   * @param capacity the number of bytes inspected at once
   */
  EncodedRuns(int depth, Unpacking unpacking, int capacity) {
    decoded = new byte[Math.min(PIECE, Math.max(capacity, BEGINNING))];
    this.depth = depth;
    this.unpacking = unpacking;
  }

  void restart() {
    next = 0;
    start = -1;
    behind = 0;
    length = 0;
    isPassing = false;
  }

  /** The place in the buffer up to which the search has looked. */
  int place(long base) {
    return (int) (next - base);
  }

  /**
   * Inspects the next bytes of a buffer.
   *
   * @param base the offset in the file of the buffer's first byte
   * @param limit the place up to which to look
   * @param filled the place up to which the buffer is filled
   */
  Optional<Finding> inspect(SecretText text, long base, int limit, int filled, boolean isEnd) {
    text.look(Math.max(0, (int) (next - base)), filled, base);
    Optional<Finding> found = Optional.empty();
    int i = (int) (next - base);
    while (i < limit && found.isEmpty()) {
      if (start < 0) {
        i = find(text, base, i, limit, filled);
      } else {
        int end = decode(text.bytes, i, limit);
        i = end;
        if (end < limit) {
          text.look(end, filled, base);
          i = nextLine(text, end, filled);
          found = i < 0 ? finish() : flush();
          i = i < 0 ? end : i;
          behind = base + end;
        }
      }
      next = base + i;
      text.look(Math.max(0, i), filled, base);
    }
    if (isEnd && found.isEmpty() && start >= 0) {
      found = finish();
    }
    return found;
  }

  /** The start of the next run worth scanning, or the limit. */
  private int find(SecretText text, long base, int from, int limit, int filled) {
    byte[] bytes = text.bytes;
    int i = isPassing ? pass(bytes, base, from, limit) : from;
    i += (int) Math.floorMod(-(base + i), (long) STRIDE);
    for (; i < limit && i + PROBE <= filled; i += STRIDE) {
      if (!isRun(bytes, i)) {
        continue;
      }
      int first = i;
      int least = Math.max(i - STRIDE, (int) Math.max(behind - base, 0));
      while (first > least && SIXES[bytes[first - 1] & 0xff] >= 0) {
        first--;
      }
      int shortest = first + SHORTEST;
      int end = end(bytes, SIXES, i + PROBE, Math.min(shortest, filled));
      if (end == shortest && begin(bytes, first, base)) {
        return first;
      }
      end = pass(bytes, base, i, limit);
      i += Math.max(0, end - i - 1) / STRIDE * STRIDE;
    }
    return limit;
  }

  /** The end of a run that is not worth scanning, or the limit. */
  private int pass(byte[] bytes, long base, int from, int limit) {
    int i = from;
    int end = end(bytes, SIXES, i, limit);
    // Skips all lines of one text, because the first decides its kind.
    while (end < limit && end - i >= LINE && (bytes[end] == '\n' || bytes[end] == '\r')) {
      i = end;
      while (i < limit && (bytes[i] == '\n' || bytes[i] == '\r')) {
        i++;
      }
      end = end(bytes, SIXES, i, limit);
    }
    isPassing = end == limit;
    behind = base + end;
    return end;
  }

  private static boolean isRun(byte[] bytes, int from) {
    for (int i = from + PROBE - 1; i >= from; i--) {
      if (SIXES[bytes[i] & 0xff] < 0) {
        return false;
      }
    }
    return true;
  }

  /** Whether a run starts with text, a key or a compressed file. */
  private boolean begin(byte[] bytes, int first, long base) {
    isHexadecimal = end(bytes, FOURS, first, first + SHORTEST) == first + SHORTEST;
    length = 0;
    bits = 0;
    bitCount = 0;
    decode(bytes, first, first + (isHexadecimal ? 2 * BEGINNING : BEGINNING / 3 * 4));
    boolean isWorth = isWorth();
    length = 0;
    bits = 0;
    bitCount = 0;
    start = isWorth ? base + first : -1;
    return isWorth;
  }

  private boolean isWorth() {
    int first = decoded[0] & 0xff;
    int second = decoded[1] & 0xff;
    boolean isPacked =
        (first == 0x1f && second == 0x8b)
            || (first == 'P' && second == 'K')
            || (first == 0xfd && second == '7')
            || (first == 0xff && second == 0xfe)
            || (first == 0xfe && second == 0xff);
    boolean isKey =
        first == 0x30 && (second == 0x82 || second == 0x81 || (second < 0x80 && decoded[2] == 2));
    return isPacked || isKey || isText(0, 1, 1) || isText(0, 2, 1) || isText(1, 2, 0);
  }

  /** Whether all characters are ASCII, with {@code step} bytes each. */
  private boolean isText(int first, int step, int other) {
    for (int i = first; i < BEGINNING; i += step) {
      int c = decoded[i];
      boolean isCharacter = c >= ' ' || c == '\n' || c == '\r' || c == '\t';
      if (!isCharacter || (step == 2 && decoded[i - first + other] != 0)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Decodes up to the run's end, the limit or a full buffer, and returns the place where it
   * stopped.
   */
  private int decode(byte[] bytes, int from, int limit) {
    int i = from;
    byte[] alphabet = isHexadecimal ? FOURS : SIXES;
    int width = isHexadecimal ? 4 : 6;
    while (i < limit && length < decoded.length) {
      int value = alphabet[bytes[i] & 0xff];
      if (value < 0) {
        break;
      }
      bits = bits << width | value;
      bitCount += width;
      if (bitCount >= 8) {
        bitCount -= 8;
        decoded[length++] = (byte) (bits >>> bitCount);
      }
      i++;
    }
    return i;
  }

  /** The place where the run continues on the next line; -1 when it ends. */
  private int nextLine(SecretText text, int end, int filled) {
    if (length == decoded.length && text.is(end, isHexadecimal ? HEX : BASE64)) {
      return end;
    }
    if (text.is(end, EQUALS) || !(text.is(end, BREAK) || text.at(end) == '\\')) {
      return -1;
    }
    int line = text.skipBlanks(end, end + BETWEEN);
    int kind = isHexadecimal ? HEX : BASE64;
    return line > end
            && line + PROBE <= filled
            && text.run(line, kind, line + PROBE) == line + PROBE
        ? line
        : -1;
  }

  private Optional<Finding> flush() {
    if (scan == null) {
      scan = SecretScan.ofLayer("", depth + 1, unpacking);
    }
    unpacking.addUnpacked(length, 1);
    Optional<Finding> found = scan.inspect(decoded, 0, length);
    length = 0;
    return placed(found);
  }

  /** Ends the run and judges the rest of it. */
  private Optional<Finding> finish() {
    Optional<Finding> found = flush();
    SecretScan ended = scan;
    if (ended != null) {
      found = found.isPresent() ? found : placed(ended.end());
      ended.restart("", true);
    }
    start = -1;
    return found;
  }

  private Optional<Finding> placed(Optional<Finding> found) {
    return found.map(one -> new Finding(one.rule(), start, one.member()));
  }
}
