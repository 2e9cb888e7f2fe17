package dev.bourse.auction;

import dev.bourse.auction.Clearing.Grant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** Hands free nodes out: to the seats that newcomers won, then to swaps. */
final class Granting {
  private final FreeNodes free;
  private final List<Grant> grants = new ArrayList<>();
  private long swaps;

  Granting(Supply supply) {
    free = new FreeNodes(supply.free());
  }

  /**
   * Grants the seats that one group's newcomers won, the best first.
   *
   * @param kept seats of a cluster that are no newcomers'
   */
  void grant(Bidder[] ranked, int from, int to, int[] kept, int[] seated) {
    if (free.isEmpty()) {
      return;
    }
    for (long seat : newcomersInOrder(ranked, from, to, kept, seated)) {
      Bidder bidder = ranked[(int) seat];
      String node = free.take(bidder.org());
      if (node != null) {
        grants.add(new Grant(bidder.cluster(), node, null));
      }
    }
  }

  /**
   * How many seats precede each, above the cluster's rank. None precedes those of a gang's minimum,
   * which it won at one turn.
   */
  private static long[] newcomersInOrder(
      Bidder[] ranked, int from, int to, int[] kept, int[] seated) {
    int count = 0;
    for (int i = from; i < to; i++) {
      count += Math.max(0, seated[i] - kept[i]);
    }
    long[] seats = new long[count];
    for (int i = from; i < to; i++) {
      for (long level = kept[i]; level < seated[i]; level++) {
        seats[--count] = (level < ranked[i].minimumSlots() ? 0 : level) << Integer.SIZE | i;
      }
    }
    Arrays.sort(seats);
    return seats;
  }

  /**
   * Replacements only ever take nodes that no seat claims, and so never move the price.
   *
   * @param spare nodes that no seat claims
   */
  void grantSwaps(Bidder bidder, long spare) {
    for (String swap : bidder.swapsAwaiting()) {
      String node = swaps < spare && !free.isEmpty() ? free.take(bidder.org()) : null;
      if (node == null) {
        return;
      }
      grants.add(new Grant(bidder.cluster(), node, swap));
      swaps++;
    }
  }

  List<Grant> grants() {
    return Collections.unmodifiableList(grants);
  }
}
