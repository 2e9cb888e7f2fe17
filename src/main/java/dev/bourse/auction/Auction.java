package dev.bourse.auction;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Grant;
import dev.bourse.auction.Clearing.Reason;
import dev.bourse.auction.Clearing.Reclaim;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The auction of one pool: a uniform-price auction at the highest losing bid.
 *
 * <p>A seat is the right to one node. Seats are handed out in this order:
 *
 * <ol>
 *   <li>what operator-managed clusters hold, and every shielded allocation;
 *   <li>the contested seats: ceiling descending, then incumbents before newcomers, then the cluster
 *       that has fewer seats at that point, then the older price, then the cluster's name.
 * </ol>
 *
 * Held nodes without a seat are reclaimed. Seats won by newcomers take free nodes, the best seat
 * first; a seat for which there is none yet waits. Swaps get what no seat claims.
 *
 * <p>Clusters may declare millions of slots, so only seats that are won ever materialize: the
 * clusters with one ceiling are served together, and the last such group is filled like water in
 * vessels, to the level that the seats left allow. One run takes O(n log n) in clusters and nodes.
 */
public final class Auction {
  private final long reserveCents;
  private final long capCents;
  private final Supply supply;

  // By rank, so that clusters with one ceiling are neighbours.
  private final Bidder[] ranked;

  private final long[] ceilings;

  /** Seats before all bids. */
  private final int[] shielded;

  /** Seats a cluster has once it kept all its incumbents; its newcomers come on top. */
  private final int[] defended;

  /** Seats a cluster has once it wins all it bids for. */
  private final int[] wanted;

  /** Seats a cluster has so far: from shielded over defended to wanted. */
  private final int[] seated;

  /** All seats so far. */
  private long taken;

  private final List<Reclaim> reclaims = new ArrayList<>();
  private final Map<String, Integer> unseated = new HashMap<>();

  /** The last group to win a contested seat; empty while there is none. */
  private int marginalFrom;

  private int marginalTo;

  private Auction(long reserveCents, long capCents, List<Bidder> bidders, Supply supply) {
    this.reserveCents = reserveCents;
    this.capCents = capCents;
    this.supply = supply;
    ranked = Ranking.rank(bidders);
    ceilings = new long[ranked.length];
    shielded = new int[ranked.length];
    defended = new int[ranked.length];
    wanted = new int[ranked.length];
    seated = new int[ranked.length];
  }

  /**
   * Decides who gets which node, and at what price. Pure: the same snapshot gives the same
   * decisions, whatever the order of the bidders.
   *
   * @param reserveCents the pool's reserve price per GPU-hour; bids under it lapse
   * @param capCents the highest ceiling the pool accepts; no admission price lies above it
   * @param bidders the clusters of the pool; names are unique, and none but operator-managed ones
   *     hold more than they declare
   * @param supply the nodes of the pool
   */
  public static Clearing clear(
      long reserveCents, long capCents, List<Bidder> bidders, Supply supply) {
    Auction auction = new Auction(reserveCents, capCents, bidders, supply);
    auction.seatShielded();
    auction.seatContested();
    auction.turnAwayLosers();
    return new Clearing(
        auction.clearingPrice(),
        auction.admissionPrice(),
        auction.grants(),
        Collections.unmodifiableList(auction.reclaims),
        Collections.unmodifiableMap(auction.unseated));
  }

  private void seatShielded() {
    for (int i = 0; i < ranked.length; i++) {
      Bidder bidder = ranked[i];
      int held = bidder.held().size();
      ceilings[i] = bidder.ceilingCents();
      shielded[i] = countShielded(bidder);
      defended[i] = contests(bidder) ? held : shielded[i];
      wanted[i] = admits(bidder) ? bidder.declaredSlots() : defended[i];
      seated[i] = shielded[i];
      taken += shielded[i];
      turnAway(bidder, held - defended[i], bidder.declaredSlots() - wanted[i]);
    }
  }

  private static int countShielded(Bidder bidder) {
    return switch (bidder.participation()) {
      case EVICTED -> 0;
      case STATIC -> bidder.held().size();
      case OPEN, INCUMBENTS_ONLY -> {
        int count = 0;
        for (Held held : bidder.held()) {
          count += held.shielded() ? 1 : 0;
        }
        yield count;
      }
    };
  }

  /** Whether a cluster's unshielded nodes defend their seats. */
  private boolean contests(Bidder bidder) {
    return admits(bidder)
        || (bidder.participation() == Participation.INCUMBENTS_ONLY
            && bidder.ceilingCents() >= reserveCents);
  }

  /** Whether a cluster may win new seats; only such a cluster's losing bids make a price. */
  private boolean admits(Bidder bidder) {
    return bidder.participation() == Participation.OPEN && bidder.ceilingCents() >= reserveCents;
  }

  /** Seats nobody has; negative when more are shielded than there are. */
  private long left() {
    return supply.seats() - taken;
  }

  private void seatContested() {
    int from = 0;
    while (from < ranked.length && left() > 0) {
      int to = endOfGroup(from);
      long before = taken;
      fill(from, to, defended);
      fill(from, to, wanted);
      if (taken > before) {
        marginalFrom = from;
        marginalTo = to;
      }
      from = to;
    }
  }

  private int endOfGroup(int from) {
    int to = from + 1;
    while (to < ranked.length && ceilings[to] == ceilings[from]) {
      to++;
    }
    return to;
  }

