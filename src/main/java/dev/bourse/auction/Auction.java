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
 *   <li>what operator-managed clusters hold, and every shielded allocation;
 *   <li>the contested seats: ceiling descending, then incumbents before newcomers, then the
 *       organization that has fewer seats at that point, then its cluster that has fewer, then the
 *       older price, then the cluster's name;
 *   <li>new seats of clusters that rank last, in the same order.
 * </ol>
 *
 * A gang is a cluster to which fewer seats than its minimum are worth nothing. Its turn for all of
 * them together is that of a first seat, among incumbents when it holds that many: then it takes
 * what its shielded seats lack of the minimum, or, where fewer are left, is passed over and stays
 * without; the seats go on. Beyond its minimum it is as any other, and so is one that may not bid
 * for its minimum: it keeps what it holds.
 *
 * <p>Held nodes without a seat are reclaimed. A held node that could not be granted to anybody else
 * is no seat: its holder keeps it as long as its ceiling would keep a seat. Seats won by newcomers
 * take free nodes, the best seat first; a seat for which there is none yet waits. A gang's
 * newcomers are granted nodes together, and what is free is kept for it until there are enough.
 * Swaps get what no seat claims.
 *
 * <p>Clusters may declare millions of slots, so only seats that are won ever materialize. One run
 * takes O(n log n) in clusters and nodes.
 */
public final class Auction implements Turns.Seats {
  private final long reserveCents;
  private final long capCents;
  private final Supply supply;

  // By rank, so that clusters with one ceiling are neighbours.
  private final Bidder[] ranked;

  private final long[] ceilings;
  private final String[] orgs;
  private final int[] orgOf;

  // A bidder is looked at once; what is needed of it later lies side by side.
  private final boolean[] isLast;
  private final int[] declared;

  /** Nodes held that are seats. */
  private final int[] held;

  /** Nodes held that are no seats. */
  private final int[] unusable;

  /** Clusters that wait for replacements and may have them, by rank. */
  private final List<Integer> swapping = new ArrayList<>();

  /** Seats before all bids. */
  private final int[] shielded;

  /** Seats a cluster has once it kept all its incumbents; its newcomers come on top. */
  private final int[] defended;

  /** Seats a cluster has once it wins all it bids for. */
  private final int[] wanted;

  /** Fewer seats are worth nothing; 1 for whoever takes any. */
  private final int[] minimum;

  /** Seats a cluster has so far: from shielded over defended to wanted. */
  private final int[] seated;

  /** Seats an organization has so far. */
  private final int[] orgSeats;

  /** Seats a cluster had when its newcomers' turn came. */
  private final int[] kept;

  private final Pricing pricing;
  private final Turns turns;

  /** Whether a gang's loss was told to the pricing. */
  private final boolean[] isLossTold;

  /** All seats so far. */
  private long taken;

  private final List<Reclaim> reclaims = new ArrayList<>();
  private final Map<String, Integer> unseated = new HashMap<>();

  /** The last group to win a contested seat before those that rank last; empty while none did. */
  private int marginalFrom;

  private int marginalTo;

  /** Seats won by those that rank last. */
  private long lastSeats;

