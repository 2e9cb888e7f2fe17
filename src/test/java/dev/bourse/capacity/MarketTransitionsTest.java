package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.FRESHNESS;
import static dev.bourse.capacity.Sample.PROTECTION;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.at;
import static dev.bourse.capacity.Sample.declared;
import static dev.bourse.capacity.Sample.grant;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static dev.bourse.capacity.Sample.provisioning;
import static dev.bourse.capacity.Sample.settled;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The changes of a cluster by the market and the machines: one test for each rule. */
@Tag("fast")
class MarketTransitionsTest {
  private static final long LATER = T0 + 600_000;

  @Test
  void aGrantIsProvisioningInTheLowestFreeSlotWithTheKeysOfTheMoment() {
    Cluster wants = Capacity.declare(active(1), order(24, "2", 1), TERMS, LATER - 1).next();
    Transition done = settled(wants, List.of(grant(5, null), grant(6, null)), List.of(), LATER);

    Allocation first = at(done.next(), 5);
    assertEquals(Allocation.State.PROVISIONING, first.state());
    assertEquals(1, first.slot());
    assertEquals(2, at(done.next(), 6).slot());
    assertEquals(List.of("key_1"), first.keyIds());
    assertEquals(200, first.protection().grantCeilingCents());
    assertNull(first.protectedUntilMillis());
    assertEquals("granted " + ip(5), done.activity().get(0).event().note());
    assertEquals("system", done.activity().get(0).who());
  }

  @Test
  void aSlotOfANodeBeingReclaimedIsFree() {
    Cluster shrunk =
        Capacity.declare(active(2), order(8, "2", 1, List.of(ip(0))), TERMS, LATER).next();

    Cluster wants =
        Capacity.declare(shrunk, order(16, "2", 2), TERMS, LATER + Sample.CADENCE).next();
    assertEquals(0, at(granted(wants, 5, null, LATER + Sample.CADENCE), 5).slot());
  }

  @Test
  void anOrderIsCarriedOutWhateverTheClusterWroteSince() {
    Cluster read = active(2);
    MarketTransitions.Orders orders =
        Sample.orders(
            read, List.of(), List.of(outbid("a0")), NoticeOrders.NONE, read.verdict(), LATER);
    Cluster written = Capacity.declare(read, order(24, "9", 1, List.of()), TERMS, LATER + 1).next();

    Cluster settled = MarketTransitions.settle(written, orders, LATER + 2).next();
    assertEquals(Allocation.State.RECLAIMING, at(settled, 0).state());
    assertEquals(900, settled.ceilingCents());
  }

  @Test
  void whoReleasedNodesSinceLosesNoOthersForTheSameSeat() {
    Cluster read = active(2);
    MarketTransitions.Orders orders =
        Sample.orders(
            read, List.of(), List.of(outbid("a0")), NoticeOrders.NONE, read.verdict(), LATER);
    Cluster shrunk =
        Capacity.declare(read, order(8, "2", 1, List.of(ip(1))), TERMS, LATER + 1).next();

    Cluster settled = MarketTransitions.settle(shrunk, orders, LATER + 2).next();
    assertEquals(Allocation.State.ACTIVE, at(settled, 0).state());
  }

  @Test
  void aGrantThatIsNotAskedForAnyMoreIsNotMadeAndCountsAsGivenUp() {
    Cluster read = declared(8);
    MarketTransitions.Orders orders =
        Sample.orders(
            read, List.of(grant(0, null)), List.of(), NoticeOrders.NONE, read.verdict(), LATER);
    Cluster left = Capacity.declare(read, order(0, "2", 1, List.of()), TERMS, LATER + 1).next();

    Cluster settled = MarketTransitions.settle(left, orders, LATER + 2).next();
    assertEquals(List.of(), settled.allocations());
    assertEquals(LATER + 2, settled.standing().gaveUpAtMillis());
  }

  @Test
  void aGrantGoesByTheCeilingThatTheTickRead() {
    Cluster read = declared(8);
    MarketTransitions.Orders orders =
        Sample.orders(
            read, List.of(grant(0, null)), List.of(), NoticeOrders.NONE, read.verdict(), LATER);
    Cluster lowered = Capacity.declare(read, order(8, "1", 1, List.of()), TERMS, LATER + 1).next();

    Cluster settled = MarketTransitions.settle(lowered, orders, LATER + 2).next();
    assertEquals(200, at(settled, 0).protection().grantCeilingCents());
    Standing.Gate gate = settled.standing().gate();
    assertNotNull(gate);
    assertEquals(200, gate.ceilingCents());
  }

