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
import org.junit.jupiter.params.provider.ValueSource;

/** Strategic bidders gain nothing and keep no rival from a node. */
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

  /**
   * Found by the search: a node's notice is withdrawn because the protection of a lower bid ends,
   * so the bid that waits waits for that holder's notice as well.
   */
  @Test
  void bidWaitsForOneNoticeOfEachOrganizationThatLosesProtectionMeanwhile() {
    assertEquals("", StrategySearch.draw(8_524, 12, MINUTE, true).fault(PlayedMarket.ALL_FIXES));
  }

  /** Found by the search: a cluster lost a silent machine at a tick that granted it another. */
  @Test
  void orderThatReclaimsASilentMachineBinds() {
    assertEquals("", StrategySearch.draw(30_770, 12, MINUTE, true).fault(PlayedMarket.ALL_FIXES));
  }

  /** Found by the search: a free node is kept for the minimum of a higher bid that came later. */
  @Test
  void bidWaitsForAnHonestHigherMinimumThatCameLater() {
    assertEquals("", StrategySearch.draw(20_662, 12, MINUTE, true).fault(PlayedMarket.ALL_FIXES));
  }

  /** Found by the search: it gave up one new node of a minimum, then raised the minimum again. */
  @Test
  void minimumThatGaveUpANewNodeKeepsNoOthers() {
    assertEquals("", StrategySearch.draw(1_991, 12, MINUTE, true).fault(PlayedMarket.ALL_FIXES));
  }

  /**
   * Found by the search: the player ranks last only while the bidder whose price is judged waits.
   */
  @ParameterizedTest
  @ValueSource(longs = {6_167, 6_455})
  void priceGoesByTheRanksOfItsTick(long seed) {
    assertEquals("", StrategySearch.draw(seed, 12, MINUTE, false).fault(PlayedMarket.ALL_FIXES));
  }

  /**
   * Found by the search: a single bid counted as the cause when an honest minimum gathered nodes.
   */
  @Test
  void nodeIsKeptByTheMinimumThatGathersIt() {
    assertEquals("", StrategySearch.draw(4_050, 12, MINUTE, false).fault(PlayedMarket.ALL_FIXES));
  }

  /** Found by the search: with a notice of twelve minutes a minimum gathers for longer than ten. */
  @Test
  void minimumGathersFreeNodesUntilANoticeIsOver() {
    assertEquals("", StrategySearch.draw(6_249, 12, MINUTE, false).fault(PlayedMarket.ALL_FIXES));
  }

  /** A rival never changes the price of a first hour of an organization that gives no node back. */
  @Test
  void bidWithdrawnBeforeProtectionEndsMovesNoPriceOfTheFirstHour() {
    for (long seed = 0; seed < 30; seed++) {
      PlayedWorld drawn = StrategySearch.draw(seed, 1, MINUTE, true).world();
      List<PlayedWorld.Rival> standing =
          drawn.rivals().stream()
              .map(rival -> PlayedWorld.Rival.standing(rival.valueCents(), rival.demand()))
              .toList();
      PlayedWorld alone =
          new PlayedWorld(
              drawn.nodes(),
              1,
              MINUTE,
              2 * MINUTE,
              standing,
              drawn.valueCents(),
              drawn.demand(),
              0);
      double before = PlayedMarket.play(alone, Player.TRUTHFUL, PlayedMarket.ALL_FIXES).cents();
      List<PlayedWorld.Rival> rivals = new ArrayList<>(standing);
      rivals.add(
          new PlayedWorld.Rival(
              1_000, drawn.nodes(), 1, 5 * MINUTE, 50 * MINUTE, 24 * 60 * MINUTE));
      PlayedResult moved =
          PlayedMarket.play(alone.with(rivals), Player.TRUTHFUL, PlayedMarket.ALL_FIXES);
      assertEquals(before, moved.cents(), 0.001, "seed " + seed + ": " + moved);
    }
  }

  @Test
  void oneSeedIsOneDay() {
    StrategySearch.Case drawn = StrategySearch.draw(7, 6, MINUTE, false);
    assertEquals(
        PlayedMarket.play(drawn.world(), drawn.player(), PlayedMarket.ALL_FIXES),
        PlayedMarket.play(drawn.world(), drawn.player(), PlayedMarket.ALL_FIXES));
  }

  /**
   * The tick at the same moment reads the ceiling and takes the node; the remaining time is not
   * billed higher.
   */
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