  private Auction(long reserveCents, long capCents, List<Bidder> bidders, Supply supply) {
    this.reserveCents = reserveCents;
    this.capCents = capCents;
    this.supply = supply;
    ranked = Ranking.rank(bidders);
    int count = ranked.length;
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
    isLossTold = new boolean[count];
    orgs = read();
    orgSeats = new int[orgs.length];
    pricing = new Pricing(reserveCents, orgs.length);
    turns = new Turns(orgOf, orgSeats, seated, minimum, this, false);
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

  /** Looks at each bidder; the organizations by their numbers. */
  private String[] read() {
    Map<String, Integer> numbers = new HashMap<>();
    List<String> names = new ArrayList<>();
    for (int i = 0; i < ranked.length; i++) {
      Bidder bidder = ranked[i];
      Integer number = numbers.putIfAbsent(bidder.org(), names.size());
      if (number == null) {
        names.add(bidder.org());
      }
      orgOf[i] = number == null ? names.size() - 1 : number;
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
    return names.toArray(new String[0]);
  }

  /** Counts the nodes that are seats, those before all bids among them, and those that are none. */
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

  /** Whether a cluster has fewer seats than are worth anything to it; a shielded one keeps them. */
  private boolean isShort(int i) {
    return minimum[i] > 1 && seated[i] < minimum[i];
  }

  /** Whether a cluster's unshielded nodes defend their seats. */
  private boolean contests(Bidder bidder) {
    return takesPart(bidder) && bidder.ceilingCents() >= reserveCents;
  }

  /** Whether a cluster may win new seats. */
  private boolean admits(Bidder bidder) {
    return bidder.participation() == Participation.OPEN && bidder.ceilingCents() >= reserveCents;
  }

  /** The seats up to which a cluster's lost bids make a price. */
  private int priced(int i) {
    return isLast[i] ? defended[i] : wanted[i];
  }

  /** Seats nobody has; negative when more are shielded than there are. */
  @Override
  public long left() {
    return supply.seats() - taken;
  }

  private void seats(int i, int more) {
    if (more > 0) {
      seated[i] += more;
      orgSeats[orgOf[i]] += more;
      taken += more;
      pricing.takes(orgOf[i], more);
    }
  }

  /** What {@link Turns} ask; it counts the seats of clusters and organizations itself. */
  @Override
  public boolean take(int i, int more) {
    pricing.nextTurn();
    if (more > left()) {
      losesGang(i);
      return false;
    }
    taken += more;
    pricing.takes(orgOf[i], more);
    return true;
  }

  private void losesGang(int i) {
    if (priced(i) >= minimum[i] && !isLossTold[i]) {
      isLossTold[i] = true;
      long lacks = minimum[i] - seated[i] - left();
      pricing.losesGang(orgOf[i], ceilings[i], (int) lacks);
    }
  }

  private enum Phase {
    /** Incumbents defend what they hold. */
    DEFENCE,
    /** Newcomers bid, but for those that rank last. */
    BIDS,
    /** Newcomers bid that rank last. */
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
        losesGang(i);
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
    int[] goals = goals(from, to, phase, seated);
    long claims = 0;
    for (int i = from; i < to; i++) {
      claims += goals[i - from] - seated[i];
    }
    pricing.nextTurn();
    if (claims > left()) {
      turns.take(from, to, goals);
      return;
    }
    for (int i = from; i < to; i++) {
      seats(i, goals[i - from] - seated[i]);
    }
  }

  /**
   * Up to where the clusters of a group may rise in a phase: one that bids for less than is worth
   * anything to it stays where it is.
   *
   * @param standing the seats they have
   */
  private int[] goals(int from, int to, Phase phase, int[] standing) {
    int[] goals = new int[to - from];
    for (int i = from; i < to; i++) {
      int goal =
          switch (phase) {
            case DEFENCE -> defended[i];
            case BIDS -> isLast[i] ? standing[i] : wanted[i];
            case LAST -> isLast[i] ? wanted[i] : standing[i];
          };
      goals[i - from] = goal < minimum[i] ? standing[i] : goal;
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
      pricing.keepsUnusable(orgOf[i], unusable[i] - lost);
    }
  }

  /** Takes back a cluster's first nodes that are in excess; how many went that are no seats. */
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

  /** The lowest ceiling that would keep an incumbent one seat more, were there one. */
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
   * The highest price that an organization pays.
   *
   * @param orgCents told what those pay that have seats and pay less
   */
  private @Nullable Long price(Map<String, Long> orgCents) {
    for (int i = 0; i < ranked.length; i++) {
      if (seated[i] < priced(i) && !isShort(i)) {
        if (left() < 0) {
          // More is shielded than there are seats: one of those would not do.
          pricing.losesGang(orgOf[i], ceilings[i], (int) (1 - left()));
        } else {
          pricing.loses(orgOf[i], ceilings[i]);
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
   * Why each gang that has not its minimum has it not. Those that bid the cap count before it,
   * whichever would have the first turn.
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
   * The lowest ceiling at which a cluster that comes now, of an organization that comes now, would
   * win its first seat: at the weakest contested seat's ceiling its turn is after the first ones of
   * all other organizations, but before their second ones.
   */
  private @Nullable Long admissionPrice() {
    if (left() > 0 || lastSeats > 0) {
      return reserveCents;
    }
    if (marginalTo == 0) {
      return null;
    }
    Map<Integer, Integer> byOrg = new HashMap<>();
    long newcomers = 0;
    for (int i = marginalFrom; i < marginalTo; i++) {
      newcomers += seated[i] - kept[i];
      byOrg.merge(orgOf[i], seated[i] - kept[i], Integer::sum);
    }
    long firstSeats = 0;
    for (int i = marginalFrom; i < marginalTo; i++) {
      if (seated[i] > kept[i] && Integer.valueOf(orgSeats[orgOf[i]]).equals(byOrg.get(orgOf[i]))) {
        firstSeats += Math.max(1, minimum[i] - kept[i]);
        byOrg.remove(orgOf[i]);
      }
    }
    long raise = newcomers > firstSeats ? 0 : 1;
    long weakest = ceilings[marginalFrom];
    return weakest <= capCents - raise ? weakest + raise : null;
  }

  private List<Grant> grants() {
    Handing handing = new Handing();
    handing.toNewcomers(Phase.BIDS);
    handing.toNewcomers(Phase.LAST);
    handing.toSwaps();
    return Collections.unmodifiableList(handing.grants);
  }

  /** Hands free nodes out: to the seats that newcomers won, in the order in which they won them. */
  private final class Handing implements Turns.Seats {
    private final FreeNodes free = new FreeNodes(supply.free());
    private final List<Grant> grants = new ArrayList<>();
    private final int[] standing = shielded.clone();
    private final int[] orgStanding = new int[orgs.length];
    private final Turns inOrder = new Turns(orgOf, orgStanding, standing, minimum, this, true);

    Handing() {
      for (int i = 0; i < ranked.length; i++) {
        orgStanding[orgOf[i]] += shielded[i];
      }
    }

    void toNewcomers(Phase phase) {
      for (int from = 0; from < ranked.length && left() > 0; from = endOfGroup(from)) {
        int to = endOfGroup(from);
        int[] goals = new int[to - from];
        for (int i = from; i < to; i++) {
          orgStanding[orgOf[i]] += Math.max(0, kept[i] - standing[i]);
          standing[i] = Math.max(kept[i], standing[i]);
          boolean isTurn = isLast[i] == (phase == Phase.LAST);
          goals[i - from] = isTurn ? seated[i] : standing[i];
        }
        inOrder.take(from, to, goals);
      }
    }

    @Override
    public long left() {
      return free.remaining();
    }

    /** What is free is kept for a gang until there is enough for it. */
    @Override
    public boolean take(int i, int seats) {
      int nodes = Math.max(0, standing[i] + seats - held[i]) - Math.max(0, standing[i] - held[i]);
      if (nodes > free.remaining()) {
        free.keep();
        return true;
      }
      Bidder bidder = ranked[i];
      for (int n = 0; n < nodes; n++) {
        grants.add(new Grant(bidder.cluster(), free.takeForSlot(bidder.org()), null));
      }
      return true;
    }

    /** Replacements only ever take nodes that no seat claims, and so never move the price. */
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
