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
 * The auction of one pool. Each organization pays one price for all of its nodes: the highest bid
 * of the others that loses and would win if the organization had no seats.
 *
 * <p>A seat is the right to one node. Seats are handed out in this order:
 *
 * <ol>
 *   <li>nodes of operator-managed clusters, and every shielded allocation;
 *   <li>the contested seats: ceiling descending, then incumbents before newcomers, then the
 *       organization that has fewer seats at that point, then its cluster that has fewer, then the
 *       older price, then the cluster's name;
 *   <li>new seats of clusters that rank last, in the same order.
 * </ol>
 *
 * A gang is a cluster that wins its minimum of seats or none. It takes all of them at the turn of a
 * first seat, and among incumbents if it holds that many. If fewer seats are left than its shielded
 * seats lack of the minimum, it is passed over and the next bid takes its turn. Beyond its minimum
 * a gang bids like any other cluster. A gang that may not bid for its minimum keeps the nodes it
 * holds.
 *
 * <p>The market reclaims held nodes without a seat. A held node that could not be granted to
 * anybody else counts as no seat; its holder keeps it while its ceiling would keep a seat.
 * Newcomers' seats take free nodes, the best seat first; a seat without a free node waits. A gang's
 * new nodes are granted together, and the auction keeps free nodes for it until there are enough.
 * Swaps get the nodes that no seat claims.
 *
 * <p>Clusters may declare millions of slots, so the auction never enumerates seats that are not
 * won. One run takes O(n log n) in clusters and nodes.
 */
public final class Auction {
  private final long reserveCents;
  private final long capCents;
  private final Supply supply;

  // Sorted by rank, so that clusters with equal ceilings are neighbours.
  private final Bidder[] ranked;

  private final long[] ceilings;
  private final String[] orgs;
  private final int[] orgOf;

  // Columns by cluster, filled in one pass over the bidders, because the hot loops read one or two.
  private final boolean[] isLast;
  private final int[] declared;

  /** Held nodes that count as seats. */
  private final int[] held;

  /** Held nodes that do not count as seats, because they cannot be granted to another cluster. */
  private final int[] unusable;

  /** Clusters with a swap in flight and no replacement yet, by rank. */
  private final List<Integer> swapping = new ArrayList<>();

  /** Seats given before all bids. */
  private final int[] shielded;

  /** Seats of a cluster that keeps all of its nodes; its bids for new seats come on top. */
  private final int[] defended;

  /** Seats of a cluster that wins all of its bids. */
  private final int[] wanted;

  /** Seats that a gang takes together; 1 for other clusters. */
  private final int[] minimum;

  /** Seats of a cluster so far: from shielded over defended to wanted. */
  private final int[] seated;

  /** Seats of an organization so far. */
  private final int[] orgSeats;

  /** Seats of a cluster before its bids for new seats. */
  private final int[] kept;

  private final Pricing pricing;
  private final Turns turns;

  /** True if the pricing has counted the gang's lost bid. */
  private final boolean[] isLossCounted;

  /** Seats of all clusters so far. */
  private long taken;

  /** The new nodes of seats, in the order in which these were won. */
  private final List<Won> won = new ArrayList<>();

  private final List<Reclaim> reclaims = new ArrayList<>();
  private final Map<String, Integer> unseated = new HashMap<>();

  /** The last group to win a contested seat, without clusters that rank last; empty if none did. */
  private int marginalFrom;

  private int marginalTo;

  /** Seats won by clusters that rank last. */
  private long lastSeats;

  private Auction(long reserveCents, long capCents, List<Bidder> bidders, Supply supply) {
    this.reserveCents = reserveCents;
    this.capCents = capCents;
    this.supply = supply;
    int count = bidders.size();
    ranked = new Bidder[count];
    ceilings = new long[count];
    orgOf = new int[count];
    isLast = new boolean[count];
    declared = new int[count];
    held = new int[count];
    unusable = new int[count];
    shielded = new int[count];
    defended = new int[count];
    wanted = new int[count];
    minimum = new int[count];
    seated = new int[count];
    kept = new int[count];
    isLossCounted = new boolean[count];
    orgs = read(bidders);
    orgSeats = new int[orgs.length];
    pricing = new Pricing(reserveCents, orgs.length);
    turns = new Turns(orgOf, orgSeats, seated, minimum, new Contest());
  }

