package dev.bourse.auction;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The prices that organizations pay. Each pays the highest bid of the others that loses and would
 * win if the organization had no seats. For a single seat this is the second-price auction of W.
 * Vickrey, "Counterspeculation, Auctions, and Competitive Sealed Tenders", 1961.
 *
 * <p>The highest losing bid for single seats would win if any organization left. A losing gang
 * would win only if the organization that leaves took at least the seats that the gang lacked, and
 * took them before the gang's turn. Lost bids are recorded in the order of turns, so the first bid
 * that would win is the highest.
 */
final class Pricing {
  /** A losing gang: its turn, its organization and its ceiling. */
  private record Gang(int turn, int org, long cents) {}

  /** Losing gangs that lacked equally many seats. */
  private static final class Alike {
    private final List<Gang> inOrder = new ArrayList<>();
    private long highestCents;

    void add(Gang gang) {
      inOrder.add(gang);
      highestCents = Math.max(highestCents, gang.cents());
    }
  }

  /** The turns at which an organization took its seats. */
  private static final class Taken {
    private int[] turns = new int[4];
    private int[] totals = new int[4];
    private int size;

    void add(int turn, int seats) {
      if (size > 0 && turns[size - 1] == turn) {
        totals[size - 1] += seats;
        return;
      }
      if (size == turns.length) {
        turns = Arrays.copyOf(turns, 2 * size);
        totals = Arrays.copyOf(totals, 2 * size);
      }
      turns[size] = turn;
      totals[size] = (size == 0 ? 0 : totals[size - 1]) + seats;
      size++;
    }

    /** Returns the turn at which it had this many seats; {@code MAX_VALUE} if it never had. */
    int turnOf(int seats) {
      int at = Arrays.binarySearch(totals, 0, size, seats);
      int first = at >= 0 ? at : -at - 1;
      return first == size ? Integer.MAX_VALUE : turns[first];
    }

    int total() {
      return size == 0 ? 0 : totals[size - 1];
    }
  }

  private final long reserveCents;
  private final Taken[] taken;
  private final int[] unusable;
  private final TreeMap<Integer, Alike> gangs = new TreeMap<>();
  private int turn;
  private long highestCents;
  private int highestOrg = -1;
  private long nextCents;

  Pricing(long reserveCents, int orgs) {
    this.reserveCents = reserveCents;
    this.highestCents = reserveCents;
    this.nextCents = reserveCents;
    unusable = new int[orgs];
    taken = new Taken[orgs];
    for (int i = 0; i < orgs; i++) {
      taken[i] = new Taken();
    }
  }

  /** Begins the next turn; later calls record its events. */
  void nextTurn() {
    turn++;
  }

  /** Records that an organization took seats. */
  void addSeats(int org, int seats) {
    taken[org].add(turn, seats);
  }

  /** Records that an organization holds unusable nodes; it pays for them as for seats. */
  void addUnusable(int org, int nodes) {
    unusable[org] += nodes;
  }

  /** Records a losing bid for single seats; calls come in descending order of price. */
  void addLosingBid(int org, long cents) {
    if (highestOrg < 0) {
      highestOrg = org;
      highestCents = cents;
    } else if (org != highestOrg && nextCents < cents) {
      nextCents = cents;
    }
  }

  /** Records a gang that lost because it lacked seats; calls come in the order of turns. */
  void addLosingGang(int org, long cents, int lacks) {
    gangs.computeIfAbsent(lacks, n -> new Alike()).add(new Gang(turn, org, cents));
  }

  /** True if an organization has seats. */
  boolean hasSeats(int org) {
    return total(org) > 0;
  }

  private int total(int org) {
    return unusable[org] + taken[org].total();
  }

  /** Returns the price per GPU-hour of an organization that has seats. */
  long centsOf(int org) {
    long cents = Math.max(reserveCents, org == highestOrg ? nextCents : highestCents);
    for (Map.Entry<Integer, Alike> alike : gangs.headMap(total(org), true).entrySet()) {
      if (alike.getValue().highestCents <= cents) {
        // Most gangs lose at the end, at no more than the highest losing bid.
        continue;
      }
      int lacked = alike.getKey() - unusable[org];
      int after = lacked <= 0 ? -1 : taken[org].turnOf(lacked);
      cents = Math.max(cents, highest(alike.getValue().inOrder, after, org));
    }
    return cents;
  }

  /** Returns the highest bid of others after this turn; the reserve price if there is none. */
  private long highest(List<Gang> inOrder, int after, int org) {
    int low = 0;
    int high = inOrder.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (inOrder.get(middle).turn() <= after) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    while (low < inOrder.size() && inOrder.get(low).org() == org) {
      low++;
    }
    return low == inOrder.size() ? reserveCents : inOrder.get(low).cents();
  }
}
