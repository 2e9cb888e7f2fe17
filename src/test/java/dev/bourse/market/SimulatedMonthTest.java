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
 * A month of 100 organizations: the rules that hold at every step are in {@link SimulatedMonth},
 * those that hold of the whole here.
 */
class SimulatedMonthTest {
  @Test
  void aMonthAddsUp() {
    long seed = Long.getLong("bourse.test.seed", System.nanoTime());
    try {
      SimulatedMonth month = new SimulatedMonth(seed);
      month.run();
      System.out.println("simulated month: " + month.posted.size() + " lines, " + month.seen);
      addsUp(month);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(
          "this month again: mvn test -Dtest=SimulatedMonthTest -Dbourse.test.seed=" + seed, e);
    }
  }

  private static void addsUp(SimulatedMonth month) {
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
            "reclaimed hold",
            "reclaimed lapsed",
            "reclaimed outbid",
            "reclaimed spent",
            "reclaimed swap",
            "notice given",
            "notice withdrawn",
            "notice over",
            "notice over though the clock was set",
            "notice over by the wall clock alone",
            "notice ended by scale-down",
            "lapsed hours late",
            "budget kept",
            "budget passed while no market ran",
            "gang active at one moment",
            "gang passed over",
            "gang taken as a whole",
            "gang unwound",
            "clock set ahead",
            "clock set back",
            "clock set while a notice runs",
            "market taken over while a notice runs",
            "tick under a doubted clock",
            "crash before any order",
            "crash amid orders",
            "market stands still for hours")) {
      assertTrue(month.seen.containsKey(happened), "no " + happened + " in " + month.seen);
    }
  }

  /** A line by another way: node after node, price after price, from the whole history. */
  private static Usage.Line recomputed(SimulatedBooks.History history, Usage.Line line) {
    long hourEnd = line.hourMillis() + Usage.HOUR_MILLIS;
    TreeSet<Long> moments = new TreeSet<>(List.of(line.hourMillis(), hourEnd));
    for (List<Usage.ChangePoint> steps : List.of(history.prices, history.ceilings)) {
      for (int i = after(steps, line.hourMillis());
          i < steps.size() && steps.get(i).atMillis() < hourEnd;
          i++) {
        moments.add(steps.get(i).atMillis());
      }
    }
    for (Allocation a : history.allocations.values()) {
      Long until = a.protectedUntilMillis();
      if (until != null && line.hourMillis() < until && until < hourEnd) {
        moments.add(until);
      }
    }
    List<Long> cuts = List.copyOf(moments);
    long gpuMillis = 0;
    long centGpuMillis = 0;
    for (Allocation a : history.allocations.values()) {
      Long active = a.activeAtMillis();
      Long billedTo = SimulatedBooks.billedTo(history, a);
      long until = billedTo == null ? Long.MAX_VALUE : billedTo;
      if (active == null || active >= hourEnd || until <= line.hourMillis()) {
        continue;
      }
      for (int i = 0; i + 1 < cuts.size(); i++) {
        long millis = Math.min(until, cuts.get(i + 1)) - Math.max(active, cuts.get(i));
        Long price = inForce(history.prices, cuts.get(i));
        Long ceiling = inForce(history.ceilings, cuts.get(i));
        if (millis > 0 && price != null && ceiling != null) {
          gpuMillis += 8 * millis;
          Long lockedUntil = a.protectedUntilMillis();
          Long locked =
              lockedUntil != null && cuts.get(i) < lockedUntil ? a.grantPriceCents() : null;
          long most = Math.min(price, ceiling);
          centGpuMillis += 8 * millis * (locked == null ? most : Math.min(most, locked));
        }
      }
    }
    return new Usage.Line(line.cluster(), line.hourMillis(), gpuMillis, centGpuMillis);
  }

  private static @Nullable Long inForce(List<Usage.ChangePoint> steps, long at) {
    int next = after(steps, at);
    return next == 0 ? null : steps.get(next - 1).cents();
  }

  /** The first change point after a moment. */
  private static int after(List<Usage.ChangePoint> steps, long at) {
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
    return low;
  }
}