  /**
   * Decides grants, reclaims and prices. Pure: the same snapshot gives the same decisions in any
   * order of the bidders.
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
    List<Grant> grants = auction.grants();
    Map<String, Long> orgCents = new HashMap<>();
    Long clearing = auction.price(orgCents);
    return new Clearing(
        clearing,
        Collections.unmodifiableMap(orgCents),
        auction.admissionPrice(),
        grants,
        Collections.unmodifiableList(auction.reclaims),
        Collections.unmodifiableMap(auction.unseated),
        Collections.unmodifiableMap(auction.shortfalls()));
  }

  /**
   * Fills the columns from the bidders; returns the organizations by number. Reads the bidders in
   * the order in which they come, because they lie in memory in that order.
   */
  private String[] read(List<Bidder> bidders) {
    int[] places = Ranking.places(bidders);
    Map<String, Integer> numbers = new HashMap<>();
    List<String> names = new ArrayList<>();
    for (int at = 0; at < places.length; at++) {
      Bidder bidder = bidders.get(at);
      ranked[places[at]] = bidder;
      read(places[at], bidder);
      Integer number = numbers.get(bidder.org());
      if (number == null) {
        number = names.size();
        numbers.put(bidder.org(), number);
        names.add(bidder.org());
      }
      orgOf[places[at]] = number;
    }
    Collections.sort(swapping);
    return names.toArray(new String[0]);
  }

  private void read(int i, Bidder bidder) {
    ceilings[i] = bidder.ceilingCents();
    isLast[i] = bidder.ranksLast();
    declared[i] = bidder.declaredSlots();
    count(i, bidder);
    defended[i] = contests(bidder) ? held[i] : shielded[i];
    wanted[i] = admits(bidder) ? declared[i] - unusable[i] : defended[i];
    minimum[i] = takesPart(bidder) ? Math.max(1, bidder.minimumSlots() - unusable[i]) : 1;
    if (wanted[i] < minimum[i]) {
      minimum[i] = 1;
      wanted[i] = defended[i];
    }
    if (admits(bidder) && !bidder.swapsAwaiting().isEmpty()) {
      swapping.add(i);
    }
  }

  /** Counts the cluster's held, shielded and unusable nodes. */
  private void count(int i, Bidder bidder) {
    for (Held node : bidder.held()) {
      if (!node.usable()) {
        unusable[i]++;
      } else {
        held[i]++;
        shielded[i] += isShielded(bidder, node) ? 1 : 0;
      }
    }
  }

  private void seatShielded() {
    for (int i = 0; i < ranked.length; i++) {
      seats(i, shielded[i]);
    }
  }

  private static boolean isShielded(Bidder bidder, Held held) {
    return switch (bidder.participation()) {
      case EVICTED -> false;
      case STATIC -> true;
      case OPEN, INCUMBENTS_ONLY -> held.shielded();
    };
  }

  private static boolean takesPart(Bidder bidder) {
    return switch (bidder.participation()) {
      case OPEN, INCUMBENTS_ONLY -> true;
      case EVICTED, STATIC -> false;
    };
  }

  /** True for a gang with fewer seats than its minimum; shielded ones may remain to it. */
  private boolean isShort(int i) {
    return minimum[i] > 1 && seated[i] < minimum[i];
  }

  /** True if a cluster's unshielded nodes may defend their seats. */
  private boolean contests(Bidder bidder) {
    return takesPart(bidder) && bidder.ceilingCents() >= reserveCents;
  }

  /** True if a cluster may win new seats. */
  private boolean admits(Bidder bidder) {
    return bidder.participation() == Participation.OPEN && bidder.ceilingCents() >= reserveCents;
  }

  /** The number of seats up to which a cluster's lost bids set prices. */
  private int priced(int i) {
    return isLast[i] ? defended[i] : wanted[i];
  }

  /**
   * Returns the number of free seats; negative if more nodes are shielded than the pool has seats.
   */
  private long left() {
    return supply.seats() - taken;
  }

  private void seats(int i, int more) {
    if (more > 0) {
      seated[i] += more;
      orgSeats[orgOf[i]] += more;
      taken += more;
      pricing.addSeats(orgOf[i], more);
    }
  }

  private void countLosingGang(int i) {
    if (priced(i) >= minimum[i] && !isLossCounted[i]) {
      isLossCounted[i] = true;
      long lacks = minimum[i] - seated[i] - left();
      pricing.addLosingGang(orgOf[i], ceilings[i], (int) lacks);
    }
  }

  private enum Phase {
    /** Incumbents defend their seats. */
    DEFENCE,
    /** Clusters that do not rank last bid for new seats. */
    BIDS,
    /** Clusters that rank last bid for new seats. */
    LAST
  }

