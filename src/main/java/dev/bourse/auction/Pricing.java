package dev.bourse.auction;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What organizations pay: each the highest bid of the others that loses and would win if the
 * organization had no seats (the externality that a uniform price has it pay, as in the auctions of
 * W. Vickrey, "Counterspeculation, Auctions, and Competitive Sealed Tenders", 1961, for a single
 * seat).
 *
 * <p>Bids that take any seat are all alike in this: the highest that loses would win whichever
 * organization left. A gang would only if the seats that organization took before the gang's turn
 * are as many as it lacked then. Bids come in order of their turns, so that of those that would win
 * the first is the highest, and nobody who comes before it takes what it needs.
 */
final class Pricing {
  /** A gang that lost: what it lacked at its turn, when that was, whose it is and what it bid. */
  private record Gang(int lacks, int turn, int org, long cents) {}

  /** When an organization took its seats. */
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

    /** The turn at which it had this many; that is no turn when it never had. */
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
  private final TreeMap<Integer, List<Gang>> gangs = new TreeMap<>();
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

  /** The next turn begins: what is told from here on happens at it. */
  void nextTurn() {
    turn++;
  }

  /** An organization took seats. */
  void takes(int org, int seats) {
    taken[org].add(turn, seats);
  }

  /** An organization keeps nodes that are no seats; it pays for them as for seats. */
  void keepsUnusable(int org, int nodes) {
    unusable[org] += nodes;
  }

  /** A bid for any number of seats lost. Told of in order, the highest first. */
  void loses(int org, long cents) {
    if (highestOrg < 0) {
      highestOrg = org;
      highestCents = cents;
    } else if (org != highestOrg && nextCents < cents) {
      nextCents = cents;
    }
  }

  /** A gang lost, for it lacked seats at its turn. Told of in order of turns. */
  void losesGang(int org, long cents, int lacks) {
    gangs.computeIfAbsent(lacks, n -> new ArrayList<>()).add(new Gang(lacks, turn, org, cents));
  }

  /** Whether an organization has seats. */
  boolean hasSeats(int org) {
    return total(org) > 0;
  }

  private int total(int org) {
    return unusable[org] + taken[org].total();
  }

  /** What an organization pays that has seats. */
  long centsOf(int org) {
    long cents = Math.max(reserveCents, org == highestOrg ? nextCents : highestCents);
    for (Map.Entry<Integer, List<Gang>> alike : gangs.headMap(total(org), true).entrySet()) {
      int lacked = alike.getKey() - unusable[org];
      int after = lacked <= 0 ? -1 : taken[org].turnOf(lacked);
      cents = Math.max(cents, highest(alike.getValue(), after, org));
    }
    return cents;
  }

  /** The highest bid of others after this turn; the reserve price when there is none. */
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
