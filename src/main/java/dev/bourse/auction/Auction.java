package dev.bourse.auction;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Grant;
import dev.bourse.auction.Clearing.Reason;
import dev.bourse.auction.Clearing.Reclaim;
import dev.bourse.auction.Clearing.Shortfall;
import java.util.ArrayList;
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
 * A gang is a cluster to which fewer seats than its minimum are worth nothing. Its turn for all of
 * them together is that of a first seat, among incumbents when it holds that many: then it takes
 * what its shielded seats lack of the minimum, or, where fewer are left, is passed over and stays
 * without; the seats go on. Beyond its minimum it is as any other.
 *
 * <p>Held nodes without a seat are reclaimed. Seats won by newcomers take free nodes, the best seat
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

  /** Fewer contested seats are worth nothing; 1 for whoever takes any. */
  private final int[] minimum;

  /** Seats a cluster has so far: from shielded over defended to wanted. */
  private final int[] seated;

  /** Up to where a cluster of the group that is being filled may rise. */
  private final int[] goals;

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
    minimum = new int[ranked.length];
    seated = new int[ranked.length];
    goals = new int[ranked.length];
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
        Collections.unmodifiableMap(auction.unseated),
        Collections.unmodifiableMap(auction.shortfalls()));
  }

  private void seatShielded() {
    for (int i = 0; i < ranked.length; i++) {
      Bidder bidder = ranked[i];
      int held = bidder.held().size();
      ceilings[i] = bidder.ceilingCents();
      shielded[i] = countShielded(bidder);
      defended[i] = contests(bidder) ? held : shielded[i];
      wanted[i] = admits(bidder) ? bidder.declaredSlots() : defended[i];
      minimum[i] = takesPart(bidder) ? bidder.minimumSlots() : 1;
      seated[i] = shielded[i];
      taken += shielded[i];
      turnAway(bidder, held - defended[i], bidder.declaredSlots() - wanted[i]);
    }
  }

  private static boolean takesPart(Bidder bidder) {
    return switch (bidder.participation()) {
      case OPEN, INCUMBENTS_ONLY -> true;
      case EVICTED, STATIC -> false;
    };
  }

  /** Whether a cluster has fewer seats than are worth anything to it; a shielded one keeps them. */
  private boolean isShort(int i) {
    return minimum[i] > 1 && seated[i] < minimum[i];
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
      seat(from, to, defended);
      seat(from, to, wanted);
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

  private void seat(int from, int to, int[] target) {
    boolean gangs = false;
    for (int i = from; i < to && !gangs; i++) {
      gangs = isShort(i);
    }
    if (gangs) {
      seatFirst(from, to, target);
    }
    fill(from, to, target);
  }

  /** The turn of first seats, and of gangs for all of their minimum. */
  private void seatFirst(int from, int to, int[] target) {
    for (int i = from; i < to && left() > 0; i++) {
      int goal = minimum[i];
      int more = goal - seated[i];
      if (more > 0 && goal <= target[i] && more <= left()) {
        seated[i] = goal;
        taken += more;
      }
    }
  }

  /** As far as a cluster may rise seat by seat: a gang that was passed over stays where it is. */
  private int goal(int[] target, int i) {
    return isShort(i) ? seated[i] : target[i];
  }

  /**
   * Raises each cluster of a group towards its target, the lowest first, while seats are left.
   *
   * <p>The level is the highest up to which all can rise; the seats then left go to the clusters
   * that still want one at that level, the first ranked first.
   */
  private void fill(int from, int to, int[] target) {
    long left = left();
    for (int i = from; i < to; i++) {
      goals[i] = goal(target, i);
    }
    int level = Water.highestLevel(seated, goals, from, to, left);
    left -= Water.needed(seated, goals, from, to, level);
    taken = supply.seats() - left;
    for (int i = from; i < to; i++) {
      boolean wantsMore = seated[i] <= level && goals[i] > level;
      seated[i] = Math.max(seated[i], Math.min(goals[i], level));
      if (wantsMore && left > 0) {
        seated[i]++;
        left--;
        taken++;
      }
    }
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
   *
   * <p>A gang without its minimum lost to the price only where every seat has a ceiling above its
   * own: where one at its ceiling or below has a seat, or a seat is free, it lost for its size.
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
    long auctioned = auctionedSeats();
    long above = 0;
    long atCeiling = 0;
    for (int i = 0; i < ranked.length && buyer != null; i++) {
      if (i > 0 && ceilings[i] != ceilings[i - 1]) {
        above += atCeiling;
        atCeiling = 0;
      }
      atCeiling += takesPart(ranked[i]) ? seated[i] : 0;
      boolean forSize = isShort(i) && (above < auctioned || !bidsForMinimum(i, auctioned));
      boolean loses = seated[i] < wanted[i] && admits(ranked[i]) && !forSize;
      if (loses && (rivals || !buyer.equals(ranked[i].org()))) {
        return ceilings[i];
      }
    }
    return reserveCents;
  }

  /** Seats but for those of operator-managed clusters. */
  private long auctionedSeats() {
    long seats = supply.seats();
    for (int i = 0; i < ranked.length; i++) {
      seats -= takesPart(ranked[i]) ? 0 : seated[i];
    }
    return seats;
  }

  /** Whether a gang bids for its minimum, in a pool that has as many nodes. */
  private boolean bidsForMinimum(int i, long auctioned) {
    return minimum[i] <= wanted[i] && minimum[i] <= auctioned;
  }

  /** Why each gang that has not its minimum has it not. */
  private Map<String, Shortfall> shortfalls() {
    Map<String, Shortfall> shortfalls = new HashMap<>();
    long obtainable = supply.seats();
    long takenAtCap = 0;
    for (int i = 0; i < ranked.length; i++) {
      obtainable -= ceilings[i] > capCents ? seated[i] : shielded[i];
      if (ceilings[i] == capCents) {
        // What it has at the latest when a newcomer that bids as much has its first turn.
        int first = Math.min(seated[i], Math.max(defended[i], minimum[i]));
        takenAtCap += Math.max(0, first - shielded[i]);
      }
    }
    for (int i = 0; i < ranked.length; i++) {
      Bidder bidder = ranked[i];
      if (isShort(i)
          && bidder.participation() == Participation.OPEN
          && bidder.declaredSlots() >= minimum[i]) {
        long most = obtainable - (bidder.held().size() < minimum[i] ? takenAtCap : 0);
        boolean size = ceilings[i] >= capCents || minimum[i] - shielded[i] > most;
        shortfalls.put(bidder.cluster(), size ? Shortfall.SIZE : Shortfall.PRICE);
      }
    }
    return shortfalls;
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
      if (minimum[i] > 1 && defended[i] < minimum[i]) {
        // All of it at the turn of first seats, or nothing.
        newcomers += seated[i] - shielded[i];
        firstSeats += isShort(i) ? 0 : minimum[i] - shielded[i];
      } else {
        newcomers += Math.max(0, seated[i] - defended[i]);
        firstSeats += defended[i] == 0 && wanted[i] > 0 ? 1 : 0;
      }
    }
    long raise = newcomers > firstSeats ? 0 : 1;
    long weakest = ceilings[marginalFrom];
    return weakest <= capCents - raise ? weakest + raise : null;
  }

  private List<Grant> grants() {
    Granting granting = new Granting(supply);
    for (int from = 0; from < marginalTo; from = endOfGroup(from)) {
      granting.grant(ranked, from, endOfGroup(from), defended, seated);
    }
    for (int i = 0; i < ranked.length; i++) {
      if (admits(ranked[i])) {
        granting.grantSwaps(ranked[i], left());
      }
    }
    return granting.grants();
  }
}
