package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.Usage.Facts;
import dev.bourse.billing.Usage.Held;
import dev.bourse.billing.Usage.Line;
import dev.bourse.billing.Usage.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is billed, from change points. */
class UsageTest {
  private static final long H = Usage.HOUR_MILLIS;
  private static final long T = 472_222 * H;

  private static Facts facts(List<Held> held, List<Step> prices, List<Step> ceilings) {
    return new Facts("c1", held, prices, ceilings);
  }

  @Test
  void anHourOfANodeCostsItsGpusTimesThePrice() {
    Facts facts =
        facts(
            List.of(new Held(8, T, null)), List.of(new Step(0, 250L)), List.of(new Step(0, 350L)));

    assertEquals(List.of(new Line("c1", T, 8 * H, 250 * 8 * H)), Usage.lines(facts, T, T + H));
    assertEquals(20_000_000, Usage.lines(facts, T, T + H).get(0).amountMicros(), "8 x $2.50");
  }

  @Test
  void nobodyPaysMoreThanItsCeiling() {
    Facts facts =
        facts(
            List.of(new Held(8, T, null)),
            List.of(new Step(0, 250L)),
            List.of(new Step(0, 350L), new Step(T + H / 2, 200L)));

    assertEquals((250 + 200) * 8 * H / 2, Usage.lines(facts, T, T + H).get(0).centGpuMillis());
  }

  @Test
  void billingRunsFromTheActiveNodeToTheStartOfItsReclaim() {
    Facts facts =
        facts(
            List.of(new Held(8, T + 10, T + 30), new Held(8, T + 30, T + 31)),
            List.of(new Step(0, 100L)),
            List.of(new Step(0, 100L)));

    assertEquals(
        List.of(new Line("c1", T, 8 * 21, 100 * 8 * 21)), Usage.lines(facts, T, T + 2 * H));
  }

  @Test
  void nothingIsBilledWhileNoPriceOrNoCeilingIsInForce() {
    Held held = new Held(8, T, null);
    List<Step> ceilings = List.of(new Step(T + 600, 100L));
    List<Step> prices = List.of(new Step(T + 500, 100L), new Step(T + 700, null));

    assertEquals(
        List.of(new Line("c1", T, 800, 80_000)),
        Usage.lines(facts(List.of(held), prices, ceilings), T, T + H));
    assertEquals(List.of(), Usage.lines(facts(List.of(held), List.of(), ceilings), T, T + H));
  }

  @Test
  void ofChangesAtOneMomentTheLastCounts() {
    Facts facts =
        facts(
            List.of(new Held(1, T, null)),
            List.of(new Step(0, 900L)),
            List.of(new Step(0, 100L), new Step(T, 500L), new Step(T, 200L)));

    assertEquals(200 * H, Usage.lines(facts, T, T + H).get(0).centGpuMillis());
  }

  @Test
  void anAmountIsRoundedDownOncePerLine() {
    assertEquals(0, new Line("c1", T, 1, 359).amountMicros());
    assertEquals(1, new Line("c1", T, 1, 719).amountMicros());
  }

  /** Random worlds against a second reckoning that looks at every single millisecond. */
  @Test
  void linesAreWhatEachMillisecondCosts() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int world = 0; world < 300; world++) {
      long from = T + H - 200;
      long to = from + 400;
      List<Held> held = new ArrayList<>();
      for (int i = random.nextInt(5); i > 0; i--) {
        long begin = from - 50 + random.nextInt(480);
        Long end = random.nextInt(4) == 0 ? null : (Long) (begin + random.nextInt(300));
        held.add(new Held(1 + random.nextInt(8), begin, end));
      }
      Facts facts = facts(held, steps(random, from), steps(random, from));
      String shown = "seed " + seed + " world " + world + ": " + facts;
      assertEquals(naive(facts, from, to), Usage.lines(facts, from, to), shown);
      long cut = from + random.nextInt(400);
      assertEquals(
          total(Usage.lines(facts, from, to)),
          total(Usage.lines(facts, from, cut)) + total(Usage.lines(facts, cut, to)),
          shown);
    }
  }

  private static List<Step> steps(Random random, long from) {
    List<Step> steps = new ArrayList<>();
    for (int i = random.nextInt(6); i > 0; i--) {
      Long cents = random.nextInt(5) == 0 ? null : (Long) (long) random.nextInt(1_000);
      steps.add(new Step(from - 20 + random.nextInt(440), cents));
    }
    return steps;
  }

  private static long total(List<Line> lines) {
    return lines.stream().mapToLong(Line::centGpuMillis).sum();
  }

  private static List<Line> naive(Facts facts, long from, long to) {
    List<Line> lines = new ArrayList<>();
    for (long hour = Usage.hourOf(from); hour < to; hour += H) {
      long gpuMillis = 0;
      long centGpuMillis = 0;
      for (long t = Math.max(from, hour); t < Math.min(to, hour + H); t++) {
        Long price = inForce(facts.prices(), t);
        Long ceiling = inForce(facts.ceilings(), t);
        for (Held held : facts.held()) {
          boolean isHeld =
              held.fromMillis() <= t && (held.toMillis() == null || t < held.toMillis());
          if (isHeld && price != null && ceiling != null) {
            gpuMillis += held.gpus();
            centGpuMillis += held.gpus() * Math.min(price, ceiling);
          }
        }
      }
      if (gpuMillis > 0) {
        lines.add(new Line("c1", hour, gpuMillis, centGpuMillis));
      }
    }
    return lines;
  }

  private static @Nullable Long inForce(List<Step> steps, long at) {
    Long cents = null;
    for (Step step : steps) {
      if (step.atMillis() <= at) {
        cents = step.cents();
      }
    }
    return cents;
  }

  @Test
  void aSpanReachesOverNoFullHour() {
    Facts facts =
        facts(
            List.of(new Held(1, T + 5, T + 3 * H)),
            List.of(new Step(0, 1L)),
            List.of(new Step(0, 1L)));

    List<Usage.Span> spans = Usage.spans(facts, T, T + 4 * H);
    assertEquals(3, spans.size());
    assertTrue(
        spans.stream()
            .allMatch(s -> Usage.hourOf(s.fromMillis()) == Usage.hourOf(s.toMillis() - 1)));
  }
}
