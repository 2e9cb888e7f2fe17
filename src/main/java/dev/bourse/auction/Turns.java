package dev.bourse.auction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Has clusters with one ceiling take seats in turn: the organization with the fewest seats first,
 * of its clusters the one with the fewest, then the one that ranks first. A gang's turn for all
 * that it lacks of its minimum is that of a first seat.
 *
 * <p>Organizations with as many seats as each other make a round. Where there is enough for a whole
 * round nobody asks for the order in it, so that seats cost about a step each.
 */
final class Turns {
  /** Where seats come from. */
  interface Seats {
    /** Seats nobody has. */
    long left();

    /**
     * Gives a cluster seats.
     *
     * @return false when that are too many for what is left, which passes the cluster over
     */
    boolean take(int cluster, int seats);
  }

  private static final Comparator<Side> BY_PLACE = Comparator.comparingLong(side -> side.place);

  private final int[] orgOf;
  private final int[] orgSeats;
  private final int[] seated;
  private final int[] minimum;
  private final Seats seats;
  private final boolean isOrderTold;

  /** By organization; those alone that take turns. */
  private final @Nullable Side[] sides;

  /** By seats of the organization. */
  private final TreeMap<Integer, List<Side>> rounds = new TreeMap<>();

  private int from;
  private int[] goals = {};

  /** The clusters of one organization that still take turns. */
  private final class Side {
    final int org;

    /** Of the cluster that is next: its seats, and then its rank. */
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

    /** The cluster that is next is none of them any more. */
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
   * @param minimum how many seats a cluster's first turn is for, less those it has
   * @param isOrderTold whether turns are to be taken in order even where all of a round fit
   */
  Turns(
      int[] orgOf, int[] orgSeats, int[] seated, int[] minimum, Seats seats, boolean isOrderTold) {
    this.orgOf = orgOf;
    this.orgSeats = orgSeats;
    this.seated = seated;
    this.minimum = minimum;
    this.seats = seats;
    this.isOrderTold = isOrderTold;
    this.sides = new Side[orgSeats.length];
  }

  /**
   * Takes turns until no seat is left or each cluster has what it may have.
   *
   * @param first the first cluster
   * @param end the one after the last
   * @param most up to where each of them may rise
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
    if (isOrderTold || needed > seats.left()) {
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

  /** Whether the side had a seat, and so goes on in a later round if at all. */
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

  /** Fewer seats come first, then the rank; a gang without its minimum has none. */
  private long place(int cluster) {
    long level = seated[cluster] < minimum[cluster] ? 0 : seated[cluster];
    return level << Integer.SIZE | cluster;
  }

  private int step(int cluster) {
    return Math.max(1, minimum[cluster] - seated[cluster]);
  }
}
