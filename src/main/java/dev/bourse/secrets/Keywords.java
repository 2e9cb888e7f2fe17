package dev.bourse.secrets;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Finds the keywords of all rules in bytes, at a cost nearly independent of their number.
 *
 * <p>Every keyword has at least four bytes, so three consecutive bytes of it start at an even
 * place. The search hashes the three bytes at each even place and looks them up in a table of
 * 65,536 bits that stays in the first-level cache. It skips the odd places, and nearly all even
 * ones fail the look-up; the rest are compared byte by byte.
 */
final class Keywords {
  /** Bytes that may be read past the last place of a search. */
  static final int MARGIN = 8;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int THREE_BYTES = 0xffffff;
  private static final int SPREAD = 0x9E3779B1;
  private static final int SHORTEST = 4;

  private final long[] bits = new long[1024];

  /** The first entry for the hash of a keyword's first four bytes; 0 for none. */
  private final short[] first = new short[65536];

  private final byte[][] words;
  private final int[] rules;

  /** The next entry with the same hash; 0 for none. */
  private final int[] following;

  private record RuleKeyword(String keyword, int rule) {}

  /**
   * The keywords of each rule, by the rule's index. At the same place, keywords of earlier rules
   * come first.
   */
  Keywords(List<List<String>> keywordsByRule) {
    List<RuleKeyword> entries = new ArrayList<>();
    for (int rule = 0; rule < keywordsByRule.size(); rule++) {
      for (String keyword : keywordsByRule.get(rule)) {
        if (keyword.length() < SHORTEST) {
          throw new IllegalArgumentException(keyword + " is too short to be found");
        }
        entries.add(new RuleKeyword(keyword, rule));
      }
    }
    words = new byte[entries.size() + 1][];
    rules = new int[entries.size() + 1];
    following = new int[entries.size() + 1];
    // Each chain is built from its end, so that the earlier rule comes first.
    for (int i = entries.size(); i >= 1; i--) {
      RuleKeyword entry = entries.get(i - 1);
      byte[] word = entry.keyword.getBytes(StandardCharsets.ISO_8859_1);
      int four = (int) INT.get(word, 0);
      words[i] = word;
      rules[i] = entry.rule;
      following[i] = first[hash(four)];
      first[hash(four)] = (short) i;
      mark(hash(four & THREE_BYTES));
      mark(hash(four >>> 8));
    }
  }

  private void mark(int hash) {
    bits[hash >>> 6] |= 1L << hash;
  }

  /**
   * The first place at an even distance from {@code from} where a keyword may start, or one byte
   * after its start; {@code limit} or one more when there is none.
   */
  int next(byte[] bytes, int from, int limit) {
    long[] table = bits;
    int i = from;
    for (; i < limit; i += 2) {
      int hash = hash((int) INT.get(bytes, i) & THREE_BYTES);
      if ((table[hash >>> 6] & 1L << hash) != 0) {
        return i;
      }
    }
    return i;
  }

  /** The first entry for the bytes at a place; 0 for none. */
  int first(byte[] bytes, int start) {
    return first[hash((int) INT.get(bytes, start))];
  }

  /** The entry to compare after this one; 0 for none. */
  int following(int entry) {
    return following[entry];
  }

  /** Whether the entry's keyword is at a place and ends before a limit. */
  boolean isAt(int entry, byte[] bytes, int start, int to) {
    byte[] word = words[entry];
    return start + word.length <= to
        && Arrays.equals(bytes, start, start + word.length, word, 0, word.length);
  }

  int rule(int entry) {
    return rules[entry];
  }

  int length(int entry) {
    return words[entry].length;
  }

  private static int hash(int bytes) {
    return (bytes * SPREAD) >>> 16;
  }
}
