package dev.bourse.market;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A bidder's strategy: first declarations of its clusters, and moves that repeat around every gate.
 *
 * <p>The strategy is data so that a search can draw it from a seed and drop moves that do not
 * matter.
 *
 * @param name names the strategy in reports
 * @param starts first declarations, by cluster
 * @param moves writes that repeat
 */
record Player(String name, List<Start> starts, List<Move> moves) {
  /** Clusters of a player; the last one belongs to a second organization, its partner. */
  static final int CLUSTERS = 7;

  /** The cluster of the second organization. */
  static final int PARTNER = CLUSTERS - 1;

  /** Ceilings, relative to the bids of rivals. */
  enum Price {
    VALUE,
    VALUE_LESS_CENT,
    RESERVE,
    /** The highest bid of another organization. */
    RIVAL,
    RIVAL_MORE_CENT,
    RIVAL_LESS_CENT,
    /** One cent below the lowest ceiling that holds a node of another organization. */
    BELOW_SEATS,
    CAP,
    /** One cent above the highest ceiling of the player's other clusters. */
    OWN_MORE_CENT
  }

  /** Numbers of nodes, relative to the demand. */
  enum Size {
    ALL,
    HALF,
    REST,
    ONE,
    TWO,
    ZERO,
    HELD,
    POOL,
    BEYOND
  }

  /** The minimum of a declaration. */
  enum Least {
    NONE,
    ALL,
    TWO
  }

  /** The condition of a move. */
  enum When {
    ALWAYS,
    HOLDS_NONE,
    HOLDS_ANY,
    HOLDS_DEMAND,
    NOTICED,
    NOTICE_ENDS,
    NOT_NOTICED,
    AWAITS,
    PROVISIONING,
    ALL_ACTIVE,
    UNPROTECTED,
    PROTECTED,
    RIVAL_WAITS,
    NODE_FREE
  }

  /** The action of a move. */
  enum Deed {
    DECLARE,
    SWAP,
    /** Its machines stop answering. */
    SILENCE,
    /** The machine that is released first stops answering. */
    SILENCE_NEXT,
    ANSWER,
    /** Changes a setting that the market does not use. */
    TOUCH
  }

  record Bid(Price price, Size size, Least least) {
    static final Bid TRUTH = new Bid(Price.VALUE, Size.ALL, Least.NONE);

    @Override
    public String toString() {
      return price + " x " + size + (least == Least.NONE ? "" : " at least " + least);
    }
  }

  record Start(int cluster, Bid bid) {
    @Override
    public String toString() {
      return "c" + cluster + " starts with " + bid;
    }
  }

  /**
   * One repeated write.
   *
   * @param every ticks from one to the next
   * @param phase the tick of the period at which it comes
   * @param offsetMillis the time from the gate on; negative before it
   */
  record Move(int cluster, When when, int every, int phase, int offsetMillis, Deed deed, Bid bid) {
    @Override
    public String toString() {
      return "c%d %s%s at gate%+d ms: %s"
          .formatted(
              cluster,
              when,
              every == 1 ? "" : " every " + every + " ticks from " + phase,
              offsetMillis,
              deed == Deed.DECLARE ? bid : deed);
    }
  }

  static Move declare(When when, int offsetMillis, Price price, Size size) {
    return declare(0, when, offsetMillis, price, size, Least.NONE);
  }

  static Move declare(
      int cluster, When when, int offsetMillis, Price price, Size size, Least least) {
    return new Move(cluster, when, 1, 0, offsetMillis, Deed.DECLARE, new Bid(price, size, least));
  }

  private static Move deed(When when, int offsetMillis, Deed deed) {
    return new Move(0, when, 1, 0, offsetMillis, deed, Bid.TRUTH);
  }

  private static Start start(int cluster, Price price, Size size, Least least) {
    return new Start(cluster, new Bid(price, size, least));
  }

  private static Player of(String name, Start start, Move... moves) {
    return new Player(name, List.of(start), List.of(moves));
  }

  private static Move periodic(int every, int phase, int offset, Price price, Size size) {
    return new Move(
        0, When.ALWAYS, every, phase, offset, Deed.DECLARE, new Bid(price, size, Least.NONE));
  }

  /** Declares its value and its demand, and never changes them. */
  static final Player TRUTHFUL = of("truthful", new Start(0, Bid.TRUTH));

