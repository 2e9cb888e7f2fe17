package dev.bourse.auction;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The order of clusters in the auction: ceiling descending, older price, name. */
final class Ranking {
  /** A pass of the radix sort orders by so many bits; their counts fit the first-level cache. */
  private static final int DIGIT_BITS = 11;

  private static final int DIGITS = 1 << DIGIT_BITS;

  private Ranking() {}

  /**
   * Returns each bidder's place in the order. Equal bids are ordered by name, so the order in which
   * the bidders come does not matter.
   */
  static int[] places(List<Bidder> bidders) {
    int count = bidders.size();
    long[] ages = new long[count];
    long[] discounts = new long[count];
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      Bidder bidder = bidders.get(i);
      ages[i] = bidder.pricedAtMillis();
      discounts[i] = -bidder.ceilingCents();
      order[i] = i;
    }
    order = sort(order, ages);
    sortEqualAgesByName(order, ages, bidders);
    order = sort(order, discounts);
    int[] places = new int[count];
    for (int i = 0; i < count; i++) {
      places[order[i]] = i;
    }
    return places;
  }

  /**
   * Returns the indices sorted by their keys, ascending and stable. A radix sort takes a fraction
   * of the time of one that compares, because the keys of a pool differ in few bits.
   */
  private static int[] sort(int[] order, long[] keys) {
    long lowest = Arrays.stream(keys).min().orElse(0);
    long differing = 0;
    for (long key : keys) {
      differing |= key - lowest;
    }
    int[] from = order;
    int[] to = new int[order.length];
    for (int shift = 0; shift < Long.SIZE && differing >>> shift != 0; shift += DIGIT_BITS) {
      int bits = Long.SIZE - Long.numberOfLeadingZeros(differing >>> shift);
      int digits = 1 << Math.min(DIGIT_BITS, bits);
      int[] ends = new int[digits + 1];
      for (long key : keys) {
        ends[digit(key - lowest, shift) + 1]++;
      }
      for (int i = 0; i < digits; i++) {
        ends[i + 1] += ends[i];
      }
      for (int index : from) {
        to[ends[digit(keys[index] - lowest, shift)]++] = index;
      }
      int[] sorted = to;
      to = from;
      from = sorted;
    }
    return from;
  }

  private static int digit(long key, int shift) {
    return (int) (key >>> shift) & (DIGITS - 1);
  }

  private static void sortEqualAgesByName(int[] order, long[] ages, List<Bidder> bidders) {
    int from = 0;
    for (int to = 1; to <= order.length; to++) {
      if (to < order.length && ages[order[to]] == ages[order[from]]) {
        continue;
      }
      if (to - from > 1) {
        int[] byName =
            Arrays.stream(order, from, to)
                .boxed()
                .sorted(Comparator.comparing((Integer i) -> bidders.get(i).cluster()))
                .mapToInt(Integer::intValue)
                .toArray();
        System.arraycopy(byName, 0, order, from, byName.length);
      }
      from = to;
    }
  }
}
