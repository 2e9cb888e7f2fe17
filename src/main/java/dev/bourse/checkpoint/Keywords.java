package dev.bourse.checkpoint;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the keywords of all rules in bytes, at a cost that hardly depends on how many there are.
 *
 * <p>Every keyword has at least four bytes, so whatever place it starts at, three of them begin at
 * an even place: those three are looked up, hashed, in a table of 65,536 bits that stays in the
 * first-level cache. Half the places are never looked at, and nearly all others end there; what
 * passes is compared byte by byte.
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

  /** The first entry, and one more, of each hash; 0 for none. */
  private final short[] first = new short[65536];

  private final byte[][] entryWord;
  private final int[] entryRule;
  private final int[] entryDistance;
  private final int[] entryNext;

  private record Entry(String keyword, int rule, int distance) {}

  /** The keywords of each rule, by the rule's index; those of an earlier rule are found first. */
  Keywords(List<List<String>> keywordsByRule) {
    List<Entry> entries = new ArrayList<>();
    // Chains are built from the end: what starts earlier, then the earlier rule, comes out first.
    for (int distance = 0; distance <= 1; distance++) {
      for (int rule = keywordsByRule.size() - 1; rule >= 0; rule--) {
        for (String keyword : keywordsByRule.get(rule)) {
          if (keyword.length() < SHORTEST) {
            throw new IllegalArgumentException(keyword + " is too short to be found");
          }
          entries.add(new Entry(keyword, rule, distance));
        }
      }
    }
    entryWord = new byte[entries.size() + 1][];
    entryRule = new int[entries.size() + 1];
    entryDistance = new int[entries.size() + 1];
    entryNext = new int[entries.size() + 1];
    for (int i = 1; i <= entries.size(); i++) {
      Entry entry = entries.get(i - 1);
      int distance = entry.distance;
      byte[] word = entry.keyword.getBytes(StandardCharsets.ISO_8859_1);
      int three = word[distance] | word[distance + 1] << 8 | word[distance + 2] << 16;
      int hash = hash(three);
      entryWord[i] = word;
      entryRule[i] = entry.rule;
      entryDistance[i] = distance;
      entryNext[i] = first[hash];
      first[hash] = (short) i;
      bits[hash >>> 6] |= 1L << hash;
    }
  }

  /**
   * The first place at an even distance from {@code from} where a keyword may start, or one byte
   * after its start; {@code limit} or one more when there is none.
   */
  int next(byte[] bytes, int from, int limit) {
    long[] table = bits;
    int i = from;
    for (; i < limit; i += 2) {
      int hash = hash((int) INT.get(bytes, i));
      if ((table[hash >>> 6] & 1L << hash) != 0) {
        return i;
      }
    }
    return i;
  }

  /** The first entry to compare at a place found; 0 for none. */
  int first(byte[] bytes, int place) {
    return first[hash((int) INT.get(bytes, place))];
  }

  /** The entry to compare after another; 0 for none. */
  int after(int entry) {
    return entryNext[entry];
  }

  /** Where the entry's keyword starts, -1 when it is not there or not within the bytes given. */
  int start(int entry, byte[] bytes, int place, int to) {
    byte[] word = entryWord[entry];
    int start = place - entryDistance[entry];
    if (start < 0 || start + word.length > to) {
      return -1;
    }
    for (int i = 0; i < word.length; i++) {
      if (bytes[start + i] != word[i]) {
        return -1;
      }
    }
    return start;
  }

  int rule(int entry) {
    return entryRule[entry];
  }

  int length(int entry) {
    return entryWord[entry].length;
  }

  private static int hash(int bytes) {
    return ((bytes & THREE_BYTES) * SPREAD) >>> 16;
  }
}
