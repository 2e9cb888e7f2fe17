package dev.bourse.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Shortfall;
import dev.bourse.auction.Supply.FreeNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What holds of gangs: in every world of up to three newcomers of three organizations and five
 * nodes, and in many random ones of up to six bidders and eight nodes.
 */
@Tag("fast")
class GangPropertyTest {
  private static final int WORLDS = 6_000;

  private static void inEveryWorld(AuctionWorld.Property property) {
    AuctionWorld.inEachOf(WORLDS, GangPropertyTest::randomWorld, property);
    new SmallWorlds(3, 2, 3, 5, SmallWorlds.sizes(3), new SmallWorlds.Part(0, 1))
        .inEach(new Random(WORLDS), property);
  }

  private static AuctionWorld randomWorld(RandomGenerator random) {
    int orgs = random.nextInt(1, 5);
    int count = random.nextInt(0, 7);
    int nodes = random.nextInt(0, 9);
    List<Bidder> bidders = new ArrayList<>();
    int unheld = nodes;
    int unusable = 0;
    for (int i = 0; i < count; i++) {
      String name = "c" + i;
      List<Held> held = new ArrayList<>();
      int holds = random.nextInt(3) == 0 ? Math.min(unheld, random.nextInt(5)) : 0;
      for (int j = 0; j < holds; j++) {
        held.add(new Held(name + "-" + j, random.nextInt(4) == 0, random.nextInt(8) > 0));
      }
      unheld -= holds;
      unusable += (int) held.stream().filter(node -> !node.usable()).count();
      int declared = holds + random.nextInt(0, 5);
      Participation[] participations = Participation.values();
      bidders.add(
          new Bidder(
              name,
              "org" + random.nextInt(orgs),
              Math.max(0, 2 + random.nextLong(-1, 4)),
              random.nextLong(AuctionWorld.NOW),
              declared,
              random.nextInt(1, random.nextInt(8) == 0 ? 12 : Math.max(2, declared + 1)),
              random.nextInt(8) > 0
                  ? Participation.OPEN
                  : participations[random.nextInt(participations.length)],
              random.nextInt(8) == 0,
              held,
              List.of()));
    }
    return new AuctionWorld(2, 4, bidders, supply(nodes - unusable, unheld));
  }

  private static Supply supply(int nodes, int free) {
    List<FreeNode> unheld = new ArrayList<>();
    for (int i = 0; i < free; i++) {
      unheld.add(new FreeNode("n" + i, null));
    }
    return new Supply(nodes, unheld);
  }

  private static boolean mayBidForItsMinimum(AuctionWorld world, Bidder bidder) {
    return bidder.participation() == Participation.OPEN
        && bidder.ceilingCents() >= world.reserve()
        && bidder.declaredSlots() >= bidder.minimumSlots();
  }

