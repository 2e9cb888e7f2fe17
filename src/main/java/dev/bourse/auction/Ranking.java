package dev.bourse.auction;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The order of clusters in the auction: ceiling descending, older price, name. */
final class Ranking {
  private Ranking() {}

  /** Returns the bidders in order; the order they come in does not matter. */
  static Bidder[] rank(List<Bidder> bidders) {
    Bidder[] unranked = bidders.toArray(new Bidder[0]);
    long[] ages = new long[unranked.length];
    long[] discounts = new long[unranked.length];
    int[] order = new int[unranked.length];
    for (int i = 0; i < unranked.length; i++) {
      ages[i] = unranked[i].pricedAtMillis();
      discounts[i] = -unranked[i].ceilingCents();
      order[i] = i;
    }
    sort(order, ages);
    sortEqualAgesByName(order, ages, unranked);
    sort(order, discounts);
    Bidder[] ranked = new Bidder[unranked.length];
    for (int i = 0; i < ranked.length; i++) {
      ranked[i] = unranked[order[i]];
    }
    return ranked;
  }

  /**
   * Sorts indices by their keys, ascending and stable.
   *
   * <p>Key and position are packed into one long, since sorting those is several times faster than
   * comparing objects.
   */
  private static void sort(int[] order, long[] keys) {
    int positionBits = Integer.SIZE - Integer.numberOfLeadingZeros(order.length);
    long[] small = smallKeys(keys, Long.SIZE - 1 - positionBits);
    long[] packed = new long[order.length];
    for (int i = 0; i < order.length; i++) {
      packed[i] = small[order[i]] << positionBits | i;
    }
    Arrays.sort(packed);
    int[] before = order.clone();
    long position = (1L << positionBits) - 1;
    for (int i = 0; i < order.length; i++) {
      order[i] = before[(int) (packed[i] & position)];
    }
  }

  /** Keys in the same order, from 0 on, that fit some bits, at least enough to count the keys. */
  private static long[] smallKeys(long[] keys, int bits) {
    long lowest = Arrays.stream(keys).min().orElse(0);
    long highest = Arrays.stream(keys).max().orElse(0);
    if ((highest - lowest) >>> bits == 0) {
      return Arrays.stream(keys).map(key -> key - lowest).toArray();
    }
    long[] sorted = keys.clone();
    Arrays.sort(sorted);
    return Arrays.stream(keys).map(key -> Arrays.binarySearch(sorted, key)).toArray();
  }

  private static void sortEqualAgesByName(int[] order, long[] ages, Bidder[] bidders) {
    int from = 0;
    for (int to = 1; to <= order.length; to++) {
      if (to < order.length && ages[order[to]] == ages[order[from]]) {
        continue;
      }
      if (to - from > 1) {
        int[] byName =
            Arrays.stream(order, from, to)
                .boxed()
                .sorted(Comparator.comparing((Integer i) -> bidders[i].cluster()))
                .mapToInt(Integer::intValue)
                .toArray();
        System.arraycopy(byName, 0, order, from, byName.length);
      }
      from = to;
    }
  }
}
