package dev.bourse.contract;

import dev.bourse.core.Text;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Paths and percent-encoding, RFC 3986 sections 2.1, 2.3, 3.3 and 6.2.2. */
public final class PercentEncoding {
  private PercentEncoding() {}

  /**
   * Whether a request path is in normal form, which every server on the way reads alike: absolute,
   * with no empty, {@code .} or {@code ..} segment, and no percent-encoding that is malformed,
   * needless or hides a slash.
   */
  public static boolean isNormal(String path) {
    int length = path.length();
    if (length == 0 || path.charAt(0) != '/') {
      return false;
    }
    for (int i = 0; i < length; i++) {
      char c = path.charAt(i);
      if (c == '/') {
        if (!isNormalSegment(path, i + 1)) {
          return false;
        }
      } else if (c == '%') {
        int octet = octet(path, i);
        if (octet < 0 || octet == '/' || octet == '\\' || isUnreserved(octet)) {
          return false;
        }
        i += 2;
      } else if (c <= ' ' || c >= 0x7f || c == '\\') {
        return false;
      }
    }
    return true;
  }

  /** Whether a segment is neither dots alone nor empty; the root path is one empty segment. */
  private static boolean isNormalSegment(String path, int start) {
    int length = path.length();
    if (start == length) {
      return length == 1;
    }
    char first = path.charAt(start);
    if (first == '/') {
      return false;
    }
    if (first != '.') {
      return true;
    }
    int after = start + 1 < length && path.charAt(start + 1) == '.' ? start + 2 : start + 1;
    return after < length && path.charAt(after) != '/';
  }

  /** The text decoded once; empty if an escape is malformed or the bytes are not valid text. */
  static Optional<String> decode(String encoded, boolean plusIsSpace) {
    if (encoded.indexOf('%') < 0 && encoded.indexOf('+') < 0) {
      return Optional.of(encoded);
    }
    byte[] bytes = encoded.getBytes(StandardCharsets.UTF_8);
    int size = 0;
    for (int i = 0; i < bytes.length; i++) {
      byte b = bytes[i];
      if (b == '%') {
        int octet = octet(bytes, i);
        if (octet < 0) {
          return Optional.empty();
        }
        bytes[size++] = (byte) octet;
        i += 2;
      } else {
        bytes[size++] = b == '+' && plusIsSpace ? (byte) ' ' : b;
      }
    }
    try {
      return Optional.of(
              StandardCharsets.UTF_8
                  .newDecoder()
                  .decode(ByteBuffer.wrap(bytes, 0, size))
                  .toString())
          .filter(Text::isStorable);
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  private static boolean isUnreserved(int octet) {
    return (octet >= 'a' && octet <= 'z')
        || (octet >= 'A' && octet <= 'Z')
        || (octet >= '0' && octet <= '9')
        || octet == '-'
        || octet == '.'
        || octet == '_'
        || octet == '~';
  }

  private static int octet(String text, int percent) {
    if (percent + 2 >= text.length()) {
      return -1;
    }
    return octet(text.charAt(percent + 1), text.charAt(percent + 2));
  }

  private static int octet(byte[] text, int percent) {
    if (percent + 2 >= text.length) {
      return -1;
    }
    return octet((char) text[percent + 1], (char) text[percent + 2]);
  }

  private static int octet(char first, char second) {
    int high = Character.digit(first, 16);
    int low = Character.digit(second, 16);
    return first > 'f' || second > 'f' || high < 0 || low < 0 ? -1 : high << 4 | low;
  }
}