  private void seatContested() {
    for (int from = 0; from < ranked.length; from = endOfGroup(from)) {
      int to = endOfGroup(from);
      long before = taken;
      seat(from, to, Phase.DEFENCE);
      System.arraycopy(seated, from, kept, from, to - from);
      seat(from, to, Phase.BIDS);
      if (taken > before) {
        marginalFrom = from;
        marginalTo = to;
      }
    }
    long before = taken;
    for (int from = 0; from < ranked.length && left() > 0; from = endOfGroup(from)) {
      seat(from, endOfGroup(from), Phase.LAST);
    }
    lastSeats = taken - before;
    pricing.nextTurn();
    for (int i = 0; i < ranked.length; i++) {
      if (isShort(i)) {
        countLosingGang(i);
      }
    }
  }

  private int endOfGroup(int from) {
    int to = from + 1;
    while (to < ranked.length && ceilings[to] == ceilings[from]) {
      to++;
    }
    return to;
  }

  private void seat(int from, int to, Phase phase) {
    if (left() <= 0) {
      return;
    }
    int[] goals = goals(from, to, phase);
    long claims = 0;
    for (int i = from; i < to; i++) {
      claims += goals[i - from] - seated[i];
    }
    pricing.nextTurn();
    // Incumbents need no free nodes, so their order matters only if there are too few seats.
    if (phase != Phase.DEFENCE || claims > left()) {
      turns.take(from, to, goals);
      return;
    }
    for (int i = from; i < to; i++) {
      seats(i, goals[i - from] - seated[i]);
    }
  }

  /**
   * Returns the seats up to which the clusters of a group may rise in a phase. A gang that bids for
   * less than its minimum does not rise.
   */
  private int[] goals(int from, int to, Phase phase) {
    int[] goals = new int[to - from];
    for (int i = from; i < to; i++) {
      int goal =
          switch (phase) {
            case DEFENCE -> defended[i];
            case BIDS -> isLast[i] ? seated[i] : wanted[i];
            case LAST -> isLast[i] ? wanted[i] : seated[i];
          };
      goals[i - from] = goal < minimum[i] ? seated[i] : goal;
    }
    return goals;
  }

  private void turnAwayLosers() {
    long keepCents = keepCents();
    for (int i = 0; i < ranked.length; i++) {
      int excess = held[i] - seated[i];
      int lost = excess > 0 || unusable[i] > 0 ? turnAway(ranked[i], excess, keepCents) : 0;
      int slots = declared[i] - seated[i] - unusable[i] + lost;
      if (slots > 0) {
        unseated.put(ranked[i].cluster(), slots);
      }
      // Includes the nodes that the cluster loses, because they are billed until the notice ends.
      pricing.addUnusable(orgOf[i], unusable[i]);
    }
  }

  /** Reclaims a cluster's excess nodes; returns how many of them counted as no seat. */
  private int turnAway(Bidder bidder, int excess, long keepCents) {
    boolean keepsUnusable = contests(bidder) && bidder.ceilingCents() >= keepCents;
    int left = excess;
    int lost = 0;
    Reason reason = bidder.participation() == Participation.EVICTED ? Reason.HOLD : Reason.OUTBID;
    for (Held node : bidder.held()) {
      boolean isLost = node.usable() ? left > 0 : !keepsUnusable;
      if (isLost && !isShielded(bidder, node)) {
        left -= node.usable() ? 1 : 0;
        lost += node.usable() ? 0 : 1;
        reclaims.add(new Reclaim(bidder.cluster(), node.allocationId(), reason));
      }
    }
    return lost;
  }

  /** Returns the lowest ceiling that would keep one seat more for an incumbent. */
  private long keepCents() {
    if (left() < 0) {
      return Long.MAX_VALUE;
    }
    for (int i = 0; i < ranked.length; i++) {
      if (seated[i] < priced(i) && !isShort(i)) {
        return ceilings[i];
      }
    }
    return reserveCents;
  }

  /**
   * Returns the highest price that an organization pays.
   *
   * @param orgCents receives the prices of organizations that have seats and pay less
   */
  private @Nullable Long price(Map<String, Long> orgCents) {
    for (int i = 0; i < ranked.length; i++) {
      if (seated[i] < priced(i) && !isShort(i)) {
        if (left() < 0) {
          // More nodes are shielded than there are seats, so one seat less would not free any.
          pricing.addLosingGang(orgOf[i], ceilings[i], (int) (1 - left()));
        } else {
          pricing.addLosingBid(orgOf[i], ceilings[i]);
        }
      }
    }
    Long highest = null;
    for (int org = 0; org < orgs.length; org++) {
      if (pricing.hasSeats(org)) {
        long cents = pricing.centsOf(org);
        orgCents.put(orgs[org], cents);
        highest = highest == null ? cents : Math.max(highest, cents);
      }
    }
    orgCents.values().removeIf(highest == null ? cents -> true : highest::equals);
    return highest;
  }

