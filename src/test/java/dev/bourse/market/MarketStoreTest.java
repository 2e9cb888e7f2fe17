package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.GuardFailed;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Leases, nodes and prices on disk. */
class MarketStoreTest extends StoreFixture {
  @Test
  void eachHolderOfALeaseHasOneEpochMoreAndTheFenceRefusesTheOlderOne() throws Exception {
    MarketStore store = new MarketStore(database);
    MarketStore.Lease first = await(store.acquire("h100", "p1", 1_000)).orElseThrow();
    MarketStore.Lease second = await(store.acquire("h100", "p2", 1_000)).orElseThrow();

    assertEquals(1, first.epoch());
    assertEquals(2, second.epoch());
    GuardFailed refused = fails(GuardFailed.class, store.insert(point(1, 100L), first));
    assertEquals("lease", refused.guard());
    fails(GuardFailed.class, store.renew(first, 9_000));
    assertEquals(List.of(0L), integers("SELECT COUNT(*) FROM price_point"));
    await(store.insert(point(1, 100L), second));
    await(store.renew(second, 9_000));
  }

  @Test
  void aNodesFailuresSurviveUnderTheFence() throws Exception {
    MarketStore store = new MarketStore(database);
    MarketStore.Lease lease = await(store.acquire("h100", "p1", 1_000)).orElseThrow();
    Node failed = await(store.listNodes("h100")).get(0).failed(5).failed(5).failed(5).failed(5);
    await(store.update(failed, lease));

    assertTrue(await(store.listNodes("h100")).contains(failed));
    await(store.acquire("h100", "p2", 1_000));
    fails(GuardFailed.class, store.update(failed.healthy(), lease));
    assertTrue(await(store.listNodes("h100")).contains(failed));
  }

  @Test
  void theLastPriceCarriesTheSumsOfAllBefore() throws Exception {
    MarketStore store = new MarketStore(database);
    MarketStore.Lease lease = await(store.acquire("h100", "p1", 1_000)).orElseThrow();
    assertEquals(Optional.empty(), await(store.findLastPrice("h100")));
    MarketStore.PricePoint first = point(1_000, 100L);
    MarketStore.PricePoint second = first.next(3_000, null, 100L);
    MarketStore.PricePoint third = second.next(9_000, 200L, null);
    for (MarketStore.PricePoint point : List.of(first, second, third)) {
      await(store.insert(point, lease));
    }

    assertEquals(Optional.of(third), await(store.findLastPrice("h100")));
    assertEquals(200_000, third.centsMillis());
    assertEquals(2_000, third.pricedMillis());
  }

  @Test
  void whatWasSwappedAwayIsFoundWithoutLookingThroughAllAllocations() throws Exception {
    List<String> plan =
        await(
            database.read(
                "EXPLAIN QUERY PLAN " + MarketStore.SWAPPED_AWAY,
                List.of(1L, "h100"),
                row -> row.text(3)));
    assertTrue(
        plan.stream().anyMatch(step -> step.contains("INDEX allocation_swapped")), plan::toString);
    assertTrue(plan.stream().noneMatch(step -> step.startsWith("SCAN")), plan::toString);
  }

  private static MarketStore.PricePoint point(long atMillis, Long cents) {
    return new MarketStore.PricePoint(atMillis, cents, cents, 0, 0);
  }
}
