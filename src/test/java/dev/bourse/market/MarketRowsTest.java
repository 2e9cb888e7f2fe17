package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.auction.Clearing;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Change;
import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leases, nodes and prices on disk. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class MarketRowsTest extends StoreFixture {
  private LeaseStore leases;
  private PriceStore prices;
  private NodeStore nodes;

  @BeforeEach
  void stores() {
    leases = new LeaseStore(database);
    prices = new PriceStore(database);
    nodes = new NodeStore(database);
  }

  @Test
  void eachHolderOfALeaseHasOneEpochMoreAndTheFenceRefusesTheOlderOne() throws Exception {
    Lease first = await(leases.acquire("h100", "p1", 1_000)).orElseThrow();
    Lease second = await(leases.acquire("h100", "p2", 1_000)).orElseThrow();

    assertEquals(1, first.epoch());
    assertEquals(2, second.epoch());
    fails(
        Lease.LeaseLostException.class,
        prices.store(Optional.empty(), Optional.of(point(1, 100L)), List.of(), first));
    fails(Lease.LeaseLostException.class, leases.renew(first, 9_000, Optional.empty()));
    assertEquals(List.of(0L), integers("SELECT COUNT(*) FROM price_point"));
    await(prices.store(Optional.empty(), Optional.of(point(1, 100L)), List.of(), second));
    await(leases.renew(second, 9_000, Optional.empty()));
  }

  @Test
  void aNodesFailuresSurviveUnderTheFence() throws Exception {
    Lease lease = await(leases.acquire("h100", "p1", 1_000)).orElseThrow();
    Node failed = await(nodes.list("h100")).get(0);
    for (int i = 0; i < 4; i++) {
      failed = failed.failed(5, "a file is left");
    }
    await(nodes.update(failed, lease));

    assertTrue(await(nodes.list("h100")).contains(failed));
    assertEquals(
        "it could not be prepared 4 times in a row: a file is left", failed.quarantineReason());
    await(leases.acquire("h100", "p2", 1_000));
    fails(Lease.LeaseLostException.class, nodes.update(failed.healthy(), lease));
    assertTrue(await(nodes.list("h100")).contains(failed));
  }

  @Test
  void commitsThatAreLostWhileNodesAreCarriedOverLeaveTheNodesInDoubt() throws Exception {
    Lease lease = await(leases.acquire("h100", "p1", 1_000)).orElseThrow();
    AtomicReference<String> history = new AtomicReference<>("first");
    AtomicLong setBacks = new AtomicLong();
    AtomicBoolean isLosing = new AtomicBoolean();
    Database losing =
        new ForwardingDatabase(database) {
          @Override
          public Future<String> lineage() {
            return Future.succeededFuture(history.get());
          }

          @Override
          public long setBacks() {
            return setBacks.get();
          }

          @Override
          public Future<Void> commit(List<Statement> statements, List<Change> changes) {
            if (isLosing.getAndSet(false)) {
              setBacks.incrementAndGet();
            }
            return super.commit(statements, changes);
          }
        };
    AtomicInteger doubts = new AtomicInteger();
    Lineage lineage = new Lineage(losing, new NodeStore(losing), lease, doubts::incrementAndGet);
    await(lineage.start());
    String node = await(nodes.list("h100")).get(0).nodeId();
    assertTrue(await(lineage.covers(node)));

    history.set("second");
    isLosing.set(true);
    assertFalse(await(lineage.covers(node)));
    assertEquals(1, doubts.get());
    await(lineage.cover(node));
    assertTrue(await(lineage.covers(node)));
  }

  @Test
  void aPriceCarriesTheSumsOfAllBefore() throws Exception {
    Lease lease = await(leases.acquire("h100", "p1", 1_000)).orElseThrow();
    assertEquals(Optional.empty(), await(prices.findInForce("h100", 9_000)));
    PricePoint third = await(insertThree(lease));

    assertEquals(Optional.of(third), await(prices.findInForce("h100", 9_000)));
    assertEquals(200_000, third.centsMillis());
    assertEquals(2_000, third.pricedMillis());
  }

  @Test
  void aPriceThatLiesAheadIsNotInForce() throws Exception {
    Lease lease = await(leases.acquire("h100", "p1", 1_000)).orElseThrow();
    PricePoint third = await(insertThree(lease));

    long latest = third.atMillis() - Correction.APART_MILLIS;
    assertEquals(Optional.of(third), await(prices.findInForce("h100", latest)));
    assertEquals(3_000, await(prices.findInForce("h100", latest - 1)).orElseThrow().atMillis());
  }

  @Test
  void pricesThatFollowOneStoredBeforeThemCarryItsSums() throws Exception {
    Lease lease = await(leases.acquire("h100", "p1", 1_000)).orElseThrow();
    PricePoint third = await(insertThree(lease));
    PricePoint last = third.next(20_000, clearing(50L, 50L));
    await(prices.store(Optional.of(third), Optional.of(last), List.of(), lease));
    PricePoint first = point(1_000, 100L);
    await(
        prices.store(
            Optional.of(first),
            Optional.of(first.next(2_000, clearing(400L, null))),
            List.of(),
            lease));

    // A price of 100 for a second, 400 for another, no price for six, and 200 for eleven.
    assertEquals(
        List.of(0L, 100_000L, 500_000L, 500_000L, 2_700_000L),
        integers("SELECT cents_millis FROM price_point ORDER BY ts"));
    assertEquals(
        List.of(0L, 1_000L, 2_000L, 2_000L, 13_000L),
        integers("SELECT priced_millis FROM price_point ORDER BY ts"));
  }

  @Test
  void pricesThatLieAheadAreDeletedAndThoseBeforeThemStay() throws Exception {
    Lease lease = await(leases.acquire("h100", "p1", 1_000)).orElseThrow();
    await(insertThree(lease));
    PriceCorrection correction = new PriceCorrection(database);

    assertFalse(await(correction.correct(9_000 - Correction.APART_MILLIS)));
    assertEquals(
        List.of(1_000L, 3_000L, 9_000L), integers("SELECT ts FROM price_point ORDER BY ts"));
    assertTrue(await(correction.correct(8_999 - Correction.APART_MILLIS)));
    assertEquals(List.of(1_000L, 3_000L), integers("SELECT ts FROM price_point ORDER BY ts"));
    assertFalse(await(correction.correct(8_999 - Correction.APART_MILLIS)));
  }

  /** Stores prices at 1, 3 and 9 seconds, and returns the last. */
  private Future<PricePoint> insertThree(Lease lease) {
    PricePoint first = point(1_000, 100L);
    PricePoint second = first.next(3_000, clearing(null, 100L));
    PricePoint third = second.next(9_000, clearing(200L, null));
    return prices
        .store(Optional.empty(), Optional.of(first), List.of(), lease)
        .compose(stored -> prices.store(Optional.of(first), Optional.of(second), List.of(), lease))
        .compose(stored -> prices.store(Optional.of(second), Optional.of(third), List.of(), lease))
        .map(third);
  }

  @Test
  void whatWasSwappedAwayIsFoundWithoutLookingThroughAllAllocations() throws Exception {
    List<String> plan =
        await(
            database.read(
                "EXPLAIN QUERY PLAN " + NodeStore.SWAPPED_AWAY,
                List.of(1L, "h100"),
                row -> row.text("detail")));
    assertTrue(
        plan.stream().anyMatch(step -> step.contains("INDEX allocation_swapped")), plan::toString);
    assertTrue(plan.stream().noneMatch(step -> step.startsWith("SCAN")), plan::toString);
  }

  @Test
  void whatWasGivenBackIsFoundWithoutLookingThroughAllAllocations() throws Exception {
    List<String> plan =
        await(
            database.read(
                "EXPLAIN QUERY PLAN " + NodeStore.GIVEN_BACK,
                List.of(1L, "h100"),
                row -> row.text("detail")));
    assertTrue(
        plan.stream().anyMatch(step -> step.contains("INDEX allocation_reclaim")), plan::toString);
    assertTrue(plan.stream().noneMatch(step -> step.startsWith("SCAN")), plan::toString);
  }

  private static PricePoint point(long atMillis, Long cents) {
    return PricePoint.first("h100", atMillis, clearing(cents, cents));
  }

  private static Clearing clearing(@Nullable Long clearing, @Nullable Long admission) {
    return new Clearing(clearing, Map.of(), admission, List.of(), List.of(), Map.of(), Map.of());
  }
}
