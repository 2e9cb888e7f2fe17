package dev.bourse.market;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/** The order of clusters in the auction: ceiling descending, older price, name. */
final class Ranking {
  private Ranking() {}

  /** Returns the bidders in order; the order they come in does not matter. */
  static Bidder[] rank(List<Bidder> bidders) {
    Bidder[] ranked = bidders.toArray(new Bidder[0]);
    sort(ranked, Bidder::pricedAtMillis);
    sortEqualAgesByName(ranked);
    sort(ranked, bidder -> -bidder.ceilingCents());
    return ranked;
  }

  /**
   * Sorts by a key, ascending and stable.
   *
   * <p>Key and position are packed into one long, since sorting those is several times faster than
   * comparing objects. Keys too far apart to leave room for the position are compared.
   */
  private static void sort(Bidder[] bidders, ToLongFunction<Bidder> key) {
    long[] packed = new long[bidders.length];
    long lowest = Long.MAX_VALUE;
    long highest = Long.MIN_VALUE;
    for (int i = 0; i < bidders.length; i++) {
      packed[i] = key.applyAsLong(bidders[i]);
      lowest = Math.min(lowest, packed[i]);
      highest = Math.max(highest, packed[i]);
    }
    int positionBits = Integer.SIZE - Integer.numberOfLeadingZeros(bidders.length);
    if (bidders.length > 0 && (highest - lowest) >>> (Long.SIZE - 1 - positionBits) != 0) {
      Arrays.sort(bidders, Comparator.comparingLong(key));
      return;
    }
    for (int i = 0; i < packed.length; i++) {
      packed[i] = (packed[i] - lowest) << positionBits | i;
    }
    Arrays.sort(packed);
    Bidder[] before = bidders.clone();
    long position = (1L << positionBits) - 1;
    for (int i = 0; i < packed.length; i++) {
      bidders[i] = before[(int) (packed[i] & position)];
    }
  }

  private static void sortEqualAgesByName(Bidder[] byAge) {
    int from = 0;
    for (int to = 1; to <= byAge.length; to++) {
      if (to == byAge.length || byAge[to].pricedAtMillis() != byAge[from].pricedAtMillis()) {
        Arrays.sort(byAge, from, to, Comparator.comparing(Bidder::cluster));
        from = to;
      }
    }
  }
}
