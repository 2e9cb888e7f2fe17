package dev.bourse.auction;

import dev.bourse.auction.Clearing.Grant;
import java.util.ArrayList;
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
   * Grants one group's seats.
   *
   * @param seats the best first, each with its cluster's rank in its lower half
   */
  void grant(Bidder[] ranked, long[] seats) {
    for (int i = 0; i < seats.length && !free.isEmpty(); i++) {
      Bidder bidder = ranked[(int) seats[i]];
      String node = free.take(bidder.org());
      if (node != null) {
        grants.add(new Grant(bidder.cluster(), node, null));
      }
    }
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