  @Test
  void aGangThatMayNotBidForItsMinimumKeepsWhatNobodyBidsMoreFor() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          for (Bidder bidder : world.bidders()) {
            if (bidder.participation() == Participation.INCUMBENTS_ONLY
                && bidder.held().size() < bidder.minimumSlots()) {
              assertEquals(
                  AuctionWorld.reclaimed(world.with(replaced(world, bidder, 1)).clear()),
                  AuctionWorld.reclaimed(clearing),
                  bidder.cluster());
            }
          }
        });
  }

  private static List<Bidder> replaced(AuctionWorld world, Bidder bidder, int minimum) {
    return world.bidders().stream()
        .map(b -> b.equals(bidder) ? AuctionFixture.gang(minimum, b) : b)
        .toList();
  }

  @Test
  void theRulesTurnByTurnGiveTheSameSeatsGrantsAndReclaims() {
    inEveryWorld(
        (world, random) -> {
          ReferenceAuction reference = new ReferenceAuction(world);
          Clearing clearing = world.clear();
          assertEquals(reference.unseated(), clearing.unseated());
          assertEquals(reference.reclaims(), Set.copyOf(clearing.reclaims()));
          assertEquals(reference.grants(), clearing.grants());
        });
  }

  @Test
  void theRulesTurnByTurnGiveTheSamePrices() {
    inEveryWorld(
        (world, random) -> {
          ReferenceAuction reference = new ReferenceAuction(world);
          Clearing clearing = world.clear();
          assertEquals(reference.prices(), world.prices());
          assertEquals(reference.admissionPrice(), clearing.admissionCents());
        });
  }

  @Test
  void noGangIsSeatedUnderItsMinimumButWithShieldedNodesAlone() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          for (Bidder bidder : world.bidders()) {
            int seats = world.seats(bidder, clearing) - world.unusableKept(bidder, clearing);
            assertTrue(
                !mayBidForItsMinimum(world, bidder)
                    || world.seats(bidder, clearing) >= bidder.minimumSlots()
                    || seats == AuctionWorld.shielded(bidder),
                bidder.cluster());
          }
        });
  }

  @Test
  void aGangThatIsCutUnderItsMinimumLosesAllNodesThatAreNotShielded() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          Set<String> reclaimed = AuctionWorld.reclaimed(clearing);
          for (Bidder bidder : world.bidders()) {
            if (mayBidForItsMinimum(world, bidder)
                && world.seats(bidder, clearing) < bidder.minimumSlots()) {
              assertTrue(
                  bidder.held().stream()
                      .allMatch(
                          h -> h.shielded() || !h.usable() || reclaimed.contains(h.allocationId())),
                  bidder.cluster());
            }
          }
        });
  }

  @Test
  void noSeatIsLeftThatABidderCouldUseAlone() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          int left = world.supply().seats();
          for (Bidder bidder : world.bidders()) {
            left -= world.seats(bidder, clearing) - world.unusableKept(bidder, clearing);
          }
          for (Bidder bidder : world.bidders()) {
            int seats = world.seats(bidder, clearing);
            int lacks = Math.max(1, bidder.minimumSlots() - seats);
            assertFalse(
                bidder.participation() == Participation.OPEN
                    && bidder.ceilingCents() >= world.reserve()
                    && seats + lacks <= bidder.declaredSlots()
                    && lacks <= left,
                bidder.cluster());
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
  void aGangsLosingBidPricesThoseAloneWhoseSeatsWouldCompleteIt() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          for (String gang : clearing.shortfalls().keySet()) {
            Bidder lost = world.bidder(gang);
            List<Bidder> others = new ArrayList<>(world.bidders());
            others.remove(lost);
            AuctionWorld quiet = world.with(others);
            for (String org : world.prices().keySet()) {
              AuctionWorld gone = world.without(org, world.unusableHeld(org));
              boolean wouldWin =
                  gone.bidders().contains(lost)
                      && gone.seats(lost, gone.clear()) >= lost.minimumSlots();
              if (!wouldWin && lost.held().isEmpty() && !lost.org().equals(org)) {
                assertEquals(quiet.prices().get(org), world.prices().get(org), gang + " " + org);
              }
            }
          }
        });
  }

  @Test
  void raisingItsCeilingNeverLosesAGangNorAnyNode() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          for (Bidder bidder : world.bidders()) {
            AuctionWorld raised =
                world.repriced(bidder, bidder.ceilingCents() + random.nextLong(1, 4));
            Clearing after = raised.clear();
            assertTrue(
                raised.seats(raised.bidder(bidder.cluster()), after)
                    >= world.seats(bidder, clearing),
                bidder.cluster());
          }
        });
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
  void aSecondTickDecidesNothing() {
    inEveryWorld(
        (world, random) -> {
          Clearing first = world.clear();
          Clearing second = world.after(first, false).clear();
          assertEquals(List.of(), second.reclaims());
          assertEquals(List.of(), second.grants());
          assertEquals(first.unseated(), second.unseated());
          AuctionWorld freed = world.after(first, true);
          Clearing third = freed.clear();
          assertEquals(List.of(), third.reclaims());
          assertEquals(first.unseated(), third.unseated());
        });
  }

  @Test
  void aGangThatLostForItsSizeWinsAtNoCeilingUnderTheCap() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          for (Bidder bidder : world.bidders()) {
            if (clearing.shortfalls().get(bidder.cluster()) == Shortfall.SIZE) {
              AuctionWorld raised =
                  world.repriced(bidder, Math.max(bidder.ceilingCents(), world.cap() - 1));
              Bidder highest = raised.bidder(bidder.cluster());
              assertTrue(
                  raised.seats(highest, raised.clear()) < bidder.minimumSlots(), bidder.cluster());
            }
          }
        });
  }

  @Test
  void aGangThatLostForThePriceWinsAtTheCap() {
    inEveryWorld(
        (world, random) -> {
          Clearing clearing = world.clear();
          for (Bidder bidder : world.bidders()) {
            if (clearing.shortfalls().get(bidder.cluster()) == Shortfall.PRICE) {
              AuctionWorld raised = world.repriced(bidder, world.cap());
              Bidder highest = raised.bidder(bidder.cluster());
              assertTrue(
                  raised.seats(highest, raised.clear()) >= bidder.minimumSlots(), bidder.cluster());
            }
          }
        });
  }
}
