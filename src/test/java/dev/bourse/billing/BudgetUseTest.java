package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Conditions;
import dev.bourse.market.Spent;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The spending of a budget, and the time at which it is used up. */
@Tag("fast")
class BudgetUseTest {
  private static final long HOUR = Usage.HOUR_MILLIS;
  private static final long T0 = 1_700_000_000_000L / HOUR * HOUR;

  /** Cents x GPU-milliseconds of one cent. */
  private static final long CENT = 3_600_000;

  private static Conditions.Budget budget(long cents) {
    return new Conditions.Budget(cents, T0);
  }

  private static Usage.Span span(long from, long to, long gpus, long cents) {
    return new Usage.Span(from, to, gpus, cents, cents, cents);
  }

  @Test
  void whatIsPostedAndWhatIsNotAreOneSum() {
    Spent spent =
        SpentModel.spent(
            budget(1_000), 300 * CENT, T0 + HOUR, List.of(span(T0 + HOUR, T0 + 2 * HOUR, 8, 50)));
    assertEquals(700 * 10_000, spent.micros());
    assertEquals(OptionalLong.empty(), spent.reachedAtMillis());
  }

  @Test
  void itTellsWhenTheBudgetWasReached() {
    List<Usage.Span> accrued =
        List.of(span(T0 + HOUR, T0 + 2 * HOUR, 8, 50), span(T0 + 2 * HOUR, T0 + 3 * HOUR, 8, 100));
    Spent spent = SpentModel.spent(budget(1_100), 300 * CENT, T0 + HOUR, accrued);
    assertEquals(1_500 * 10_000, spent.micros());
    assertEquals(OptionalLong.of(T0 + 2 * HOUR + HOUR / 2), spent.reachedAtMillis());
    assertEquals(
        OptionalLong.of(T0 + HOUR),
        SpentModel.spent(budget(300), 300 * CENT, T0 + HOUR, accrued).reachedAtMillis(),
        "what is posted is all of it");
  }

  @Test
  void upToThatMomentNoMoreThanTheBudgetIsSpent() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    int reached = 0;
    for (int run = 0; run < 5_000; run++) {
      List<Usage.Span> spans = new ArrayList<>();
      long at = T0;
      for (int i = random.nextInt(6); i >= 0; i--) {
        long end = at + 1 + random.nextInt(3_600_000);
        spans.add(span(at, end, 8L * (1 + random.nextInt(4)), random.nextInt(400)));
        at = end;
      }
      Conditions.Budget budget = budget(1 + random.nextInt(5_000));
      Spent spent = SpentModel.spent(budget, 0, T0, spans);
      if (spent.reachedAtMillis().isPresent()) {
        reached++;
        long end = spent.reachedAtMillis().getAsLong();
        assertTrue(sum(spans, end) <= budget.maxSpendCents() * CENT, "seed " + seed);
        assertTrue(sum(spans, end + 1) >= budget.maxSpendCents() * CENT, "seed " + seed);
      } else {
        assertTrue(sum(spans, at) < budget.maxSpendCents() * CENT, "seed " + seed);
      }
    }
    assertTrue(reached > 1_000, "reached " + reached);
  }

  private static long sum(List<Usage.Span> spans, long to) {
    long sum = 0;
    for (Usage.Span span : spans) {
      long end = Math.min(to, span.toMillis());
      sum += Math.max(0, end - span.fromMillis()) * span.gpus() * span.rateCents();
    }
    return sum;
  }
}
