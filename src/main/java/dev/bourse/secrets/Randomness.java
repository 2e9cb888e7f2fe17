package dev.bourse.secrets;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Distinguishes random secrets from placeholders that people write: {@code hf_your_token_here},
 * {@code xxxxxxxx}, {@code 1234567890}, {@code AutoModelForSequenceClassification}.
 *
 * <p>Each scan needs its own instance, because it reuses a table for counting.
 */
final class Randomness {
  /** Characters judged: more would add no evidence, and the bound limits the work. */
  static final int JUDGED = 64;

  /**
   * Longest run of one character: a random base-62 text of 34 characters exceeds it once in 10^8.
   */
  private static final int ALIKE = 6;

  /** Longest ascending run, such as {@code 345678}, with the same probability. */
  private static final int ASCENDING = 6;

  /**
   * Least bits per character (Shannon). 20 random hexadecimal digits have 3.5 with a deviation of
   * 0.2, 20 letters of English 3.4: entropy only detects repetition, while words are detected by
   * their pairs.
   */
  private static final double ENTROPY = 3.0;

  private static final double ENTROPY_OF_SHORT = 2.5;
  private static final int SHORT = 20;

  /**
   * The most frequent pairs of English letters: some 75 % of the pairs in words and identifiers, 19
   * % of random ones.
   */
  private static final String PAIRS =
      """
      th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se \
      le sa si ar ve ra ld ur ne ta ic me ro ri li io co ll ma be ec om us ch di el fo ho la lo \
      na ot pe pr so ss tr un ut wi ac ad ce ee em ge ke mo no oo op po pa ct id im am da mi ol \
      rs sh su ul up ca ab ag ck cl cr do ex fi fr gr mp my ni ns pl qu rt ry sc sp ty ub um wa \
      we wo yo\
      """;

  private static final String[] PLACEHOLDERS = {
    "example", "your", "change", "placeholder", "dummy", "redact", "insert", "replace", "sample",
    "xxxx", "fake", "secret", "token", "default", "foobar", "passw", "todo", "here"
  };

  /** Indexed by first letter, so that one pass over a text is enough. */
  private static final byte[][][] PLACEHOLDERS_BY_FIRST = new byte[26][][];

  private static final int[] COMMON = new int[26];
  private static final double[] TIMES_LOG = new double[JUDGED + 1];

  static {
    for (String pair : PAIRS.split(" ", -1)) {
      COMMON[pair.charAt(0) - 'a'] |= 1 << (pair.charAt(1) - 'a');
    }
    for (int letter = 0; letter < 26; letter++) {
      char first = (char) ('a' + letter);
      PLACEHOLDERS_BY_FIRST[letter] =
          Arrays.stream(PLACEHOLDERS)
              .filter(word -> word.charAt(0) == first)
              .map(word -> word.getBytes(StandardCharsets.ISO_8859_1))
              .toArray(byte[][]::new);
    }
    for (int n = 1; n <= JUDGED; n++) {
      TIMES_LOG[n] = n * Math.log(n) / Math.log(2);
    }
  }

  private final int[] counts = new int[256];

  /** Whether the text, or its first {@value #JUDGED} characters, may be a machine's secret. */
  boolean isRandom(byte[] bytes, int from, int to) {
    int end = Math.min(to, from + JUDGED);
    return isVaried(bytes, from, end)
        && !isPattern(bytes, from, end)
        && !isWords(bytes, from, end)
        && !isPlaceholder(bytes, from, end);
  }

  /**
   * Whether the text has the entropy of a secret; keys in binary formats pass despite their zeros.
   */
  boolean isVaried(byte[] bytes, int from, int to) {
    int end = Math.min(to, from + JUDGED);
    int length = end - from;
    if (length <= 0) {
      return false;
    }
    for (int i = from; i < end; i++) {
      counts[bytes[i] & 0xff]++;
    }
    double sum = 0;
    for (int i = from; i < end; i++) {
      int at = bytes[i] & 0xff;
      sum += TIMES_LOG[counts[at]];
      counts[at] = 0;
    }
    double entropy = (TIMES_LOG[length] - sum) / length;
    return entropy >= (length < SHORT ? ENTROPY_OF_SHORT : ENTROPY);
  }

  /** Whether the text contains a common placeholder word. */
  static boolean isPlaceholder(byte[] bytes, int from, int to) {
    for (int i = from; i < to - 3; i++) {
      int letter = (bytes[i] | 0x20) - 'a';
      if (letter >= 0 && letter < 26) {
        for (byte[] word : PLACEHOLDERS_BY_FIRST[letter]) {
          if (isThere(word, bytes, i, to)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static boolean isThere(byte[] word, byte[] bytes, int at, int to) {
    if (to - at < word.length) {
      return false;
    }
    for (int i = 1; i < word.length; i++) {
      if ((bytes[at + i] | 0x20) != word[i]) {
        return false;
      }
    }
    return true;
  }

  private static boolean isPattern(byte[] bytes, int from, int to) {
    int alike = 1;
    int ascending = 1;
    for (int i = from + 1; i < to; i++) {
      int step = bytes[i] - bytes[i - 1];
      alike = step == 0 ? alike + 1 : 1;
      ascending = step == 1 ? ascending + 1 : 1;
      if (alike == ALIKE || ascending == ASCENDING) {
        return true;
      }
    }
    return false;
  }

  private static boolean isWords(byte[] bytes, int from, int to) {
    int pairs = 0;
    int common = 0;
    int previous = -1;
    for (int i = from; i < to; i++) {
      int letter = (bytes[i] | 0x20) - 'a';
      if (letter < 0 || letter >= 26) {
        letter = -1;
      } else if (previous >= 0) {
        pairs++;
        common += COMMON[previous] >>> letter & 1;
      }
      previous = letter;
    }
    // In one of a thousand random texts with six pairs, five are common; in three of a thousand
    // with nine pairs, six are common. Texts with many digits are not words, and pairs of
    // hexadecimal letters are common pairs.
    return pairs >= 6 && pairs * 2 >= to - from && common * 10 >= pairs * (pairs < 9 ? 7 : 6);
  }
}
