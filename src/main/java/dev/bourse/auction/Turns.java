package dev.bourse.auction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Gives seats in turn to clusters with the same ceiling: to the organization with the fewest seats,
 * to its cluster with the fewest, then by rank. A gang takes all seats that it lacks of its minimum
 * at the turn of a first seat.
 *
 * <p>Organizations with equally many seats make a round. A round that fits into the seats left
 * needs no order, so a seat costs about one step.
 */
final class Turns {
  /** A source of seats. */
  interface Seats {
    /** Returns the seats that nobody has. */
    long left();

    /**
     * Gives a cluster seats.
     *
     * @return false if fewer are left, which passes the cluster over
     */
    boolean take(int cluster, int seats);
  }

  private static final Comparator<Side> BY_PLACE = Comparator.comparingLong(side -> side.place);

  private final int[] orgOf;
  private final int[] orgSeats;
  private final int[] seated;
  private final int[] minimum;
  private final Seats seats;
  private final boolean isOrdered;

  /** By organization; null for those without a turn in this group. */
  private final @Nullable Side[] sides;

  /** By the organization's number of seats. */
  private final TreeMap<Integer, List<Side>> rounds = new TreeMap<>();

  private int from;
  private int[] goals = {};

  /** The clusters of one organization that may still take seats. */
  private final class Side {
    final int org;

    /** The place of the next cluster: its seats, then its rank. */
    long place;

    /** The places of the others; null while there are none. */
    private @Nullable PriorityQueue<Long> others;

    private boolean isOver;

    Side(int cluster) {
      org = orgOf[cluster];
      place = place(cluster);
    }

    int next() {
      return (int) place;
    }

    void add(int cluster) {
      if (isOver) {
        place = place(cluster);
        isOver = false;
        return;
      }
      PriorityQueue<Long> queue = others == null ? new PriorityQueue<>() : others;
      others = queue;
      queue.add(Math.max(place, place(cluster)));
      place = Math.min(place, place(cluster));
    }

    /** Removes the next cluster. */
    void remove() {
      Long other = others == null ? null : others.poll();
      isOver = other == null;
      place = other == null ? 0 : other;
    }
  }

  /**
   * @param orgOf organization by cluster; clusters are numbered by rank
   * @param orgSeats seats by organization; changed with each turn
   * @param seated seats by cluster; changed with each turn
   * @param minimum seats that a cluster has after its first turn
   * @param isOrdered true if turns are taken in order even if a whole round fits
   */
  Turns(int[] orgOf, int[] orgSeats, int[] seated, int[] minimum, Seats seats, boolean isOrdered) {
    this.orgOf = orgOf;
    this.orgSeats = orgSeats;
    this.seated = seated;
    this.minimum = minimum;
    this.seats = seats;
    this.isOrdered = isOrdered;
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
    List<Side> all = new ArrayList<>();
    for (int i = first; i < end; i++) {
      if (seated[i] < most[i - first]) {
        Side side = sides[orgOf[i]];
        if (side == null) {
          side = new Side(i);
          sides[orgOf[i]] = side;
          all.add(side);
        } else {
          side.add(i);
        }
      }
    }
    for (Side side : all) {
      sides[side.org] = null;
      enter(side);
    }
    while (!rounds.isEmpty() && seats.left() > 0) {
      takeRound(rounds.pollFirstEntry().getValue());
    }
  }

  private void takeRound(List<Side> round) {
    long needed = 0;
    for (Side side : round) {
      needed += step(side.next());
    }
    if (isOrdered || needed > seats.left()) {
      takeInOrder(round);
    } else {
      round.forEach(this::turn);
    }
  }

  private void takeInOrder(List<Side> round) {
    round.sort(BY_PLACE);
    for (int i = 0; i < round.size() && seats.left() > 0; i++) {
      Side side = round.get(i);
      if (!turn(side) && !side.isOver) {
        List<Side> later = round.subList(i + 1, round.size());
        later.add(-Collections.binarySearch(later, side, BY_PLACE) - 1, side);
      }
    }
  }

  /** Takes one turn; returns false if the cluster was passed over, so that another one is next. */
  private boolean turn(Side side) {
    int cluster = side.next();
    int step = step(cluster);
    side.remove();
    if (!seats.take(cluster, step)) {
      return false;
    }
    seated[cluster] += step;
    orgSeats[side.org] += step;
    if (seated[cluster] < goals[cluster - from]) {
      side.add(cluster);
    }
    enter(side);
    return true;
  }

  private void enter(Side side) {
    if (!side.isOver) {
      rounds.computeIfAbsent(orgSeats[side.org], level -> new ArrayList<>()).add(side);
    }
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
