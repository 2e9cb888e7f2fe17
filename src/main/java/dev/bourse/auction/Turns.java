package dev.bourse.auction;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Gives seats in turn to clusters with the same ceiling: to the organization with the fewest seats,
 * to its cluster with the fewest, then by rank. A gang takes all seats that it lacks of its minimum
 * at the turn of a first seat.
 *
 * <p>Organizations with equally many seats make a round.
 */
final class Turns {
  /** A source of seats. */
  interface Seats {
    /** Returns the number of free seats. */
    long left();

    /**
     * Gives a cluster seats.
     *
     * @return false if fewer are left, which passes the cluster over
     */
    boolean take(int cluster, int seats);
  }

  private final int[] orgOf;
  private final int[] orgSeats;
  private final int[] seated;
  private final int[] minimum;
  private final Seats seats;

  /** By organization; null for those that never had a turn. */
  private final @Nullable Side[] sides;

  /** By the organization's number of seats. */
  private final TreeMap<Integer, Round> rounds = new TreeMap<>();

  /** The round that was entered last, and its number of seats; the next entry is often to it. */
  private Round entered = new Round();

  private int enteredSeats = -1;

  private int from;
  private int[] goals = {};

  /**
   * The places of one organization's clusters that may still take seats, the next one first. A heap
   * of primitive numbers, because boxed ones take twice the time.
   */
  private static final class Side {
    private long[] heap = new long[2];
    private int size;

    boolean isOver() {
      return size == 0;
    }

    void clear() {
      size = 0;
    }

    long next() {
      return heap[0];
    }

    void add(long place) {
      if (size == heap.length) {
        heap = Arrays.copyOf(heap, 2 * size);
      }
      int at = size++;
      while (at > 0 && heap[(at - 1) / 2] > place) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
      }
      heap[at] = place;
    }

    void removeNext() {
      long last = heap[--size];
      int at = 0;
      for (int child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && heap[child + 1] < heap[child]) {
          child++;
        }
        if (last <= heap[child]) {
          break;
        }
        heap[at] = heap[child];
        at = child;
      }
      heap[at] = last;
    }
  }

  /** The places of organizations with equally many seats, one each. */
  private static final class Round {
    private long[] places = new long[8];
    private int size;

    void add(long place) {
      if (size == places.length) {
        places = Arrays.copyOf(places, 2 * size);
      }
      places[size++] = place;
    }

    void sort() {
      Arrays.sort(places, 0, size);
    }

    /** Inserts a place after one of the sorted places. */
    void insertAfter(int at, long place) {
      int to = -Arrays.binarySearch(places, at + 1, size, place) - 1;
      add(place);
      System.arraycopy(places, to, places, to + 1, size - 1 - to);
      places[to] = place;
    }
  }

  /**
   * @param orgOf organization by cluster; clusters are numbered by rank
   * @param orgSeats seats by organization; changed with each turn
   * @param seated seats by cluster; changed with each turn
   * @param minimum seats that a cluster has after its first turn
   */
  Turns(int[] orgOf, int[] orgSeats, int[] seated, int[] minimum, Seats seats) {
    this.orgOf = orgOf;
    this.orgSeats = orgSeats;
    this.seated = seated;
    this.minimum = minimum;
    this.seats = seats;
    this.sides = new Side[orgSeats.length];
  }

  /**
   * Gives seats until none is left or each cluster has the most it may have.
   *
   * @param first the first cluster
   * @param end the one after the last
   * @param most the seats that each of them may have at most
   */
  void take(int first, int end, int[] most) {
    from = first;
    goals = most;
    rounds.clear();
    enteredSeats = -1;
    List<Integer> orgs = new ArrayList<>();
    for (int i = first; i < end; i++) {
      if (seated[i] < most[i - first]) {
        Side side = sides[orgOf[i]];
        if (side == null) {
          side = new Side();
          sides[orgOf[i]] = side;
        }
        if (side.isOver()) {
          orgs.add(orgOf[i]);
        }
        side.add(place(i));
      }
    }
    for (int org : orgs) {
      enter(org, Objects.requireNonNull(sides[org]));
    }
    while (!rounds.isEmpty() && seats.left() > 0) {
      takeRound(rounds.pollFirstEntry().getValue());
    }
    for (int org : orgs) {
      Objects.requireNonNull(sides[org]).clear();
    }
  }

  private void takeRound(Round round) {
    round.sort();
    for (int i = 0; i < round.size && seats.left() > 0; i++) {
      int cluster = (int) round.places[i];
      Side side = Objects.requireNonNull(sides[orgOf[cluster]]);
      if (!turn(cluster, side) && !side.isOver()) {
        round.insertAfter(i, side.next());
      }
    }
  }

  /** Takes one turn; returns false if the cluster was passed over, so that another one is next. */
  private boolean turn(int cluster, Side side) {
    int step = step(cluster);
    side.removeNext();
    if (!seats.take(cluster, step)) {
      return false;
    }
    int org = orgOf[cluster];
    seated[cluster] += step;
    orgSeats[org] += step;
    if (seated[cluster] < goals[cluster - from]) {
      side.add(place(cluster));
    }
    enter(org, side);
    return true;
  }

  private void enter(int org, Side side) {
    if (side.isOver()) {
      return;
    }
    if (orgSeats[org] != enteredSeats) {
      enteredSeats = orgSeats[org];
      entered = rounds.computeIfAbsent(enteredSeats, seats -> new Round());
    }
    entered.add(side.next());
  }

  /** Orders by seats, then by rank; a gang without its minimum counts as without seats. */
  private long place(int cluster) {
    long level = seated[cluster] < minimum[cluster] ? 0 : seated[cluster];
    return level << Integer.SIZE | cluster;
  }

  private int step(int cluster) {
    return Math.max(1, minimum[cluster] - seated[cluster]);
  }
}
