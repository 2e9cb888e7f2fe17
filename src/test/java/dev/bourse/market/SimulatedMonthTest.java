package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.billing.Ledger;
import dev.bourse.billing.Usage;
import dev.bourse.testing.Slow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A month of 100 organizations. {@link SimulatedMonth} checks the invariants of every step, this
 * test those of the whole month.
 */
@Tag("simulation")
class SimulatedMonthTest {
  /** One month in two thousand lacks the rarest of the events. */
  private static final int MOST_MONTHS = 4;

  private static final List<String> HAPPENING =
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
          "market stands still for hours");

  @Test
  @Slow("computes a month of 100 organizations")
  void aMonthAddsUp() {
    long seed = Long.getLong("bourse.test.seed", System.nanoTime());
    try {
      Set<String> missing = new TreeSet<>(HAPPENING);
      for (int i = 0; i < MOST_MONTHS && !missing.isEmpty(); i++) {
        SimulatedMonth month = new SimulatedMonth(seed + i);
        month.run();
        System.out.println("simulated month: " + month.posted.size() + " lines, " + month.seen);
        addsUp(month);
        missing.removeAll(month.seen.keySet());
      }
      assertEquals(Set.of(), missing, "never happened");
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(
          "this month again: mvn surefire:test@simulations -Dtest=SimulatedMonthTest"
              + " -Dbourse.test.seed="
              + seed,
          e);
    }
  }

  private static void addsUp(SimulatedMonth month) {
    assertEquals(0, month.ledger.sum(), "all accounts");
    Map<String, Usage.Timeline> timelines = new HashMap<>();
    Map<String, Long> billed = new HashMap<>();
    for (SimulatedBooks.Posted posted : month.posted) {
      Usage.Line line = posted.line();
      assertEquals(
          RecomputedBill.line(
              timelines.computeIfAbsent(
                  line.cluster(), name -> SimulatedBooks.timelineOfAll(month.history(name))),
              line.hourMillis()),
          line);
      billed.merge(posted.orgId(), line.amountMicros(), Long::sum);
    }
    for (SimulatedBooks.Org org : month.orgs.values()) {
      long used = billed.getOrDefault(org.id, 0L);
      assertEquals(org.given - used, month.ledger.balance(Ledger.account(org.id)), org.id);
      assertEquals(org.monthMicros, used, org.id);
    }
  }
}