  /**
   * Returns the reason for each gang without its minimum. Seats of clusters that bid the cap count
   * as taken, even if the gang's turn came before theirs.
   */
  private Map<String, Shortfall> shortfalls() {
    Map<String, Shortfall> shortfalls = new HashMap<>();
    long obtainable = supply.seats();
    for (int i = 0; i < ranked.length; i++) {
      int seatedFirst = isLast[i] ? kept[i] : seated[i];
      obtainable -= ceilings[i] >= capCents ? seatedFirst : shielded[i];
    }
    for (int i = 0; i < ranked.length; i++) {
      if (isShort(i) && admits(ranked[i]) && !isLast[i]) {
        boolean size = ceilings[i] >= capCents || minimum[i] > obtainable + shielded[i];
        shortfalls.put(ranked[i].cluster(), size ? Shortfall.SIZE : Shortfall.PRICE);
      }
    }
    return shortfalls;
  }

  /**
   * Returns the lowest ceiling at which a new cluster of a new organization would win its first
   * seat. At the ceiling of the weakest contested seat its turn comes after the first seats of all
   * other organizations and before their second ones.
   */
  private @Nullable Long admissionPrice() {
    if (left() > 0 || lastSeats > 0) {
      return reserveCents;
    }
    if (marginalTo == 0) {
      return null;
    }
    int[] earlier = orgSeats.clone();
    long newcomers = 0;
    for (int i = marginalFrom; i < marginalTo; i++) {
      newcomers += seated[i] - kept[i];
      earlier[orgOf[i]] -= seated[i] - kept[i];
    }
    long firstSeats = 0;
    for (int i = marginalFrom; i < marginalTo; i++) {
      if (seated[i] > kept[i] && earlier[orgOf[i]] == 0) {
        firstSeats += Math.max(1, minimum[i] - kept[i]);
        // Only one of its clusters takes the organization's first seat.
        earlier[orgOf[i]] = 1;
      }
    }
    long raise = newcomers > firstSeats ? 0 : 1;
    long weakest = ceilings[marginalFrom];
    return weakest <= capCents - raise ? weakest + raise : null;
  }

  /** The contested seats; {@link Turns} counts them by cluster and organization. */
  private final class Contest implements Turns.Seats {
    @Override
    public long left() {
      return Auction.this.left();
    }

    @Override
    public boolean take(int i, int more) {
      pricing.nextTurn();
      if (more > left()) {
        countLosingGang(i);
        return false;
      }
      taken += more;
      pricing.addSeats(orgOf[i], more);
      int nodes = Math.max(0, seated[i] + more - held[i]) - Math.max(0, seated[i] - held[i]);
      if (nodes > 0) {
        won.add(new Won(i, nodes));
      }
      return true;
    }
  }

  /** Seats that a cluster won together, as far as it holds no nodes for them. */
  private record Won(int cluster, int nodes) {}

  private List<Grant> grants() {
    Handing handing = new Handing();
    handing.toNewcomers();
    handing.toSwaps();
    return Collections.unmodifiableList(handing.grants);
  }

  /** Grants free nodes to new seats in the order in which these were won, then to swaps. */
  private final class Handing {
    private final FreeNodes free = new FreeNodes(supply.free());
    private final List<Grant> grants = new ArrayList<>();

    /** Keeps all free nodes that are left for seats won together that need more of them. */
    void toNewcomers() {
      for (Won seats : won) {
        if (seats.nodes() > free.remaining()) {
          free.keep();
          return;
        }
        Bidder bidder = ranked[seats.cluster()];
        for (int n = 0; n < seats.nodes(); n++) {
          grants.add(new Grant(bidder.cluster(), free.takeForSlot(bidder.org()), null));
        }
      }
    }

    /** Grants replacements; they take only nodes that no seat claims, so they never move prices. */
    void toSwaps() {
      long spare = Auction.this.left();
      for (int i : swapping) {
        spare -= toSwaps(ranked[i], spare);
      }
    }

    private long toSwaps(Bidder bidder, long spare) {
      long swaps = 0;
      for (String swap : bidder.swapsAwaiting()) {
        String node = swaps < spare ? free.takeForSwap(bidder.org()) : null;
        if (node == null) {
          break;
        }
        grants.add(new Grant(bidder.cluster(), node, swap));
        swaps++;
      }
      return swaps;
    }
  }
}
