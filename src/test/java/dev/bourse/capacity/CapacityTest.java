package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.CADENCE;
import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.active;
import static dev.bourse.capacity.Sample.at;
import static dev.bourse.capacity.Sample.declaration;
import static dev.bourse.capacity.Sample.declared;
import static dev.bourse.capacity.Sample.empty;
import static dev.bourse.capacity.Sample.granted;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.order;
import static dev.bourse.capacity.Sample.plannedRelease;
import static dev.bourse.capacity.Sample.provisioning;
import static dev.bourse.capacity.Sample.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.pools.Pool;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The writes of clients: one test for each rule. */
@Tag("fast")
class CapacityTest {
  private static final long LATER = T0 + 600_000;

  @Test
  void aFirstDeclarationIsVersionOneAndLeavesARequestEntryAndAnAuditRow() {
    Transition done = Capacity.declare(empty(), order(16, "2.5", 0), TERMS, T0);

    Cluster next = done.next();
    assertEquals(1, next.version());
    assertEquals(1, next.revision());
    assertEquals(
        new Declaration(
            16,
            new Declaration.Ceiling(250, T0, T0),
            new Declaration.LastWrite(T0, Sample.ACTOR, null),
            Conditions.NONE),
        next.declared());
    assertEquals(2, next.pending(8));
    assertEquals(
        List.of(new Activity(Sample.ACTOR, new ClusterEvent.Declared(16, 250, null, T0))),
        done.activity());
    assertNotNull(done.audit());
    assertEquals("vm_capacity_put", done.audit().action());
    assertEquals("c1", done.audit().subject());
    assertEquals("acme", done.audit().orgId());
    assertEquals(Sample.ACTOR, done.audit().actor());
  }

  @Test
  void disarmedWritesAreRefusedBeforeAnythingElse() {
    Cluster disarmed = DirectChange.armWrites(false).apply(empty(), T0).next();
    Terms platform = Sample.terms(POOL, null, false, true, CADENCE);

    assertNotNull(
        refused(
                ErrorCode.CAPACITY_WRITES_DISABLED,
                () -> Capacity.declare(disarmed, order(3, "0.001", 9), TERMS, T0))
            .extras()
            .get("retry_after_s"));
    refused(
        ErrorCode.CAPACITY_WRITES_DISABLED,
        () -> Capacity.declare(empty(), order(3, "0.001", 9), platform, T0));
    refused(
        ErrorCode.CAPACITY_WRITES_DISABLED,
        () -> Capacity.swap(empty(), Sample.ACTOR, ip(9), platform, T0));
  }

  @Test
  void gpusThatAreNoWholeNodesAreRefusedBeforeThePrice() {
    refused(
        ErrorCode.BAD_REQUEST, () -> Capacity.declare(empty(), order(12, "2.001", 9), TERMS, T0));
  }

  @Test
  void aPriceOfMoreThanTwoDecimalsIsRefusedBeforeItsHeight() {
    refused(
        ErrorCode.PRICE_PRECISION,
        () -> Capacity.declare(empty(), order(8, "99.001", 9), TERMS, T0));
    assertEquals(
        250, Capacity.declare(empty(), order(8, "2.5000", 0), TERMS, T0).next().ceilingCents());
  }

  @Test
  void aPriceAboveTheCapIsRefusedWithTheMaximumBeforeTheVersion() {
    assertEquals(
        10.0,
        refused(
                ErrorCode.PRICE_ABOVE_MAXIMUM,
                () -> Capacity.declare(empty(), order(8, "10.01", 9), TERMS, T0))
            .extras()
            .get("maximum"));
    assertEquals(
        1_000, Capacity.declare(empty(), order(8, "10.00", 0), TERMS, T0).next().ceilingCents());
  }

  @Test
  void anotherVersionIsRefusedBeforeThePosture() {
    Cluster fixed = DirectChange.posture(Cluster.Posture.STATIC).apply(empty(), T0).next();

    refused(ErrorCode.VERSION_MISMATCH, () -> Capacity.declare(fixed, order(8, "2", 1), TERMS, T0));
  }

  @Test
  void aRaiseOfAnOperatorManagedClusterIsRefusedBeforeTheKeys() {
    Cluster fixed = DirectChange.posture(Cluster.Posture.STATIC).apply(empty(), T0).next();

    refused(
        ErrorCode.STATIC_POSTURE,
        () -> Capacity.declare(fixed, order(8, "2", 0), withoutKeys(), T0));
  }