  /**
   * Raises each cluster of a group towards its target, the lowest first, while seats are left.
   *
   * <p>The level is the highest up to which all can rise; the seats then left go to the clusters
   * that still want one at that level, the first ranked first.
   */
  private void fill(int from, int to, int[] target) {
    long left = left();
    int level = highestLevel(from, to, target, left);
    left -= needed(from, to, target, level);
    taken = supply.seats() - left;
    for (int i = from; i < to; i++) {
      boolean wantsMore = seated[i] <= level && target[i] > level;
      seated[i] = Math.max(seated[i], Math.min(target[i], level));
      if (wantsMore && left > 0) {
        seated[i]++;
        left--;
        taken++;
      }
    }
  }

  private int highestLevel(int from, int to, int[] target, long left) {
    int low = 0;
    int high = 0;
    for (int i = from; i < to; i++) {
      high = Math.max(high, target[i]);
    }
    if (needed(from, to, target, high) <= left) {
      return high;
    }
    // Invariant: what low needs is there, what high needs is not.
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (needed(from, to, target, middle) <= left) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private long needed(int from, int to, int[] target, int level) {
    long needed = 0;
    for (int i = from; i < to; i++) {
      needed += Math.max(0, Math.min(target[i], level) - seated[i]);
    }
    return needed;
  }

  private void turnAwayLosers() {
    for (int i = 0; i < ranked.length; i++) {
      if (seated[i] < wanted[i]) {
        turnAway(ranked[i], defended[i] - seated[i], wanted[i] - seated[i]);
      }
    }
  }

  /** Takes back as many of a cluster's nodes as given, and counts its slots without a seat. */
  private void turnAway(Bidder bidder, int nodes, int slots) {
    if (slots > 0) {
      unseated.merge(bidder.cluster(), slots, Integer::sum);
    }
    boolean evicted = bidder.participation() == Participation.EVICTED;
    int excess = nodes;
    for (int i = 0; excess > 0; i++) {
      Held held = bidder.held().get(i);
      if (evicted || !held.shielded()) {
        Reason reason = evicted ? Reason.HOLD : Reason.OUTBID;
        reclaims.add(new Reclaim(bidder.cluster(), held.allocationId(), reason));
        excess--;
      }
    }
  }

  /**
   * The highest losing bid that another organization's contested seat withstood, the reserve price
   * when there is none. Seats go by ceiling, so it is never above the ceiling of a contested seat.
   */
  private @Nullable Long clearingPrice() {
    if (taken == 0) {
      return null;
    }
    String buyer = null;
    boolean rivals = false;
    for (int i = 0; i < marginalTo && !rivals; i++) {
      if (seated[i] > shielded[i]) {
        rivals = buyer != null && !buyer.equals(ranked[i].org());
        buyer = ranked[i].org();
      }
    }
    for (int i = 0; i < ranked.length && buyer != null; i++) {
      boolean loses = seated[i] < wanted[i] && admits(ranked[i]);
      if (loses && (rivals || !buyer.equals(ranked[i].org()))) {
        return ceilings[i];
      }
    }
    return reserveCents;
  }

  /**
   * The lowest ceiling at which a cluster that comes now, of an organization that comes now, would
   * win its first seat: at the weakest contested seat's ceiling it ranks behind the first seats of
   * all other newcomers, but before their second ones.
   */
  private @Nullable Long admissionPrice() {
    if (left() > 0) {
      return reserveCents;
    }
    if (marginalTo == 0) {
      return null;
    }
    long newcomers = 0;
    long firstSeats = 0;
    for (int i = marginalFrom; i < marginalTo; i++) {
      newcomers += Math.max(0, seated[i] - defended[i]);
      firstSeats += defended[i] == 0 && wanted[i] > 0 ? 1 : 0;
    }
    long raise = newcomers > firstSeats ? 0 : 1;
    long weakest = ceilings[marginalFrom];
    return weakest <= capCents - raise ? weakest + raise : null;
  }

  private List<Grant> grants() {
    List<Grant> grants = new ArrayList<>();
    FreeNodes free = new FreeNodes(supply.free());
    int from = 0;
    while (from < marginalTo && !free.isEmpty()) {
      int to = endOfGroup(from);
      for (long seat : newcomersInOrder(from, to)) {
        Bidder bidder = ranked[(int) seat];
        String node = free.take(bidder.org());
        if (node != null) {
          grants.add(new Grant(bidder.cluster(), node, null));
        }
      }
      from = to;
    }
    grantSwaps(free, grants);
    return Collections.unmodifiableList(grants);
  }

  /** The seats a group's newcomers won: how many seats precede it, above the cluster's rank. */
  private long[] newcomersInOrder(int from, int to) {
    int count = 0;
    for (int i = from; i < to; i++) {
      count += Math.max(0, seated[i] - defended[i]);
    }
    long[] seats = new long[count];
    for (int i = from; i < to; i++) {
      for (long level = defended[i]; level < seated[i]; level++) {
        seats[--count] = level << Integer.SIZE | i;
      }
    }
    Arrays.sort(seats);
    return seats;
  }

  /** Replacements only ever take nodes that no seat claims, and so never move the price. */
  private void grantSwaps(FreeNodes free, List<Grant> grants) {
    long spare = left();
    for (int i = 0; i < ranked.length && spare > 0 && !free.isEmpty(); i++) {
      Bidder bidder = ranked[i];
      if (!admits(bidder)) {
        continue;
      }
      for (String swap : bidder.swapsAwaiting()) {
        String node = spare > 0 ? free.take(bidder.org()) : null;
        if (node == null) {
          break;
        }
        grants.add(new Grant(bidder.cluster(), node, swap));
        spare--;
      }
    }
  }
}
