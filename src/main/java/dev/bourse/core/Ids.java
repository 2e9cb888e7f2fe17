package dev.bourse.core;

import java.math.BigInteger;
import java.util.random.RandomGenerator;

/** Random identifiers in base 62, from an injected source. */
public final class Ids {
  private static final String BASE62 =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

  private static final BigInteger BASE = BigInteger.valueOf(BASE62.length());

  private Ids() {}

  /** {@code length} random base-62 characters; each carries 5.95 bits. */
  public static String base62(RandomGenerator random, int length) {
    char[] id = new char[length];
    for (int i = 0; i < length; i++) {
      id[i] = BASE62.charAt(random.nextInt(62));
    }
    return new String(id);
  }

  /**
   * A non-negative number in base 62, padded with zeros on the left to {@code length} characters.
   */
  public static String base62(long number, int length) {
    char[] id = new char[length];
    long rest = number;
    for (int i = length - 1; i >= 0; i--) {
      id[i] = BASE62.charAt((int) (rest % 62));
      rest /= 62;
    }
    return new String(id);
  }

  /** The last {@code length} digits of a non-negative number in base 62. */
  static String base62(BigInteger number, int length) {
    char[] id = new char[length];
    BigInteger rest = number;
    for (int i = length - 1; i >= 0; i--) {
      BigInteger[] parts = rest.divideAndRemainder(BASE);
      id[i] = BASE62.charAt(parts[1].intValue());
      rest = parts[0];
    }
    return new String(id);
  }

  /** A random identifier with a prefix that names its kind: {@code key_4fQ…}. */
  public static String next(String prefix, RandomGenerator random) {
    return prefix + '_' + base62(random, 12);
  }
}
