package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Bidders who play the market gain nothing, and keep nobody from a node. */
@Tag("simulation")
final class PlayersTest {
  private static final long MINUTE = 60_000;

  /** A rival that outbids the player comes when protection has ended; others bid less. */
  private static final List<PlayedWorld> WORLDS =
      List.of(
          world(
              3,
              700,
              new PlayedWorld.Rival(900, 1, 1, 75 * MINUTE, 0, 0),
              PlayedWorld.Rival.standing(500, 2)),
          world(4, 850, new PlayedWorld.Rival(900, 1, 1, 75 * MINUTE, 0, 0)),
          world(
              2,
              400,
              new PlayedWorld.Rival(600, 2, 1, 75 * MINUTE, 0, 0),
              PlayedWorld.Rival.standing(200, 4)));

  private static PlayedWorld world(int demand, long valueCents, PlayedWorld.Rival... rivals) {
    return new PlayedWorld(4, 24, MINUTE, 2 * MINUTE, List.of(rivals), valueCents, demand, 0);
  }

  static List<Player> known() {
    return Player.known();
  }

  @ParameterizedTest
  @MethodSource("known")
  void knownStrategyGainsNothing(Player player) {
    for (PlayedWorld world : WORLDS) {
      StrategySearch.Case one = new StrategySearch.Case(world, player);
      assertEquals("", one.fault(PlayedMarket.ALL_FIXES), one::toString);
    }
  }

  /** Once in the ten minutes for which it ranks last, the player idles a node for a moment. */
  @Test
  void nodesIdleForHalfAnHourADayAtMost() {
    for (PlayedWorld world : WORLDS) {
      PlayedResult played =
          PlayedMarket.play(
              world, Player.named("idle nodes between gate and grant"), PlayedMarket.ALL_FIXES);
      assertTrue(played.keptOutMinutes() <= 30, played::toString);
    }
  }

  @Test
  void truthfulBidderHoldsWhatItsValueWins() {
    PlayedResult played = PlayedMarket.play(WORLDS.get(0), Player.TRUTHFUL, PlayedMarket.ALL_FIXES);
    assertEquals(Map.of(), played.violations());
    assertTrue(played.nodeHours() > 71, played::toString);
    assertEquals(500, played.rate(), 5, played::toString);
  }

  @Test
  void strategiesDrawnAtRandomGainNothing() {
    List<String> found = new ArrayList<>();
    for (long seed = 0; seed < 60; seed++) {
      StrategySearch.Case drawn = StrategySearch.draw(seed, 12, MINUTE, true);
      String fault = drawn.fault(PlayedMarket.ALL_FIXES);
      if (!fault.isEmpty()) {
        found.add("seed " + seed + ": " + fault + " " + drawn);
      }
    }
    assertEquals(List.of(), found);
  }

  @Test
  void oneSeedIsOneDay() {
    StrategySearch.Case drawn = StrategySearch.draw(7, 6, MINUTE, false);
    assertEquals(
        PlayedMarket.play(drawn.world(), drawn.player(), PlayedMarket.ALL_FIXES),
        PlayedMarket.play(drawn.world(), drawn.player(), PlayedMarket.ALL_FIXES));
  }

  /** The tick of that very moment reads it and takes the node; what is left is not billed more. */
  @Test
  void ceilingLoweredAtTheGateIsInForceFromIt() {
    PlayedWorld world =
        world(2, 850, PlayedWorld.Rival.standing(300, 4), PlayedWorld.Rival.standing(500, 1));
    Player player =
        new Player(
            "lowered at the gate",
            List.of(new Player.Start(0, Player.Bid.TRUTH)),
            List.of(
                new Player.Move(
                    0,
                    Player.When.UNPROTECTED,
                    2,
                    0,
                    0,
                    Player.Deed.DECLARE,
                    new Player.Bid(Player.Price.RESERVE, Player.Size.HALF, Player.Least.NONE))));
    assertEquals(Map.of(), PlayedMarket.play(world, player, PlayedMarket.ALL_FIXES).violations());
  }

  @Test
  void gangStartsThoughNoticeIsLongerThanItsPatience() {
    PlayedWorld.Rival gang = new PlayedWorld.Rival(900, 4, 4, 75 * MINUTE, 0, 0);
    PlayedWorld world = new PlayedWorld(4, 6, MINUTE, 12 * MINUTE, List.of(gang), 200, 3, 0);
    assertEquals(
        Map.of(), PlayedMarket.play(world, Player.TRUTHFUL, PlayedMarket.ALL_FIXES).violations());
  }

  @ParameterizedTest
  @EnumSource(PlayedMarket.Fix.class)
  void absenceOfEachFixIsFound(PlayedMarket.Fix fix) {
    int seeds = 16;
    int found = StrategySearch.findsWithout(fix, seeds);
    System.out.printf("without %s: %d of %d seeds%n", fix, found, seeds);
    assertTrue(found > 0, () -> fix + ": none of " + seeds + " seeds");
  }
}
