package dev.bourse.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Grant;
import dev.bourse.auction.Clearing.Reason;
import dev.bourse.auction.Clearing.Reclaim;
import dev.bourse.auction.Supply.FreeNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One example for each rule of the auction. Reserve price 100, cap 1000. */
@Tag("fast")
class AuctionTest extends AuctionFixture {
  @Test
  void anEmptyPoolClearsAtNoPriceAndAdmitsAtNone() {
    Clearing clearing = clear(seats(0));
    assertEquals(
        new Clearing(null, Map.of(), null, List.of(), List.of(), Map.of(), Map.of()), clearing);
  }

  @Test
  void anUntouchedPoolHasNoPriceYetAndAdmitsAtTheReserve() {
    Clearing clearing = clear(seats(2, "n1", "n2"));
    assertNull(clearing.clearingCents());
    assertEquals(RESERVE, clearing.admissionCents());
  }

  // What the auction may do for a cluster

  @Test
  void anEvictedClusterLosesShieldedNodesTooAndWinsNone() {
    Clearing clearing =
        clear(
            seats(3, "n1"),
            as(Participation.EVICTED, bid("a", 500, 3, held("a1"), shielded("a2"))));
    assertEquals(
        List.of(new Reclaim("a", "a1", Reason.HOLD), new Reclaim("a", "a2", Reason.HOLD)),
        clearing.reclaims());
    assertEquals(List.of(), clearing.grants());
    assertEquals(Map.of("a", 3), clearing.unseated());
  }

  @Test
  void aStaticClusterKeepsItsNodesBeforeAllBidsAndWinsNone() {
    Clearing clearing =
        clear(
            seats(2, "n1"), as(Participation.STATIC, bid("a", 0, 3, held("a1"))), bid("b", 900, 2));
    assertEquals(List.of(), clearing.reclaims());
    assertEquals(List.of(grant("b", "n1")), clearing.grants());
    assertEquals(Map.of("a", 2, "b", 1), clearing.unseated());
  }

  @Test
  void underANoticeIncumbentsStayAndNothingNewIsAdmitted() {
    Clearing clearing =
        clear(seats(2, "n1"), as(Participation.INCUMBENTS_ONLY, bid("a", 500, 2, held("a1"))));
    assertEquals(List.of(), clearing.reclaims());
    assertEquals(List.of(), clearing.grants());
    assertEquals(Map.of("a", 1), clearing.unseated());
  }

  @Test
  void underANoticeIncumbentsAreStillOutbid() {
    Clearing clearing =
        clear(
            seats(1),
            as(Participation.INCUMBENTS_ONLY, bid("a", 500, 1, held("a1"))),
            bid("b", 501, 1));
    assertEquals(List.of(outbid("a", "a1")), clearing.reclaims());
  }

  @Test
  void underTheReserveUnshieldedNodesAreReclaimedAndShieldedOnesStay() {
    Clearing clearing = clear(seats(4, "n1"), bid("a", RESERVE - 1, 4, shielded("a1"), held("a2")));
    assertEquals(List.of(outbid("a", "a2")), clearing.reclaims());
    assertEquals(List.of(), clearing.grants());
    assertEquals(Map.of("a", 3), clearing.unseated());
  }

  @Test
  void atTheReserveABidStands() {
    Clearing clearing = clear(seats(2, "n1"), bid("a", RESERVE, 2, held("a1")));
    assertEquals(List.of(grant("a", "n1")), clearing.grants());
  }

  // The order of seats

  @Test
  void shieldedNodesAreSeatedBeforeHigherBids() {
    Clearing clearing = clear(seats(1), bid("a", 200, 1, shielded("a1")), bid("b", 900, 1));
    assertEquals(List.of(), clearing.reclaims());
    assertEquals(Map.of("b", 1), clearing.unseated());
  }

  @Test
  void theHigherCeilingWins() {
    Clearing clearing = clear(seats(1, "n1"), bid("a", 200, 1), bid("b", 201, 1));
    assertEquals(List.of(grant("b", "n1")), clearing.grants());
  }

