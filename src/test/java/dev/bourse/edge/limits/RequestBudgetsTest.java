package dev.bourse.edge.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A budget of requests a minute for each key. */
@Tag("fast")
class RequestBudgetsTest {
  private final AtomicLong nanos = new AtomicLong();

  private RequestBudgets budgets(int perMinute, int burst) {
    return new RequestBudgets(perMinute, burst, "client address", "address", nanos::get);
  }

  private static boolean spend(RequestBudgets budgets, String key) {
    return Objects.requireNonNull(budgets.spend(key)).isConsumed();
  }

  @Test
  void whoHasSpentItWaitsForOneRequestsShare() {
    RequestBudgets budgets = budgets(60, 2);
    assertTrue(spend(budgets, "a"));
    assertTrue(spend(budgets, "a"));
    assertEquals(
        1_000,
        RequestBudgets.waitMillis(Objects.requireNonNull(budgets.spend("a"))),
        "sixty a minute");
    assertTrue(spend(budgets, "b"));
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertTrue(spend(budgets, "a"));
    assertFalse(spend(budgets, "a"));
  }

  @Test
  void aBudgetOfNoneRefusesNobody() {
    assertNull(budgets(0, 0).spend("a"));
  }

  @Test
  void whoeverHasManyAddressesFillsNoMoreThanItsShareAndPushesNobodyOutWhoKeepsAsking() {
    RequestBudgets budgets = budgets(1, 1);
    assertTrue(spend(budgets, "a"));
    for (int i = 0; i < 5 * RequestBudgets.MAX_BUCKETS; i++) {
      spend(budgets, "2001:db8:" + i);
      if (i % 1_000 == 0) {
        assertFalse(spend(budgets, "a"), "after " + i + " others");
      }
    }
    assertEquals(RequestBudgets.MAX_BUCKETS, budgets.keys());
  }
}
