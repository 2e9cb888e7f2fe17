package dev.bourse.market;

import dev.bourse.capacity.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The world of a player: a pool and honest rivals.
 *
 * @param nodes machines of the pool
 * @param hours simulated hours
 * @param tickMillis the time from one tick to the next
 * @param noticeMillis the pool's notice
 * @param rivals honest bidders
 * @param valueCents the value of a GPU-hour to the player
 * @param demand nodes that the player wants
 * @param arrivesAtMillis when the player makes its first declarations
 */
record PlayedWorld(
    int nodes,
    int hours,
    long tickMillis,
    long noticeMillis,
    List<Rival> rivals,
    long valueCents,
    int demand,
    long arrivesAtMillis) {
  private static final long MINUTE = 60_000;

  /**
   * An honest bidder, which declares its value and its demand.
   *
   * @param least its minimum; 1 for none
   * @param stays how long it stays each time; 0 for ever
   * @param away how long it is away in between
   */
  record Rival(
      long valueCents, int demand, int least, long arrivesAtMillis, long stays, long away) {
    /** Creates a rival that comes at the beginning and stays. */
    static Rival standing(long valueCents, int demand) {
      return new Rival(valueCents, demand, 1, 0, 0, 0);
    }
  }

  boolean hasGangs() {
    return rivals.stream().anyMatch(rival -> rival.least() > 1);
  }

  /** Returns the least cost of the player's demand over the day, in cents per GPU-hour. */
  double leastCents() {
    return (double) demand * hours * Sample.POOL.reserveCents();
  }

  PlayedWorld with(List<Rival> others) {
    return new PlayedWorld(
        nodes, hours, tickMillis, noticeMillis, others, valueCents, demand, arrivesAtMillis);
  }

  /**
   * Draws a world at random.
   *
   * @param areStanding true if rivals stay after they came
   */
  static PlayedWorld draw(Random random, int hours, long tickMillis, boolean areStanding) {
    int nodes = 2 + random.nextInt(4);
    List<Rival> rivals = new ArrayList<>();
    boolean areGangs = random.nextInt(6) == 0;
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      int demand = 1 + random.nextInt(nodes);
      long periodic = areStanding || random.nextBoolean() ? 0 : (30 + random.nextInt(150)) * MINUTE;
      rivals.add(
          new Rival(
              200 + 10L * random.nextInt(71),
              demand,
              areGangs && random.nextBoolean() ? demand : 1,
              random.nextBoolean() ? 0 : random.nextInt(150) * MINUTE,
              periodic,
              (30 + random.nextInt(150)) * MINUTE));
    }
    return new PlayedWorld(
        nodes,
        hours,
        tickMillis,
        areGangs && random.nextBoolean() ? 12 * MINUTE : 2 * MINUTE,
        rivals,
        205 + 10L * random.nextInt(71),
        1 + random.nextInt(nodes),
        random.nextBoolean() ? 0 : random.nextInt(90) * MINUTE);
  }
}