  @Test
  void anOperatorManagedClusterCanAlwaysShrinkAndNominate() {
    Cluster fixed = DirectChange.posture(Cluster.Posture.STATIC).apply(active(2), T0).next();

    Cluster nominated =
        Capacity.declare(fixed, order(16, "2", 1, List.of(ip(0))), TERMS, LATER).next();
    Cluster shrunk = Capacity.declare(nominated, order(8, "2", 2), TERMS, LATER + CADENCE).next();

    assertEquals(List.of(ip(0), ip(1)), plannedRelease(nominated));
    assertEquals(List.of(ip(1)), plannedRelease(shrunk));
  }

  @Test
  void aRaiseWithoutKeysIsRefusedBeforeUnknownNodes() {
    refused(
        ErrorCode.NO_SSH_KEYS,
        () -> Capacity.declare(empty(), order(8, "2", 0, List.of(ip(9))), withoutKeys(), T0));
    assertEquals(
        8,
        declaration(Capacity.declare(active(2), order(8, "2", 1), withoutKeys(), LATER).next())
            .maxGpus());
  }

  @Test
  void aReleaseOfANodeThatIsNotHeldIsRefusedBeforeThePriceIsWeighed() {
    refused(
        ErrorCode.UNKNOWN_NODE,
        () -> Capacity.declare(active(1), order(8, "0.5", 1, List.of(ip(0), ip(9))), TERMS, LATER));
  }

  @Test
  void aReleaseOfANodeBeingReclaimedIsRefused() {
    Cluster shrunk = Capacity.declare(active(1), order(0, "2", 1), TERMS, LATER).next();

    refused(
        ErrorCode.UNKNOWN_NODE,
        () -> Capacity.declare(shrunk, order(0, "2", 2, List.of(ip(0))), TERMS, LATER + CADENCE));
  }

  @Test
  void aPriceUnderTheReserveIsRefusedWithTheMinimumBeforeTheCadence() {
    assertEquals(
        1.0,
        refused(
                ErrorCode.BID_TOO_LOW,
                () -> Capacity.declare(declared(8), order(8, "0.99", 1), TERMS, T0 + 1))
            .extras()
            .get("minimum"));
    assertEquals(
        100, Capacity.declare(empty(), order(8, "1.00", 0), TERMS, T0).next().ceilingCents());
  }

  @Test
  void aShrinkAtANewPriceUnderTheReserveIsRefusedToo() {
    refused(
        ErrorCode.BID_TOO_LOW,
        () -> Capacity.declare(active(2), order(8, "0.50", 1), TERMS, LATER));
  }

  @Test
  void theStandingPriceMayStayUnderTheReserveUnlessMaxGpusIsRaised() {
    Terms dearer = Sample.terms(withReserve(300), null, true, true, CADENCE);
    Cluster cluster = active(2);

    assertEquals(
        8,
        declaration(Capacity.declare(cluster, order(8, "2", 1), dearer, LATER).next()).maxGpus());
    assertEquals(2, Capacity.declare(cluster, order(16, "2", 1), dearer, LATER).next().version());
    refused(
        ErrorCode.BID_TOO_LOW, () -> Capacity.declare(cluster, order(24, "2", 1), dearer, LATER));
  }

  @Test
  void writesOfOneClusterAreACadenceApartAndTheRefusalSaysHowLong() {
    Cluster cluster = declared(8);

    assertEquals(
        5L,
        refused(
                ErrorCode.RATE_LIMITED,
                () -> Capacity.declare(cluster, order(8, "3", 1), TERMS, T0 + 1))
            .extras()
            .get("retry_after_s"));
    assertEquals(
        1L,
        refused(
                ErrorCode.RATE_LIMITED,
                () -> Capacity.declare(cluster, order(8, "3", 1), TERMS, T0 + CADENCE - 1))
            .extras()
            .get("retry_after_s"));
    assertEquals(
        2, Capacity.declare(cluster, order(8, "3", 1), TERMS, T0 + CADENCE).next().version());
  }

  @Test
  void declareAndSwapShareOneCadence() {
    Cluster swapping = Capacity.swap(active(2), Sample.ACTOR, ip(0), TERMS, LATER).next();

    refused(
        ErrorCode.RATE_LIMITED,
        () -> Capacity.swap(swapping, Sample.ACTOR, ip(1), TERMS, LATER + 1));
    refused(
        ErrorCode.RATE_LIMITED,
        () -> Capacity.declare(swapping, order(16, "2", 2), TERMS, LATER + 1));
    assertTrue(
        at(Capacity.swap(swapping, Sample.ACTOR, ip(1), TERMS, LATER + CADENCE).next(), 1)
            .isSwapping());
  }

