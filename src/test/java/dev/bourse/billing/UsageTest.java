package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.Usage.ChangePoint;
import dev.bourse.billing.Usage.Held;
import dev.bourse.billing.Usage.Line;
import dev.bourse.billing.Usage.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Bills computed from change points. */
@Tag("fast")
class UsageTest {
  private static final long H = Usage.HOUR_MILLIS;
  private static final long T = 472_222 * H;

  private static Timeline timeline(
      List<Held> held, List<ChangePoint> prices, List<ChangePoint> ceilings) {
    return new Timeline("c1", held, prices, ceilings);
  }

  @Test
  void anHourOfANodeCostsItsGpusTimesThePrice() {
    Timeline timeline =
        timeline(
            List.of(new Held(8, T, null)),
            List.of(new ChangePoint(0, 250L)),
            List.of(new ChangePoint(0, 350L)));

    assertEquals(List.of(new Line("c1", T, 8 * H, 250 * 8 * H)), Usage.lines(timeline, T, T + H));
    assertEquals(20_000_000, Usage.lines(timeline, T, T + H).get(0).amountMicros(), "8 x $2.50");
  }

  @Test
  void nobodyPaysMoreThanItsCeiling() {
    Timeline timeline =
        timeline(
            List.of(new Held(8, T, null)),
            List.of(new ChangePoint(0, 250L)),
            List.of(new ChangePoint(0, 350L), new ChangePoint(T + H / 2, 200L)));

    assertEquals((250 + 200) * 8 * H / 2, Usage.lines(timeline, T, T + H).get(0).centGpuMillis());
  }

  @Test
  void billingRunsFromTheActiveNodeToTheStartOfItsReclaim() {
    Timeline timeline =
        timeline(
            List.of(new Held(8, T + 10, T + 30), new Held(8, T + 30, T + 31)),
            List.of(new ChangePoint(0, 100L)),
            List.of(new ChangePoint(0, 100L)));

    assertEquals(
        List.of(new Line("c1", T, 8 * 21, 100 * 8 * 21)), Usage.lines(timeline, T, T + 2 * H));
  }

  @Test
  void nothingIsBilledWhileNoPriceOrNoCeilingIsInForce() {
    Held held = new Held(8, T, null);
    List<ChangePoint> ceilings = List.of(new ChangePoint(T + 600, 100L));
    List<ChangePoint> prices =
        List.of(new ChangePoint(T + 500, 100L), new ChangePoint(T + 700, null));

    assertEquals(
        List.of(new Line("c1", T, 800, 80_000)),
        Usage.lines(timeline(List.of(held), prices, ceilings), T, T + H));
    assertEquals(List.of(), Usage.lines(timeline(List.of(held), List.of(), ceilings), T, T + H));
  }

  @Test
  void ofChangesAtOneMomentTheLastCounts() {
    Timeline timeline =
        timeline(
            List.of(new Held(1, T, null)),
            List.of(new ChangePoint(0, 900L)),
            List.of(new ChangePoint(0, 100L), new ChangePoint(T, 500L), new ChangePoint(T, 200L)));

    assertEquals(200 * H, Usage.lines(timeline, T, T + H).get(0).centGpuMillis());
  }

  @Test
  void anAmountIsRoundedDownOncePerLine() {
    assertEquals(0, new Line("c1", T, 1, 359).amountMicros());
    assertEquals(1, new Line("c1", T, 1, 719).amountMicros());
  }

  /** Random worlds, compared with a second computation for every single millisecond. */
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
      Timeline timeline = timeline(held, points(random, from), points(random, from));
      String shown = "seed " + seed + " world " + world + ": " + timeline;
      assertEquals(naive(timeline, from, to), Usage.lines(timeline, from, to), shown);
      long cut = from + random.nextInt(400);
      assertEquals(
          total(Usage.lines(timeline, from, to)),
          total(Usage.lines(timeline, from, cut)) + total(Usage.lines(timeline, cut, to)),
          shown);
    }
  }

  private static List<ChangePoint> points(Random random, long from) {
    List<ChangePoint> points = new ArrayList<>();
    for (int i = random.nextInt(6); i > 0; i--) {
      Long cents = random.nextInt(5) == 0 ? null : (Long) (long) random.nextInt(1_000);
      points.add(new ChangePoint(from - 20 + random.nextInt(440), cents));
    }
    return points;
  }

  private static long total(List<Line> lines) {
    return lines.stream().mapToLong(Line::centGpuMillis).sum();
  }

  private static List<Line> naive(Timeline timeline, long from, long to) {
    List<Line> lines = new ArrayList<>();
    for (long hour = Usage.hourOf(from); hour < to; hour += H) {
      long gpuMillis = 0;
      long centGpuMillis = 0;
      for (long t = Math.max(from, hour); t < Math.min(to, hour + H); t++) {
        Long price = inForce(timeline.prices(), t);
        Long ceiling = inForce(timeline.ceilings(), t);
        for (Held held : timeline.held()) {
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

  private static @Nullable Long inForce(List<ChangePoint> points, long at) {
    Long cents = null;
    for (ChangePoint point : points) {
      if (point.atMillis() <= at) {
        cents = point.cents();
      }
    }
    return cents;
  }

  @Test
  void aSpanReachesOverNoFullHour() {
    Timeline timeline =
        timeline(
            List.of(new Held(1, T + 5, T + 3 * H)),
            List.of(new ChangePoint(0, 1L)),
            List.of(new ChangePoint(0, 1L)));

    List<Usage.Span> spans = Usage.spans(timeline, T, T + 4 * H);
    assertEquals(3, spans.size());
    assertTrue(
        spans.stream()
            .allMatch(s -> Usage.hourOf(s.fromMillis()) == Usage.hourOf(s.toMillis() - 1)));
  }
}
