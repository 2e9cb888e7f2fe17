package dev.bourse.market;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Draws worlds and strategies, finds those that gain more than the truthful bid or violate an
 * invariant, and reduces them to the parts that matter.
 *
 * <p>Run with the number of seeds, the first seed, hours a world and seconds a tick: {@code 8000 0
 * 12 60} finds 65 seeds, all of them gains that the guide states. {@code --fixes 16} counts the
 * seeds that find the absence of each fix.
 */
final class StrategySearch {
  /** A gain up to this is chance, because nodes come and go at ticks. */
  static final double GAIN = 0.02;

  private StrategySearch() {}

  record Case(PlayedWorld world, Player player) {
    /** Returns the fault of a strategy; empty for none. */
    String fault(Set<PlayedMarket.Fix> fixes) {
      PlayedResult played = PlayedMarket.play(world, player, fixes);
      if (!played.violations().isEmpty()) {
        return played.violations().keySet().iterator().next();
      }
      if (played.keptOutPerHour() > PlayedRules.keptOutPerHour(world, player)) {
        return "kept out";
      }
      if (world.hasGangs() || player.hasGangs()) {
        return "";
      }
      PlayedResult truthful = PlayedMarket.play(world, Player.TRUTHFUL, fixes);
      double gain = played.gainOver(truthful, world.leastCents());
      return gain > GAIN ? "gain" : "";
    }

    /** Returns the same fault with fewer moves and rivals. */
    Case shrink(String fault, Set<PlayedMarket.Fix> fixes) {
      for (Case smaller : smaller()) {
        if (smaller.fault(fixes).equals(fault)) {
          return smaller.shrink(fault, fixes);
        }
      }
      return this;
    }

    private List<Case> smaller() {
      List<Case> smaller = new ArrayList<>();
      for (int i = 0; i < player.moves().size(); i++) {
        List<Player.Move> moves = new ArrayList<>(player.moves());
        moves.remove(i);
        smaller.add(new Case(world, new Player(player.name(), player.starts(), moves)));
      }
      for (int i = 1; i < player.starts().size(); i++) {
        List<Player.Start> starts = new ArrayList<>(player.starts());
        starts.remove(i);
        smaller.add(new Case(world, new Player(player.name(), starts, player.moves())));
      }
      for (int i = 0; i < world.rivals().size(); i++) {
        List<PlayedWorld.Rival> rivals = new ArrayList<>(world.rivals());
        PlayedWorld.Rival rival = rivals.remove(i);
        smaller.add(new Case(world.with(rivals), player));
        if (rival.stays() > 0) {
          rivals.add(
              i,
              new PlayedWorld.Rival(
                  rival.valueCents(),
                  rival.demand(),
                  rival.least(),
                  rival.arrivesAtMillis(),
                  0,
                  0));
          smaller.add(new Case(world.with(rivals), player));
        }
      }
      return smaller;
    }

    @Override
    public String toString() {
      return world + "\n  " + player;
    }
  }

  private static void playKnown(String... without) {
    PlayedWorld world =
        new PlayedWorld(
            4,
            24,
            60_000,
            120_000,
            List.of(
                new PlayedWorld.Rival(900, 1, 1, 4_500_000, 0, 0),
                PlayedWorld.Rival.standing(500, 2)),
            700,
            3,
            0);
    Set<PlayedMarket.Fix> fixes = EnumSet.allOf(PlayedMarket.Fix.class);
    Stream.of(without).map(PlayedMarket.Fix::valueOf).forEach(fixes::remove);
    for (Player player : Player.known()) {
      PlayedResult played = PlayedMarket.play(world, player, fixes);
      PlayedResult truthful = PlayedMarket.play(world, Player.TRUTHFUL, PlayedMarket.ALL_FIXES);
      System.out.printf(
          "%-50s gain %6.3f %s%n",
          player.name(), played.gainOver(truthful, world.leastCents()), played);
    }
  }