  @Test
  void grantsAndReclaimsDoNotStartTheCadenceNorMoveTheVersion() {
    Cluster cluster = granted(declared(8), 0, null, T0 + CADENCE);

    assertEquals(1, cluster.version());
    assertEquals(2, cluster.revision());
    assertEquals(
        2, Capacity.declare(cluster, order(8, "3", 1), TERMS, T0 + CADENCE).next().version());
  }

  @Test
  void theAgeOfAPriceStaysUntilThePriceChanges() {
    Cluster more = Capacity.declare(declared(8), order(16, "2.00", 1), TERMS, LATER).next();
    Cluster dearer = Capacity.declare(more, order(16, "2.01", 2), TERMS, LATER + CADENCE).next();

    assertEquals(T0, declaration(more).pricedAtMillis());
    assertEquals(LATER, declaration(more).updatedAtMillis());
    assertEquals(LATER + CADENCE, declaration(dearer).pricedAtMillis());
  }

  @Test
  void aShrinkTakesTheNominatedInTheirOrderThenTheProvisioningThenTheNewest() {
    Cluster cluster = active(3);
    cluster = Capacity.declare(cluster, order(32, "2", 1), TERMS, LATER).next();
    cluster = granted(cluster, 3, null, LATER + 1);
    cluster =
        Capacity.declare(cluster, order(32, "2", 2, List.of(ip(1), ip(0))), TERMS, LATER + CADENCE)
            .next();

    assertEquals(List.of(ip(1), ip(0), ip(3), ip(2)), plannedRelease(cluster));
  }

  @Test
  void aShrinkReclaimsAtOnceWithinTheWrite() {
    Transition done = Capacity.declare(active(3), order(16, "2", 1, List.of(ip(0))), TERMS, LATER);

    assertEquals(Allocation.State.RECLAIMING, at(done.next(), 0).state());
    assertEquals(
        new Allocation.Reclaim(Allocation.Reason.SCALE_DOWN, LATER), at(done.next(), 0).reclaim());
    assertEquals(0, done.next().pending(8));
    assertEquals(
        new Activity(
            Sample.ACTOR, new ClusterEvent.Released(ip(0), Allocation.Reason.SCALE_DOWN), "n0"),
        done.activity().get(1));
  }

  @Test
  void zeroReleasesEverything() {
    Cluster done = Capacity.declare(active(3), order(0, "2", 1), TERMS, LATER).next();

    assertTrue(done.allocations().stream().noneMatch(Allocation::isOpen));
    assertEquals(0, done.pending(8));
  }

  @Test
  void aShrinkOfOpenSlotsAloneReleasesNothing() {
    Cluster half = Capacity.declare(active(1), order(24, "2", 1), TERMS, LATER).next();
    Cluster done = Capacity.declare(half, order(8, "2", 2), TERMS, LATER + CADENCE).next();

    assertTrue(at(done, 0).isOpen());
  }

  @Test
  void nominationsWithoutAShrinkReclaimNothing() {
    Cluster done =
        Capacity.declare(active(2), order(16, "2", 1, List.of(ip(0))), TERMS, LATER).next();

    assertEquals(2, done.releaseOrder().size());
    assertEquals(1, at(done, 0).nomination());
  }

  @Test
  void aReleaseReplacesTheStandingNominationsAnAbsentOneKeepsThemAnEmptyOneClearsThem() {
    Cluster named =
        Capacity.declare(active(2), order(16, "2", 1, List.of(ip(0))), TERMS, LATER).next();
    Cluster kept = Capacity.declare(named, order(16, "2", 2), TERMS, LATER + CADENCE).next();
    Cluster replaced =
        Capacity.declare(named, order(16, "2", 2, List.of(ip(1))), TERMS, LATER + CADENCE).next();
    Cluster cleared =
        Capacity.declare(named, order(16, "2", 2, List.of()), TERMS, LATER + CADENCE).next();

    assertEquals(1, at(kept, 0).nomination());
    assertEquals(0, at(replaced, 0).nomination());
    assertEquals(1, at(replaced, 1).nomination());
    assertEquals(0, at(cleared, 0).nomination());
  }

  @Test
  void anAddressNamedTwiceIsNominatedOnce() {
    Cluster done =
        Capacity.declare(active(2), order(8, "2", 1, List.of(ip(0), ip(0), ip(0))), TERMS, LATER)
            .next();

    assertTrue(at(done, 1).isOpen());
    assertFalse(at(done, 0).isOpen());
  }