  @Test
  void anIncumbentBeatsANewcomerAtTheSameCeiling() {
    Clearing clearing =
        clear(seats(3), bid("a", 200, 3, held("a1"), held("a2"), held("a3")), bid("b", 200, 1));
    assertEquals(List.of(), clearing.reclaims());
    assertEquals(Map.of("b", 1), clearing.unseated());
  }

  @Test
  void equalIncumbentsShare() {
    Clearing clearing =
        clear(
            seats(4),
            bid("a", 200, 3, held("a1"), held("a2"), held("a3")),
            bid("b", 200, 1, held("b1")),
            bid("c", 300, 1));
    assertEquals(List.of(outbid("a", "a1")), clearing.reclaims());
  }

  @Test
  void equalNewcomersShare() {
    Clearing clearing = clear(seats(4), bid("a", 200, 9), bid("b", 200, 1), bid("c", 200, 9));
    assertEquals(Map.of("a", 7, "c", 8), clearing.unseated());
  }

  @Test
  void shieldedNodesCountInTheShare() {
    Clearing clearing =
        clear(
            seats(4, "n1", "n2"),
            bid("a", 200, 4, shielded("a1"), shielded("a2")),
            bid("b", 200, 4));
    assertEquals(List.of(grant("b", "n1"), grant("b", "n2")), clearing.grants());
  }

  @Test
  void theOlderPriceBreaksATie() {
    Clearing clearing =
        clear(seats(1, "n1"), since(2, bid("a", 200, 1)), since(1, bid("b", 200, 1)));
    assertEquals(List.of(grant("b", "n1")), clearing.grants());
  }

  @Test
  void theNameBreaksTheLastTie() {
    Clearing clearing = clear(seats(1, "n1"), bid("b", 200, 1), bid("a", 200, 1));
    assertEquals(List.of(grant("a", "n1")), clearing.grants());
  }

  @Test
  void agesAndCeilingsMayLieAsFarApartAsTheyLike() {
    Clearing clearing =
        clear(
            seats(2, "n1", "n2"),
            since(Long.MAX_VALUE, bid("a", 200, 1)),
            since(Long.MIN_VALUE, bid("b", 200, 1)),
            bid("c", Long.MAX_VALUE, 1));
    assertEquals(List.of(grant("c", "n1"), grant("b", "n2")), clearing.grants());
  }

  @Test
  void withinAClusterTheFirstListedNodeGoesFirstAndShieldedOnesAreSkipped() {
    Clearing clearing =
        clear(
            seats(4),
            bid("a", 200, 4, shielded("a1"), held("a2"), held("a3"), held("a4")),
            bid("b", 300, 2));
    assertEquals(List.of(outbid("a", "a2"), outbid("a", "a3")), clearing.reclaims());
  }

  @Test
  void whenMoreIsShieldedThanThereAreSeatsAllElseGoes() {
    Clearing clearing =
        clear(seats(1), bid("a", 200, 3, shielded("a1"), shielded("a2"), held("a3")));
    assertEquals(List.of(outbid("a", "a3")), clearing.reclaims());
    assertNull(clearing.admissionCents());
  }

  @Test
  void hugeDeclarationsNeitherMaterializeNorOverflow() {
    List<Bidder> bidders = new ArrayList<>();
    IntStream.range(0, 10_000).forEach(i -> bidders.add(bid("c" + i, 200, 1_000_000)));
    Clearing clearing =
        assertTimeout(
            Duration.ofSeconds(20), () -> Auction.clear(RESERVE, CAP, bidders, seats(25_000)));
    long shareOfTwo = clearing.unseated().values().stream().filter(n -> n == 999_998).count();
    long shareOfThree = clearing.unseated().values().stream().filter(n -> n == 999_997).count();
    assertEquals(List.of(5_000L, 5_000L), List.of(shareOfTwo, shareOfThree));
  }

  // Who gets which node

  @Test
  void freeNodesGoToTheBestSeatsInTheirOrder() {
    Clearing clearing = clear(seats(2, "n2", "n1"), bid("a", 200, 1), bid("b", 300, 1));
    assertEquals(List.of(grant("b", "n2"), grant("a", "n1")), clearing.grants());
  }