  static Case draw(long seed, int hours, long tickMillis, boolean areStanding) {
    Random random = new Random(seed * 7_919 + 17);
    return new Case(PlayedWorld.draw(random, hours, tickMillis, areStanding), Player.draw(random));
  }

  /** Returns the strategies that would gain from the absence of a fix. */
  static List<Player> served(PlayedMarket.Fix fix) {
    return switch (fix) {
      case GATE -> List.of(Player.named("dip between gates"));
      case ORDERS_BIND -> List.of(Player.named("settings written at the gate"));
      case RANK_LAST ->
          List.of(
              Player.named("give up while provisioning"),
              Player.named("bid high, lower once granted"));
      case PRICE_LOCK -> List.of(Player.named("one cent down and up"));
      case LOCK_ONCE ->
          List.of(
              Player.named("snipe at the gate"),
              Player.named("leave and return while nodes are free"));
      case ORG_PRICES -> List.of(Player.named("second cluster of the organization"));
      case GANGS_GATHER -> List.of(Player.named("gang raised after the grant"));
      case NOTICE_FOR_OUTBID ->
          List.of(
              Player.named("ping-pong under notice"),
              Player.named("notice at the reserve once an hour"));
      case NOTICES_COUNT -> List.of(Player.named("partner takes turns under notice"));
      case UNUSABLE_NO_SUPPLY -> List.of(Player.named("silent machine first"));
    };
  }

  /** Counts the seeds that find the absence of a fix. */
  static int findsWithout(PlayedMarket.Fix fix, int seeds) {
    Set<PlayedMarket.Fix> fixes = EnumSet.allOf(PlayedMarket.Fix.class);
    fixes.remove(fix);
    int found = 0;
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed * 7_919L + 17);
      PlayedWorld drawn = PlayedWorld.draw(random, 4, 60_000, true);
      // A rival outbids the player after its protection has ended.
      List<PlayedWorld.Rival> rivals = new ArrayList<>(drawn.rivals());
      rivals.add(new PlayedWorld.Rival(950, 1, 1, 75 * 60_000, 0, 0));
      PlayedWorld world = drawn.with(rivals);
      for (Player player : served(fix)) {
        Case one = new Case(world, player);
        String fault = one.fault(fixes);
        if (!fault.isEmpty() && one.fault(PlayedMarket.ALL_FIXES).isEmpty()) {
          found++;
          break;
        }
      }
    }
    return found;
  }

  public static void main(String[] args) {
    if (args[0].equals("--fixes")) {
      for (PlayedMarket.Fix fix : PlayedMarket.Fix.values()) {
        System.out.println(fix + " " + findsWithout(fix, Integer.parseInt(args[1])));
      }
      return;
    }
    if (args[0].equals("--known")) {
      playKnown(Arrays.copyOfRange(args, 1, args.length));
      return;
    }
    long seeds = Long.parseLong(args[0]);
    long from = Long.parseLong(args[1]);
    int hours = Integer.parseInt(args[2]);
    long tickMillis = 1_000 * Long.parseLong(args[3]);
    boolean areStanding = args.length > 4 && args[4].equals("standing");
    int found = 0;
    for (long seed = from; seed < from + seeds; seed++) {
      Case drawn = draw(seed, hours, tickMillis, areStanding);
      String fault = drawn.fault(PlayedMarket.ALL_FIXES);
      if (!fault.isEmpty()) {
        found++;
        Case least = drawn.shrink(fault, PlayedMarket.ALL_FIXES);
        PlayedResult played =
            PlayedMarket.play(least.world(), least.player(), PlayedMarket.ALL_FIXES);
        PlayedResult truthful =
            PlayedMarket.play(least.world(), Player.TRUTHFUL, PlayedMarket.ALL_FIXES);
        System.out.printf(
            "seed %d: %s (gain %.3f)%n  %s%n  played:   %s%n  truthful: %s%n%n",
            seed,
            fault,
            played.gainOver(truthful, least.world().leastCents()),
            least,
            played,
            truthful);
      }
    }
    System.out.printf("%d of %d seeds%n", found, seeds);
  }
}
