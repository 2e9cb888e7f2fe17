package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.Ledger;
import dev.bourse.billing.Usage;
import dev.bourse.capacity.Allocation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A month of 200 organizations: the rules that hold at every step are in {@link SimulatedMonth},
 * those that hold of the whole here.
 */
class SimulatedMonthTest {
  @Test
  void aMonthAddsUp() {
    long seed = Long.getLong("bourse.test.seed", System.nanoTime());
    System.out.println("simulated month, seed " + seed);
    SimulatedMonth month = new SimulatedMonth(seed);
    month.run();
    System.out.println("simulated month: " + month.posted.size() + " lines, " + month.seen);

    assertEquals(0, month.ledger.sum(), "all accounts");
    Map<String, Long> billed = new HashMap<>();
    for (SimulatedBooks.Posted posted : month.posted) {
      Usage.Line line = posted.line();
      assertEquals(
          recomputed(Objects.requireNonNull(month.clusters.get(line.cluster())), line), line);
      billed.merge(posted.orgId(), line.amountMicros(), Long::sum);
    }
    for (SimulatedBooks.Org org : month.orgs.values()) {
      long used = billed.getOrDefault(org.id, 0L);
      assertEquals(org.given - used, month.ledger.balance(Ledger.account(org.id)), org.id);
      assertEquals(org.monthMicros, used, org.id);
    }
    for (String happened :
        List.of(
            "hold grace",
            "hold notice",
            "hold enforce",
            "hold none",
            "limit reached",
            "limit raised",
            "failed",
            "swapped",
            "reclaimed outbid",
            "reclaimed hold",
            "reclaimed swap")) {
      assertTrue(month.seen.containsKey(happened), "no " + happened + " in " + month.seen);
    }
  }

  /** A line by another way: node after node, price after price, from the whole history. */
  private static Usage.Line recomputed(SimulatedBooks.History history, Usage.Line line) {
    long hourEnd = line.hourMillis() + Usage.HOUR_MILLIS;
    TreeSet<Long> moments = new TreeSet<>(List.of(line.hourMillis(), hourEnd));
    history.market.prices.forEach(step -> moments.add(step.atMillis()));
    history.ceilings.forEach(step -> moments.add(step.atMillis()));
    List<Long> cuts = List.copyOf(moments.subSet(line.hourMillis(), true, hourEnd, true));
    long gpuMillis = 0;
    long centGpuMillis = 0;
    for (Allocation a : history.allocations.values()) {
      Long active = a.activeAtMillis();
      long until = a.reclaim() == null ? Long.MAX_VALUE : a.reclaim().atMillis();
      if (active == null || active >= hourEnd || until <= line.hourMillis()) {
        continue;
      }
      for (int i = 0; i + 1 < cuts.size(); i++) {
        long millis = Math.min(until, cuts.get(i + 1)) - Math.max(active, cuts.get(i));
        Long price = inForce(history.market.prices, cuts.get(i));
        Long ceiling = inForce(history.ceilings, cuts.get(i));
        if (millis > 0 && price != null && ceiling != null) {
          gpuMillis += 8 * millis;
          centGpuMillis += 8 * millis * (price < ceiling ? price : ceiling);
        }
      }
    }
    return new Usage.Line(line.cluster(), line.hourMillis(), gpuMillis, centGpuMillis);
  }

  private static @Nullable Long inForce(List<Usage.ChangePoint> steps, long at) {
    int low = 0;
    int high = steps.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (steps.get(middle).atMillis() <= at) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == 0 ? null : steps.get(low - 1).cents();
  }
}