  @Test
  void ordersThatChangeNothingMoveNoRevision() {
    assertTrue(settled(declared(8), List.of(), List.of(), T0).changesNothing());
  }

  @Test
  void aNewVerdictAloneIsAChange() {
    Cluster cluster = declared(8);
    Verdict tooLow = new Verdict(true, false);

    Transition done =
        MarketTransitions.settle(
            cluster,
            Sample.orders(cluster, List.of(), List.of(), NoticeOrders.NONE, tooLow, T0),
            T0);

    assertEquals(tooLow, done.next().verdict());
    assertEquals(List.of(), done.activity());
  }

  @Test
  void aNodeTheMarketTakesIsReclaimingWithItsReason() {
    Transition done = settled(active(1), List.of(), List.of(outbid("a0")), LATER);

    assertEquals(
        new Allocation.Reclaim(Allocation.Reason.OUTBID, LATER), at(done.next(), 0).reclaim());
    assertEquals("outbid", done.activity().get(0).event().releaseReason());
    assertEquals("released " + ip(0), done.activity().get(0).event().note());
    assertEquals(1, done.next().pending(8));
    assertEquals(1, done.next().version());
  }

  @Test
  void aNodeThatIsNotOpenIsNotTakenAgain() {
    Cluster gone = settled(active(1), List.of(), List.of(outbid("a0")), LATER).next();

    assertTrue(
        settled(gone, List.of(), List.of(outbid("a0"), outbid("a9")), LATER).changesNothing());
  }

  @Test
  void aReadyNodeIsActiveAndProtectedFromThenOn() {
    Cluster done = MarketTransitions.provisioned(provisioning(1), "a0", PROTECTION, LATER).next();

    assertEquals(Allocation.State.ACTIVE, at(done, 0).state());
    assertEquals(LATER, at(done, 0).activeAtMillis());
    assertEquals(LATER + PROTECTION, at(done, 0).protectedUntilMillis());
  }

  @Test
  void protectionEndsWithItsTimeOrACeilingUnderTheOneAtTheGrant() {
    Allocation node = at(active(1), 0);
    long end = T0 + 60_000 + PROTECTION;

    assertTrue(node.isShielded(end - 1, 200));
    assertFalse(node.isShielded(end, 200));
    assertFalse(node.isShielded(end - 1, 199));
    assertTrue(node.withPin(true).isShielded(end, 199));
  }

  @Test
  void aNodeThatIsReadyTwiceOrTooLateChangesNothing() {
    Cluster shrunk = Capacity.declare(active(1), order(0, "2", 1), TERMS, LATER).next();

    assertTrue(MarketTransitions.provisioned(active(1), "a0", PROTECTION, LATER).changesNothing());
    assertTrue(MarketTransitions.provisioned(shrunk, "a0", PROTECTION, LATER).changesNothing());
    assertTrue(MarketTransitions.provisioned(shrunk, "a9", PROTECTION, LATER).changesNothing());
  }

  @Test
  void aSwapLandsWhenTheReplacementIsReadyWhichKeepsSlotProtectionAndGrantCeiling() {
    Cluster inTransit = swapInTransit();
    assertEquals(0, at(inTransit, 7).slot());
    assertFalse(at(inTransit, 7).fillsSlot());

    Transition landed = MarketTransitions.provisioned(inTransit, "a7", PROTECTION, LATER + 5);

    Allocation fresh = at(landed.next(), 7);
    Allocation old = at(landed.next(), 0);
    assertEquals(Allocation.State.ACTIVE, fresh.state());
    assertTrue(fresh.fillsSlot());
    assertEquals(at(inTransit, 0).protectedUntilMillis(), fresh.protectedUntilMillis());
    assertEquals(
        at(inTransit, 0).protection().grantCeilingCents(), fresh.protection().grantCeilingCents());
    assertEquals(new Allocation.Reclaim(Allocation.Reason.SWAP, LATER + 5), old.reclaim());
    assertEquals(0, old.nomination());
    assertFalse(old.isSwapping());
    assertEquals("swap", landed.activity().get(0).event().releaseReason());
  }

