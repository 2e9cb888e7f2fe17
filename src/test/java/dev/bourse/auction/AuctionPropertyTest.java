package dev.bourse.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Grant;
import dev.bourse.auction.Clearing.Reclaim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What holds in every world, tried in thousands of small random ones. */
@Tag("fast")
class AuctionPropertyTest {
  private static final int WORLDS = 5_000;

  private static void inEveryWorld(AuctionWorld.Property property) {
    AuctionWorld.inEachOf(WORLDS, AuctionWorld::random, property);
  }

  @Test
  void theRulesSeatBySeatGiveTheSameSeats() {
    inEveryWorld(
        (world, random) ->
            assertEquals(new ReferenceAuction(world).unseated(), world.clear().unseated()));
  }

  @Test
  void theRulesSeatBySeatGiveTheSameGrantsInTheSameOrder() {
    inEveryWorld(
        (world, random) ->
            assertEquals(new ReferenceAuction(world).grants(), world.clear().grants()));
  }

  @Test
  void theRulesSeatBySeatGiveTheSameReclaims() {
    inEveryWorld(
        (world, random) -> {
          List<Reclaim> reclaims = world.clear().reclaims();
          assertEquals(new ReferenceAuction(world).reclaims(), Set.copyOf(reclaims));
          assertEquals(Set.copyOf(reclaims).size(), reclaims.size());
        });
  }

  @Test
  void clearingWithoutEachOrganizationGivesTheSamePrices() {
    inEveryWorld(
        (world, random) -> assertEquals(new ReferenceAuction(world).prices(), world.prices()));
  }

  @Test
  void tryingEveryPriceGivesTheSameAdmissionPrice() {
    inEveryWorld(
        (world, random) ->
            assertEquals(
                new ReferenceAuction(world).admissionPrice(), world.clear().admissionCents()));
  }

  @Test
  void aNewcomerWinsASeatAtTheAdmissionPriceAndNotUnderIt() {
    inEveryWorld(
        (world, random) -> {
          Long admission = world.clear().admissionCents();
          if (admission != null) {
            assertTrue(world.newcomerWins(admission));
          }
          long under = (admission == null ? world.cap() + 1 : admission) - 1;
          assertFalse(under >= world.reserve() && world.newcomerWins(under));
        });
  }

