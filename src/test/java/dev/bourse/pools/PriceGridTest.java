package dev.bourse.pools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class PriceGridTest {
  private static final long HIGHEST_CAP = 100_000_000;

  private static List<Long> prices(long reserve, long cap) {
    List<Long> prices = new ArrayList<>();
    for (long cents = reserve; cents <= cap; cents = PriceGrid.next(cents)) {
      prices.add(cents);
    }
    return prices;
  }

  @Test
  void eachPriceIsFivePerCentAboveTheOneBefore() {
    assertEquals(List.of(100L, 105L, 110L, 116L, 122L, 128L, 134L), prices(100, 140));
    assertEquals(List.of(0L, 1L, 2L, 3L), prices(0, 3), "each step is at least a cent");
    for (long cents : prices(1_000, HIGHEST_CAP)) {
      double step = (double) PriceGrid.next(cents) / cents;
      assertTrue(step > 1.0495 && step < 1.0505, cents + ": " + step);
    }
  }

  @Test
  void noGridHasMorePricesThanADemandMayHaveLevels() {
    assertEquals(Demand.MAX_LEVELS, prices(0, HIGHEST_CAP).size());
    for (long reserve = 1; reserve < 1_000; reserve++) {
      assertTrue(prices(reserve, HIGHEST_CAP).size() < Demand.MAX_LEVELS, "from " + reserve);
    }
  }

  @Test
  void aPriceIsRoundedDownToTheGrid() {
    for (long cents = 100; cents <= 1_000; cents++) {
      long step = PriceGrid.floor(100, cents);
      assertTrue(step <= cents && cents <= PriceGrid.stepEnd(step), cents + " in " + step);
      assertEquals(step, PriceGrid.floor(100, step));
      assertEquals(step, PriceGrid.floor(step, cents), "from any price of the grid");
    }
    assertThrows(IllegalArgumentException.class, () -> PriceGrid.floor(100, 99));
  }
}