  /** All strategies that were tried against the market. */
  static List<Player> known() {
    Start truth = new Start(0, Bid.TRUTH);
    List<Start> sybils = new ArrayList<>();
    for (int i = 0; i < PARTNER; i++) {
      sybils.add(start(i, Price.VALUE, Size.ONE, Least.NONE));
    }
    return List.of(
        of(
            "gang raised after the grant",
            start(0, Price.VALUE, Size.ALL, Least.ALL),
            declare(0, When.PROVISIONING, 20_000, Price.VALUE, Size.BEYOND, Least.ALL),
            declare(0, When.HOLDS_NONE, 27_000, Price.VALUE, Size.ALL, Least.ALL)),
        of(
            "ping-pong under notice",
            truth,
            declare(When.NOTICE_ENDS, -4_700, Price.RIVAL, Size.ALL),
            declare(When.NOT_NOTICED, 400, Price.RESERVE, Size.ALL)),
        of(
            "notice at the reserve once an hour",
            truth,
            declare(When.NOTICE_ENDS, -4_700, Price.VALUE, Size.ALL),
            new Move(
                0,
                When.NOT_NOTICED,
                63,
                0,
                400,
                Deed.DECLARE,
                new Bid(Price.RESERVE, Size.ALL, Least.NONE))),
        of(
            "dip between gates",
            truth,
            declare(When.ALWAYS, -4_700, Price.VALUE, Size.ALL),
            declare(When.HOLDS_ANY, 400, Price.RESERVE, Size.ALL)),
        of(
            "settings written at the gate",
            truth,
            deed(When.UNPROTECTED, 100, Deed.TOUCH),
            declare(When.UNPROTECTED, 5_000, Price.RESERVE, Size.ALL)),
        of(
            "silent machines",
            truth,
            deed(When.ALL_ACTIVE, 1_000, Deed.SILENCE),
            declare(When.UNPROTECTED, 5_000, Price.RESERVE, Size.ALL)),
        of("silent machine first", truth, deed(When.ALL_ACTIVE, 1_000, Deed.SILENCE_NEXT)),
        of(
            "silent machines between gates",
            truth,
            deed(When.NOTICED, -1, Deed.SILENCE),
            deed(When.ALWAYS, 1_000, Deed.ANSWER)),
        new Player(
            "gang for the whole pool under the lowest seat",
            List.of(truth, start(PARTNER, Price.BELOW_SEATS, Size.POOL, Least.ALL)),
            List.of(
                declare(PARTNER, When.ALWAYS, 10_000, Price.BELOW_SEATS, Size.POOL, Least.ALL))),
        new Player(
            "more demand as a gang of two",
            List.of(
                start(0, Price.VALUE, Size.HALF, Least.NONE),
                start(1, Price.VALUE, Size.TWO, Least.TWO)),
            List.of()),
        new Player(
            "second cluster of the organization",
            List.of(
                start(0, Price.VALUE, Size.HALF, Least.NONE),
                start(1, Price.VALUE, Size.REST, Least.NONE)),
            List.of()),
        new Player(
            "two clusters take turns under notice",
            List.of(
                start(0, Price.RESERVE, Size.HALF, Least.NONE),
                start(1, Price.RESERVE, Size.REST, Least.NONE)),
            List.of(
                declare(0, When.NOTICE_ENDS, -4_700, Price.OWN_MORE_CENT, Size.HALF, Least.NONE),
                declare(1, When.NOTICE_ENDS, -4_700, Price.OWN_MORE_CENT, Size.REST, Least.NONE))),
        new Player(
            "partner takes turns under notice",
            List.of(
                start(0, Price.RESERVE, Size.HALF, Least.NONE),
                start(PARTNER, Price.RESERVE, Size.REST, Least.NONE)),
            List.of(
                declare(0, When.NOTICE_ENDS, -4_700, Price.OWN_MORE_CENT, Size.HALF, Least.NONE),
                declare(
                    PARTNER,
                    When.NOTICE_ENDS,
                    -4_700,
                    Price.OWN_MORE_CENT,
                    Size.REST,
                    Least.NONE))),
        of("swaps", truth, new Move(0, When.ALL_ACTIVE, 3, 1, 9_000, Deed.SWAP, Bid.TRUTH)),
        new Player("sybils", sybils, List.of()),
        of(
            "bid high, lower once granted",
            start(0, Price.CAP, Size.ALL, Least.NONE),
            declare(When.HOLDS_ANY, 1_000, Price.RESERVE, Size.ALL),
            declare(When.HOLDS_NONE, -5_000, Price.CAP, Size.ALL)),
        of(
            "idle nodes between gate and grant",
            truth,
            declare(When.ALWAYS, -5_000, Price.VALUE, Size.ALL),
            declare(When.ALWAYS, 100, Price.VALUE, Size.ZERO)),
        of(
            "give up while provisioning",
            truth,
            declare(When.PROVISIONING, 30_000, Price.VALUE, Size.ZERO),
            declare(When.HOLDS_NONE, -5_000, Price.VALUE, Size.ALL)),
        of(
            "one cent down and up",
            truth,
            declare(When.ALWAYS, 400, Price.VALUE_LESS_CENT, Size.ALL),
            declare(When.ALWAYS, -5_000, Price.VALUE, Size.ALL)),
        of(
            "no GPUs at the cap",
            start(0, Price.CAP, Size.ZERO, Least.NONE),
            periodic(100_000, 30, 20_000, Price.CAP, Size.ALL)),
        of(
            "churn",
            truth,
            periodic(61, 60, 5_000, Price.VALUE, Size.ZERO),
            periodic(61, 60, 20_000, Price.VALUE, Size.ALL)),
        of(
            "leave and return while nodes are free",
            truth,
            new Move(
                0,
                When.NODE_FREE,
                50,
                49,
                5_000,
                Deed.DECLARE,
                new Bid(Price.VALUE, Size.ZERO, Least.NONE)),
            declare(When.HOLDS_NONE, -5_000, Price.VALUE, Size.ALL)),
        of(
            "snipe at the gate",
            start(0, Price.VALUE, Size.ZERO, Least.NONE),
            declare(When.NODE_FREE, -300, Price.VALUE, Size.ALL),
            periodic(45, 44, 5_000, Price.VALUE, Size.ZERO)));
  }