  @Test
  void aReplacementOfANodeThatNeverBecameActiveStartsItsOwnProtection() {
    Cluster swapping = Capacity.swap(provisioning(1), Sample.ACTOR, ip(0), TERMS, LATER).next();
    Cluster inTransit = granted(swapping, 7, "a0", LATER + 1);

    Cluster landed = MarketTransitions.provisioned(inTransit, "a7", PROTECTION, LATER + 5).next();

    assertEquals(LATER + 5 + PROTECTION, at(landed, 7).protectedUntilMillis());
    assertFalse(at(landed, 0).isOpen());
  }

  @Test
  void aReplacementGoesWithTheNodeItWasToReplace() {
    Transition done = settled(swapInTransit(), List.of(), List.of(outbid("a0")), LATER + 5);

    assertFalse(at(done.next(), 0).isOpen());
    assertFalse(at(done.next(), 7).isOpen());
    assertEquals(2, done.activity().size());
  }

  @Test
  void aReplacementFillsTheSlotOfANodeWhoseOwnGrantIsUnwound() {
    Cluster swapping = Capacity.swap(provisioning(1), Sample.ACTOR, ip(0), TERMS, LATER).next();
    Cluster inTransit = granted(swapping, 7, "a0", LATER + 1);

    Cluster unwound = MarketTransitions.unwound(inTransit, "a0", "broken", LATER + 2).next();

    assertTrue(at(unwound, 7).fillsSlot());
    assertEquals(0, unwound.pending(8));
  }

  @Test
  void anUnwoundReplacementLeavesTheSwapWaiting() {
    Transition done = MarketTransitions.unwound(swapInTransit(), "a7", "broken", LATER + 5);

    assertTrue(at(done.next(), 0).isSwapping());
    assertEquals(
        new Allocation.Reclaim(Allocation.Reason.UNWOUND, LATER + 5), at(done.next(), 7).reclaim());
  }

  @Test
  void anUnwoundGrantIsAnActionEntryAndCountsAsAFailureUntilOneSucceeds() {
    Transition done = MarketTransitions.unwound(provisioning(2), "a0", "broken", LATER);

    assertEquals(1, done.next().setbacks().provisionFailures());
    assertEquals(1, done.next().pending(8));
    assertEquals("grant of " + ip(0) + " unwound: broken", done.activity().get(0).event().note());
    assertNull(done.activity().get(0).event().releaseReason());
    assertEquals(
        0,
        MarketTransitions.provisioned(done.next(), "a1", PROTECTION, LATER)
            .next()
            .setbacks()
            .provisionFailures());
    assertTrue(MarketTransitions.unwound(active(1), "a0", "broken", LATER).changesNothing());
  }

  @Test
  void aSwapThatFoundNoReplacementLapsesAndTheNodeStays() {
    Cluster swapping = swapping();

    assertTrue(settled(swapping, List.of(), List.of(), LATER + FRESHNESS - 1).changesNothing());
    Transition lapsed = settled(swapping, List.of(), List.of(), LATER + FRESHNESS);

    assertTrue(at(lapsed.next(), 0).isOpen());
    assertFalse(at(lapsed.next(), 0).isSwapping());
    assertEquals(0, at(lapsed.next(), 0).nomination());
    assertEquals("swap of " + ip(0) + " lapsed", lapsed.activity().get(0).event().note());
  }

  @Test
  void aSwapWhoseReplacementIsOnItsWayDoesNotLapse() {
    assertTrue(
        settled(swapInTransit(), List.of(), List.of(), LATER + 2 * FRESHNESS).changesNothing());
  }

  @Test
  void aReplacementGrantedAtTheMomentOfLapsingIsNotLost() {
    Transition done = settled(swapping(), List.of(grant(7, "a0")), List.of(), LATER + FRESHNESS);

    assertTrue(at(done.next(), 0).isSwapping());
    assertEquals(1, done.activity().size());
  }

  @Test
  void aNodeTakenAtTheMomentItsSwapLapsesIsGone() {
    Transition done = settled(swapping(), List.of(), List.of(outbid("a0")), LATER + FRESHNESS);

    assertFalse(at(done.next(), 0).isOpen());
    assertEquals(1, done.activity().size());
  }