  @Test
  void thereAreNeverMoreSeatsThanNodes() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          int seats = 0;
          for (Bidder bidder : world.bidders()) {
            seats += world.seats(bidder, clearing) - world.unusableKept(bidder, clearing);
          }
          long swaps = clearing.grants().stream().filter(g -> g.replaces() != null).count();
          assertTrue(seats + swaps <= world.supply().seats());
        });
  }

  @Test
  void onlyFreeNodesAreGrantedEachOnceAndForASwapNoneThatTheOrganizationSwappedAway() {
    inEveryWorld(
        (world, random) -> {
          Set<String> free =
              world.supply().free().stream().map(n -> n.nodeId()).collect(Collectors.toSet());
          for (Grant grant : world.clear().grants()) {
            assertTrue(free.remove(grant.nodeId()), grant.nodeId());
            String org = world.bidder(grant.cluster()).org();
            assertFalse(
                grant.replaces() != null && world.excludes(grant.nodeId(), org), grant.nodeId());
          }
        });
  }

  @Test
  void theClearingPriceIsNeverAboveTheCeilingOfAContestedSeat() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          for (Bidder bidder : world.bidders()) {
            if (world.isContested(bidder, clearing)) {
              Long price = clearing.centsOf(bidder.org());
              assertTrue(price != null && price <= bidder.ceilingCents(), bidder.cluster());
            }
          }
        });
  }

  @Test
  void noShieldedNodeIsLostToARival() {
    inEveryWorld(
        (world, random) -> {
          Set<String> reclaimed = AuctionWorld.reclaimed(world.clear());
          for (Bidder bidder : world.bidders()) {
            if (bidder.participation() != Participation.EVICTED) {
              assertFalse(
                  bidder.held().stream()
                      .anyMatch(
                          h ->
                              (h.shielded() || bidder.participation() == Participation.STATIC)
                                  && reclaimed.contains(h.allocationId())),
                  bidder.cluster());
            }
          }
        });
  }

  @Test
  void theOrderOfTheBiddersDoesNotMatter() {
    inEveryWorld(
        (world, random) -> {
          List<Bidder> shuffled = new ArrayList<>(world.bidders());
          Collections.shuffle(shuffled, new Random(random.nextLong()));
          assertEquals(world.clear(), world.with(shuffled).clear());
        });
  }

  @Test
  void aSecondTickWhileReclaimsAreUnderWayDecidesNothing() {
    inEveryWorld(
        (world, random) -> {
          Clearing first = world.clear();
          Clearing second = world.after(first, false).clear();
          assertEquals(List.of(), second.reclaims());
          assertEquals(List.of(), second.grants());
          assertEquals(first.unseated(), second.unseated());
        });
  }

  @Test
  void nodesThatComeBackGoToTheSeatsThatWaitAndThenNothingMoves() {
    inEveryWorld(
        (world, random) -> {
          Clearing first = world.clear();
          AuctionWorld freed = world.after(first, true);
          Clearing second = freed.clear();
          assertEquals(List.of(), second.reclaims());
          assertEquals(first.unseated(), second.unseated());
          Map<String, Integer> granted = new HashMap<>();
          for (Grant grant : second.grants()) {
            if (grant.replaces() == null) {
              granted.merge(grant.cluster(), 1, Integer::sum);
            }
          }
          for (Bidder bidder : freed.bidders()) {
            int waiting = freed.seats(bidder, first) - bidder.held().size();
            assertTrue(granted.getOrDefault(bidder.cluster(), 0) <= Math.max(0, waiting));
          }
          Clearing third = freed.after(second, true).clear();
          assertEquals(List.of(), third.reclaims());
          assertEquals(List.of(), third.grants());
        });
  }

  @Test
  void aSwapIsNeverGrantedForANodeThatIsReclaimedAndMovesNeitherSeatsNorPrices() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          Set<String> reclaimed = AuctionWorld.reclaimed(clearing);
          assertTrue(
              clearing.grants().stream()
                  .noneMatch(g -> reclaimed.contains(String.valueOf(g.replaces()))));
          Clearing without = world.with(mapped(world, AuctionFixture::swapping)).clear();
          assertEquals(without.clearingCents(), clearing.clearingCents());
          assertEquals(without.admissionCents(), clearing.admissionCents());
          assertEquals(without.reclaims(), clearing.reclaims());
          assertEquals(
              without.grants(),
              clearing.grants().stream().filter(g -> g.replaces() == null).toList());
        });
  }

  @Test
  void raisingItsCeilingNeverLosesAClusterANode() {
    inEveryWorld(
        (world, random) -> {
          for (Bidder bidder : world.bidders()) {
            AuctionWorld raised =
                world.repriced(bidder, bidder.ceilingCents() + random.nextLong(1, 5));
            assertTrue(
                AuctionWorld.reclaimed(world.clear())
                    .containsAll(reclaimedOf(bidder, raised.clear())),
                bidder.cluster());
          }
        });
  }

  @Test
  void raisingASoleBuyersCeilingNeverMovesThePrice() {
    inEveryWorld(
        (world, random) -> {
          AuctionWorld sole = world.with(mapped(world, b -> AuctionFixture.of("sole", b)));
          for (Bidder bidder : sole.bidders()) {
            if (bidder.ceilingCents() >= sole.reserve()) {
              AuctionWorld raised =
                  sole.repriced(bidder, bidder.ceilingCents() + random.nextLong(1, 5));
              assertEquals(sole.clear().clearingCents(), raised.clear().clearingCents());
            }
          }
        });
  }

  private static Set<String> reclaimedOf(Bidder bidder, Clearing clearing) {
    Set<String> reclaimed = new HashSet<>();
    for (Reclaim reclaim : clearing.reclaims()) {
      if (reclaim.cluster().equals(bidder.cluster())) {
        reclaimed.add(reclaim.allocationId());
      }
    }
    return reclaimed;
  }

  private static List<Bidder> mapped(AuctionWorld world, Function<Bidder, Bidder> change) {
    return world.bidders().stream().map(change).toList();
  }
}