  @Test
  void equalNewcomersTakeTurns() {
    Clearing clearing =
        clear(seats(4, "n1", "n2", "n3", "n4"), bid("a", 200, 3, held("a1")), bid("b", 200, 2));
    assertEquals(List.of(grant("b", "n1"), grant("a", "n2"), grant("b", "n3")), clearing.grants());
  }

  @Test
  void aSeatWithoutAFreeNodeWaits() {
    Clearing clearing = clear(seats(1), bid("a", 200, 1, held("a1")), bid("b", 300, 1));
    assertEquals(List.of(outbid("a", "a1")), clearing.reclaims());
    assertEquals(List.of(), clearing.grants());
    assertEquals(Map.of("a", 1), clearing.unseated());
  }

  @Test
  void aNodeThatExcludesAnOrganizationGoesToTheNextSeat() {
    Clearing clearing =
        clear(
            new Supply(2, List.of(new FreeNode("n1", "a"), new FreeNode("n2", null))),
            bid("a", 300, 1),
            bid("b", 200, 1));
    assertEquals(List.of(grant("a", "n2"), grant("b", "n1")), clearing.grants());
  }

  @Test
  void aNodeThatAnOrganizationSwappedAwayIsGrantedToItRatherThanToNobody() {
    Clearing clearing =
        clear(new Supply(1, List.of(new FreeNode("n1", "a"))), bid("a", 300, 1), bid("b", 200, 1));
    assertEquals(List.of(grant("a", "n1")), clearing.grants());
    assertEquals(Map.of("b", 1), clearing.unseated());
  }

  // Organizations with several clusters

  @Test
  void equalBidsShareByOrganizationHoweverManyClustersOneHas() {
    List<Bidder> bidders = new ArrayList<>();
    IntStream.range(0, 20).forEach(i -> bidders.add(of("many", bid("m" + i, 200, 1))));
    bidders.add(since(5, bid("one", 200, 8)));
    Clearing clearing = Auction.clear(RESERVE, CAP, bidders, seats(16));
    assertEquals(null, clearing.unseated().get("one"));
    assertEquals(12, clearing.unseated().size());
  }

  @Test
  void withinAnOrganizationTheClusterWithFewerSeatsComesFirst() {
    Clearing clearing =
        clear(
            seats(3, "n1", "n2"),
            of("x", bid("a", 200, 3, held("a1"))),
            of("x", bid("b", 200, 1)),
            bid("c", 100, 1));
    assertEquals(List.of(grant("b", "n1"), grant("a", "n2")), clearing.grants());
  }

  // Those that rank last

  @Test
  void whoRanksLastWinsNewNodesAfterEverybodyElseAndPricesNobody() {
    Clearing clearing = clear(seats(1, "n1"), last(bid("a", 900, 1)), bid("b", 200, 1));
    assertEquals(List.of(grant("b", "n1")), clearing.grants());
    assertEquals(RESERVE, clearing.clearingCents());
  }

  @Test
  void whoRanksLastDefendsWhatItHoldsAndTakesWhatNobodyWants() {
    Clearing clearing = clear(seats(2, "n1"), last(bid("a", 900, 2, held("a1"))), bid("b", 50, 2));
    assertEquals(List.of(), clearing.reclaims());
    assertEquals(List.of(grant("a", "n1")), clearing.grants());
    assertEquals(RESERVE, clearing.admissionCents());
  }

  // Nodes that nobody could be given

  @Test
  void anUnusableNodeIsNoSeatThatARivalWins() {
    Clearing clearing =
        clear(seats(1), bid("a", 200, 2, unusable("a1"), held("a2")), bid("b", 300, 2));
    assertEquals(List.of(outbid("a", "a1"), outbid("a", "a2")), clearing.reclaims());
    assertEquals(Map.of("a", 2, "b", 1), clearing.unseated());
  }

  /** Under notice it is billed still: at the bid that would win it, up to its holder's ceiling. */
  @Test
  void anUnusableNodeThatIsLostCostsAsMuchAsOneThatAnswers() {
    Clearing clearing = clear(seats(0), bid("a", 200, 1, unusable("a1")), bid("b", 300, 1));
    assertEquals(List.of(outbid("a", "a1")), clearing.reclaims());
    assertEquals(300L, clearing.centsOf("a"));
  }