  @Test
  void anOpenSlotUnderTheAdmissionPriceIsToldAtOnceThatItBidsTooLow() {
    Terms admission = Sample.terms(POOL, 400L, true, true, CADENCE);

    assertTrue(
        Capacity.declare(empty(), order(8, "3.99", 0), admission, T0).next().verdict().bidTooLow());
    assertFalse(
        Capacity.declare(empty(), order(8, "4.00", 0), admission, T0).next().verdict().bidTooLow());
    assertFalse(
        Capacity.declare(active(1), order(8, "3.00", 1), admission, LATER)
            .next()
            .verdict()
            .bidTooLow());
  }

  @Test
  void whereCapacityIsTheCauseTheBidIsNotTooLow() {
    Terms admission = Sample.terms(POOL, 400L, true, true, CADENCE);
    Cluster waiting =
        MarketTransitions.settle(
                declared(8),
                Sample.orders(
                    declared(8),
                    List.of(),
                    List.of(),
                    NoticeOrders.NONE,
                    new Verdict(false, true),
                    T0),
                T0)
            .next();

    Cluster still = Capacity.declare(waiting, order(16, "2", 1), admission, LATER).next();
    Cluster none = Capacity.declare(waiting, order(0, "2", 1), admission, LATER).next();

    assertEquals(new Verdict(false, true), still.verdict());
    assertEquals(new Verdict(false, false), none.verdict());
  }

  @Test
  void aProvisioningNodeCountsAsHeld() {
    Cluster cluster = provisioning(1);

    assertEquals(0, cluster.pending(8));
    assertEquals(List.of(ip(0)), plannedRelease(cluster));
  }

  private static Terms withoutKeys() {
    return Sample.terms(POOL, null, true, false, CADENCE);
  }

  private static Pool withReserve(long cents) {
    return POOL.with(p -> p.bounds(cents, POOL.capCents()));
  }

  private static Capacity.Declare bare(int maxGpus, @Nullable String price) {
    return order(maxGpus, price, null, new JsonObject());
  }

  @Test
  void aLoweringAloneNeedsNeitherAPriceNorAVersion() {
    Cluster before = active(3);
    for (String price : Arrays.asList(null, "2", "2.00")) {
      Cluster next = Capacity.declare(before, bare(8, price), TERMS, LATER).next();
      assertEquals(8, declaration(next).maxGpus());
      assertEquals(200, declaration(next).ceilingCents());
      assertEquals(before.version() + 1, next.version());
      assertEquals(1, next.allocations().stream().filter(Allocation::fillsSlot).count());
      Cluster again = Capacity.declare(next, bare(8, price), TERMS, LATER + CADENCE).next();
      assertEquals(8, declaration(again).maxGpus());
    }
  }

  @Test
  void aLoweringBelowTheMinimumClearsItWithoutAVersion() {
    Cluster three = active(3);
    Cluster before =
        Capacity.declare(three, order(24, null, three.version(), Sample.least(16)), TERMS, LATER)
            .next();
    long then = LATER + CADENCE;
    refused(ErrorCode.BAD_REQUEST, () -> Capacity.declare(before, bare(8, null), TERMS, then));
    JsonObject cleared = new JsonObject().putNull("min_gpus");
    Capacity.Declare lower = order(8, null, null, cleared);
    Declaration after = declaration(Capacity.declare(before, lower, TERMS, then).next());
    assertEquals(8, after.maxGpus());
    assertNull(after.conditions().minGpus());
  }

  @Test
  void whateverElseAWriteChangesItNeedsAVersion() {
    Cluster standing = active(3);
    for (Capacity.Declare order :
        List.of(
            bare(32, "2"),
            bare(8, "1.99"),
            bare(8, "2.01"),
            order(8, null, null, new JsonObject().put("release", new JsonArray())),
            order(8, null, null, new JsonObject().putNull("until")),
            order(8, null, null, Sample.least(8)))) {
      String detail =
          refused(ErrorCode.BAD_REQUEST, () -> Capacity.declare(standing, order, TERMS, LATER))
              .detail();
      assertTrue(detail.startsWith("expected_version is missing"), detail);
    }
    for (Cluster cluster : List.of(standing, empty())) {
      String detail =
          refused(
                  ErrorCode.BAD_REQUEST,
                  () -> Capacity.declare(cluster, bare(32, null), TERMS, LATER))
              .detail();
      assertTrue(detail.startsWith("max_price_per_gpu_hour is missing"), detail);
    }
    refused(ErrorCode.BAD_REQUEST, () -> Capacity.declare(empty(), bare(0, null), TERMS, T0));
  }
}