  /** Returns the strategy of this name. */
  static Player named(String name) {
    return known().stream().filter(player -> player.name().equals(name)).findFirst().orElseThrow();
  }

  /**
   * Mixtures take moves from this number of known strategies, the first ones, so that a seed stays
   * the same case when a strategy is added at the end.
   */
  private static final int MIXED = 23;

  /** Draws a mixture of moves at random. */
  static Player draw(Random random) {
    List<Start> starts = new ArrayList<>();
    List<Move> moves = new ArrayList<>();
    starts.add(new Start(0, random.nextInt(3) > 0 ? Bid.TRUTH : bid(random)));
    if (random.nextInt(3) == 0) {
      starts.add(new Start(cluster(random), bid(random)));
    }
    if (random.nextInt(4) == 0) {
      List<Player> known = known().subList(0, MIXED);
      moves.addAll(known.get(random.nextInt(known.size())).moves());
    }
    int count = 1 + random.nextInt(5);
    for (int i = 0; i < count; i++) {
      moves.add(move(random, starts));
    }
    return new Player("drawn", starts, moves);
  }

  private static int cluster(Random random) {
    return random.nextInt(2) == 0 ? 1 : PARTNER;
  }

  private static Move move(Random random, List<Start> starts) {
    int every = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(90);
    Deed deed = random.nextInt(5) > 0 ? Deed.DECLARE : pick(random, Deed.values());
    return new Move(
        starts.get(random.nextInt(starts.size())).cluster(),
        pick(random, When.values()),
        every,
        random.nextInt(every),
        pick(random, OFFSETS),
        deed,
        bid(random));
  }

  private static final Integer[] OFFSETS = {
    -15_000, -10_000, -5_100, -4_700, -300, -1, 0, 100, 400, 1_000, 5_000, 5_500, 10_000, 20_000,
    29_000
  };

  private static Bid bid(Random random) {
    Least least = random.nextInt(8) == 0 ? pick(random, Least.values()) : Least.NONE;
    Size size = random.nextInt(2) == 0 ? Size.ALL : pick(random, Size.values());
    return new Bid(pick(random, Price.values()), size, least);
  }

  private static <T> T pick(Random random, T[] all) {
    return all[random.nextInt(all.length)];
  }

  /** Returns true if any declaration has a minimum. */
  boolean hasGangs() {
    return starts.stream().anyMatch(s -> s.bid().least() != Least.NONE)
        || moves.stream().anyMatch(m -> m.deed() == Deed.DECLARE && m.bid().least() != Least.NONE);
  }
}