  @Test
  void anUnusableNodeStaysAtACeilingThatWouldKeepAHealthyOneAndCostsAsMuch() {
    Clearing clearing =
        clear(
            seats(1),
            bid("a", 300, 1, unusable("a1")),
            bid("b", 300, 1, held("b1")),
            bid("c", 250, 1));
    assertEquals(List.of(), clearing.reclaims());
    assertEquals(250L, clearing.centsOf("a"));
  }

  @Test
  void aShieldedNodeStaysThoughItIsUnusable() {
    Clearing clearing =
        clear(seats(0), bid("a", 200, 1, new Held("a1", true, false)), bid("b", 300, 1));
    assertEquals(List.of(), clearing.reclaims());
  }

  // Gangs

  @Test
  void aGangsNodesAreGrantedTogetherAndWhatIsFreeIsKeptForItUntilThen() {
    Clearing waiting =
        clear(
            seats(4, "n1", "n2"),
            gang(3, bid("g", 900, 3)),
            bid("b", 200, 1),
            bid("c", 100, 2, held("c1"), held("c2")));
    assertEquals(List.of(), waiting.grants());
    Clearing complete =
        clear(seats(4, "n1", "n2", "n3"), gang(3, bid("g", 900, 3)), bid("b", 200, 1));
    assertEquals(List.of(grant("g", "n1"), grant("g", "n2"), grant("g", "n3")), complete.grants());
  }

  @Test
  void aGangThatMayBidForNothingNewKeepsWhatItHolds() {
    Clearing clearing =
        clear(
            seats(4, "n1"),
            as(
                Participation.INCUMBENTS_ONLY,
                gang(4, bid("g", 900, 4, held("g1"), held("g2"), held("g3")))));
    assertEquals(List.of(), clearing.reclaims());
    assertEquals(List.of(), clearing.grants());
  }

  // Swaps

  @Test
  void aSwapTakesANodeThatNoSeatClaims() {
    Clearing clearing =
        clear(seats(3, "n1", "n2"), swapping(bid("a", 200, 1, held("a1")), "a1"), bid("b", 100, 1));
    assertEquals(List.of(grant("b", "n1"), new Grant("a", "n2", "a1")), clearing.grants());
  }

  @Test
  void aSwapWaitsWhileEverySeatIsClaimed() {
    Clearing clearing =
        clear(seats(2, "n1"), swapping(bid("a", 900, 1, held("a1")), "a1"), bid("b", 100, 1));
    assertEquals(List.of(grant("b", "n1")), clearing.grants());
    assertEquals(List.of(), clearing.reclaims());
  }

  @Test
  void aSwapNeverReturnsANodeThatTheOrganizationSwappedAway() {
    Clearing clearing =
        clear(
            new Supply(2, List.of(new FreeNode("n1", "a"))),
            swapping(bid("a", 900, 1, held("a1")), "a1"));
    assertEquals(List.of(), clearing.grants());
  }

  @Test
  void theOldestSwapOfTheHighestCeilingGoesFirst() {
    Clearing clearing =
        clear(
            seats(6, "n1", "n2", "n3"),
            swapping(bid("a", 200, 1, held("a1")), "a1"),
            swapping(bid("b", 300, 2, held("b1"), held("b2")), "b2", "b1"));
    assertEquals(
        List.of(new Grant("b", "n1", "b2"), new Grant("b", "n2", "b1"), new Grant("a", "n3", "a1")),
        clearing.grants());
  }

  @Test
  void aClusterThatMayNotBidGetsNoReplacement() {
    Clearing clearing =
        clear(
            seats(6, "n1", "n2"),
            as(Participation.INCUMBENTS_ONLY, swapping(bid("a", 200, 1, held("a1")), "a1")),
            swapping(bid("b", RESERVE - 1, 1, shielded("b1")), "b1"));
    assertEquals(List.of(), clearing.grants());
  }
}