  @Test
  void aDeclarationGivesUpTheSeatsThatItNoLongerWants() {
    Cluster waiting = awaiting(declared(40), 5);
    Transition one = Capacity.declare(waiting, order(32, "2", 1), TERMS, LATER);

    assertEquals(List.of(givenUp(1)), one.bidderCounts());
    assertEquals(0, one.next().standing().awaitedSlots());
    Cluster held = awaiting(provisioning(2), 3);
    assertEquals(
        List.of(givenUp(5)), Capacity.declare(held, order(0, "2", 1), TERMS, LATER).bidderCounts());
    assertEquals(
        List.of(givenUp(5)),
        SelfService.retire(Sample.ACTOR, true).apply(held, LATER).bidderCounts());
  }

  @Test
  void aTickCountsNeitherSeatsThatHaveTheirNodesNowNorBrokenOnesAsGivenUp() {
    Cluster waiting = awaiting(provisioning(2), 5);
    List<MarketTransitions.Orders.Taken> taken =
        List.of(outbid("a0"), new MarketTransitions.Orders.Taken("a1", Allocation.Reason.UNWOUND));
    MarketTransitions.Orders orders = leaving(waiting, List.of(grant(4, null)), taken, 1);

    // Four of five seats, because one has its node now, and the node that was outbid.
    assertEquals(
        List.of(givenUp(5)), MarketTransitions.settle(waiting, orders, LATER).bidderCounts());
  }

  @Test
  void anEvictionIsCountedWhenItsNodeIsTaken() {
    Cluster cluster = active(2);
    List<MarketTransitions.Orders.Taken> taken =
        List.of(
            new MarketTransitions.Orders.Taken("a0", Allocation.Reason.OUTBID, "rival"),
            new MarketTransitions.Orders.Taken("a1", Allocation.Reason.OUTBID, "rival"));

    assertEquals(
        List.of(new BidderEvents.Count("rival", 2, 0)),
        settled(cluster, List.of(), taken, LATER).bidderCounts());
    Cluster shrunk = Capacity.declare(cluster, order(8, "2", 1), TERMS, LATER).next();
    MarketTransitions.Orders late =
        Sample.orders(
            cluster, List.of(), taken.subList(0, 1), NoticeOrders.NONE, cluster.verdict(), LATER);
    assertEquals(List.of(), MarketTransitions.settle(shrunk, late, LATER).bidderCounts());
  }

  private static BidderEvents.Count givenUp(int nodes) {
    return new BidderEvents.Count("acme", 0, nodes);
  }

  private static Cluster awaiting(Cluster cluster, int seats) {
    Cluster.Draft draft = cluster.draft();
    draft.standing = new Standing(cluster.standing().gate(), seats, null);
    return draft.build();
  }

  /** Returns the orders of a tick at which the cluster gave up seats. */
  private static MarketTransitions.Orders leaving(
      Cluster cluster,
      List<MarketTransitions.Orders.Grant> grants,
      List<MarketTransitions.Orders.Taken> taken,
      int seats) {
    MarketTransitions.Orders orders =
        Sample.orders(cluster, grants, taken, NoticeOrders.NONE, cluster.verdict(), LATER);
    return new MarketTransitions.Orders(
        orders.gate(),
        orders.seenVersion(),
        orders.gpusPerNode(),
        orders.lockCents(),
        seats,
        grants,
        orders.losing(),
        taken,
        orders.notices(),
        orders.verdict(),
        FRESHNESS,
        null,
        true);
  }

  @Test
  void aCleanMachineLeavesTheCluster() {
    Cluster shrunk = Capacity.declare(active(1), order(0, "2", 1), TERMS, LATER).next();

    assertEquals(List.of(), MarketTransitions.reclaimed(shrunk, "a0").next().allocations());
    assertTrue(MarketTransitions.reclaimed(shrunk, "a9").changesNothing());
    assertTrue(MarketTransitions.reclaimed(active(1), "a0").changesNothing());
  }

  private static Cluster swapping() {
    return Capacity.swap(active(1), Sample.ACTOR, ip(0), TERMS, LATER).next();
  }

  private static Cluster swapInTransit() {
    return granted(swapping(), 7, "a0", LATER + 1);
  }

  private static MarketTransitions.Orders.Taken outbid(String allocationId) {
    return new MarketTransitions.Orders.Taken(allocationId, Allocation.Reason.OUTBID);
  }
}
