package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.HealthCredits.Change;
import dev.bourse.billing.HealthCredits.Credit;
import dev.bourse.billing.HealthCredits.Failed;
import dev.bourse.billing.Usage.ChangePoint;
import dev.bourse.billing.Usage.Held;
import dev.bourse.billing.Usage.Lock;
import dev.bourse.billing.Usage.Timeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Credits for failed nodes, from change points. */
@Tag("fast")
class HealthCreditsTest {
  private static final long H = Usage.HOUR_MILLIS;
  private static final long T = 472_222 * H;
  private static final long MINUTE = 60_000;
  private static final String ECC = "GPU 3 has 2 uncorrected memory errors";

  private static Timeline held(Held... nodes) {
    return new Timeline(
        "c1", List.of(nodes), List.of(new ChangePoint(0, 250L)), List.of(new ChangePoint(0, 350L)));
  }

  private static Held node(String id, long from) {
    return new Held(8, from, null, null, id);
  }

  private static Change failed(long at) {
    return new Change(at, true, ECC);
  }

  private static Change well(long at) {
    return new Change(at, false, "");
  }

  private static List<Credit> credits(Timeline timeline, Change... changes) {
    return HealthCredits.of(timeline, Map.of("a0", new Failed("198.18.0.7", List.of(changes))), T);
  }

  @Test
  void theTimeInFailedIsCreditedAtTheRateThatItIsBilled() {
    List<Credit> credits =
        credits(held(node("a0", T)), failed(T + 10 * MINUTE), well(T + 40 * MINUTE));
    assertEquals(1, credits.size());
    assertEquals(10_000_000, credits.get(0).amountMicros(), "half an hour of 8 GPUs at $2.50");
  }

  @Test
  void theMemoNamesTheNodeTheTimeAndTheReason() {
    String memo =
        credits(held(node("a0", T)), failed(T + 10 * MINUTE), well(T + 40 * MINUTE)).get(0).memo();
    assertEquals(
        "node 198.18.0.7 of c1 failed for 1800000 ms between 2023-11-14T22:10:00.000Z and"
            + " 2023-11-14T22:40:00.000Z: "
            + ECC,
        memo);
  }

  @Test
  void aNodeThatIsStillFailedIsCreditedUntilItIsGivenBack() {
    Held node = new Held(8, T, T + 30 * MINUTE, null, "a0");
    assertEquals(20_000_000 / 2, credits(held(node), failed(T - 5 * H)).get(0).amountMicros());
  }

  @Test
  void noMoreThanADayOfAnAllocationIsCreditedHoweverOftenItsFaultIsInterrupted() {
    Timeline timeline = held(node("a0", T - 100 * H));
    long day = HealthCredits.MOST_MILLIS;
    assertEquals(
        10_000_000, credits(timeline, failed(T + 30 * MINUTE - day)).get(0).amountMicros());
    assertEquals(List.of(), credits(timeline, failed(T - day)));
    assertEquals(
        10_000_000,
        credits(
                timeline,
                failed(T - day),
                failed(T - 20 * H),
                well(T - 3 * H),
                failed(T - 2 * H - 30 * MINUTE))
            .get(0)
            .amountMicros(),
        "23.5 hours were used before");
  }

  @Test
  void otherNodesOfTheClusterAreNotCredited() {
    List<Credit> credits = credits(held(node("a0", T), node("a1", T)), failed(T));
    assertEquals(1, credits.size());
    assertEquals("a0", credits.get(0).allocationId());
  }

  @Test
  void aLockedPriceIsCreditedAsItIsBilled() {
    Held locked = new Held(8, T, null, new Lock(100, T + H), "a0");
    assertEquals(8_000_000, credits(held(locked), failed(T)).get(0).amountMicros());
  }

  @Test
  void nothingIsCreditedForTimeThatIsNotBilled() {
    Timeline free =
        new Timeline(
            "c1",
            List.of(node("a0", T)),
            List.of(new ChangePoint(0, null)),
            List.of(new ChangePoint(0, 350L)));
    assertEquals(List.of(), credits(free, failed(T)));
    assertEquals(List.of(), credits(held(node("a0", T + 10)), failed(T), well(T + 10)));
  }

  @Test
  void aClockThatStepsBackCreditsNoTimeTwice() {
    Timeline timeline = held(node("a0", T));
    List<Credit> credits =
        credits(
            timeline,
            failed(T + 30 * MINUTE),
            well(T + 40 * MINUTE),
            failed(T + 35 * MINUTE),
            well(T + 50 * MINUTE));
    assertEquals(20_000_000 / 3, credits.get(0).amountMicros(), "20 minutes");
  }

  /**
   * Minute by minute, the credit of each node is the amount billed for the node alone while its
   * last change is a failure; the credits of an hour never exceed the hour's line.
   */
  @Test
  void creditsRecomputeFromTheChangesAndNeverExceedTheBill() {
    long seed = Long.getLong("bourse.test.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int world = 0; world < 300; world++) {
      List<Held> nodes = new ArrayList<>();
      Map<String, Failed> failed = new HashMap<>();
      for (int i = 0; i < 1 + random.nextInt(4); i++) {
        long from = T + (random.nextInt(180) - 90) * MINUTE;
        Long to = random.nextBoolean() ? null : Long.valueOf(from + random.nextInt(200) * MINUTE);
        Lock lock =
            random.nextBoolean()
                ? null
                : new Lock(random.nextInt(300), from + random.nextInt(60) * MINUTE);
        nodes.add(new Held(1 + random.nextInt(8), from, to, lock, "a" + i));
        List<Change> changes = new ArrayList<>();
        for (int k = random.nextInt(6); k > 0; k--) {
          changes.add(
              new Change(T + (random.nextInt(180) - 60) * MINUTE, random.nextBoolean(), "x"));
        }
        failed.put("a" + i, new Failed("ip" + i, changes));
      }
      Timeline timeline = new Timeline("c1", nodes, points(random), points(random));
      String where = "seed " + seed + " world " + world;
      long total = 0;
      for (long hour = T - 2 * H; hour < T + 4 * H; hour += H) {
        long billed =
            Usage.lines(timeline, hour, hour + H).stream()
                .mapToLong(Usage.Line::amountMicros)
                .sum();
        List<Credit> credits = HealthCredits.of(timeline, failed, hour);
        long credited = credits.stream().mapToLong(Credit::amountMicros).sum();
        assertTrue(credited <= billed, where);
        for (Credit credit : credits) {
          assertEquals(hour, credit.hourMillis());
          Held node =
              nodes.stream()
                  .filter(held -> held.allocationId().equals(credit.allocationId()))
                  .findFirst()
                  .orElseThrow();
          assertEquals(
              recomputed(
                  timeline, node, Objects.requireNonNull(failed.get(node.allocationId())), hour),
              credit.centGpuMillis(),
              where);
        }
        total += credited;
      }
      assertTrue(total >= 0, where);
    }
  }

  private static List<ChangePoint> points(Random random) {
    List<ChangePoint> points = new ArrayList<>(List.of(new ChangePoint(0, 100L)));
    for (int i = random.nextInt(5); i > 0; i--) {
      points.add(
          new ChangePoint(
              T + (random.nextInt(180) - 60) * MINUTE,
              random.nextInt(5) == 0 ? null : Long.valueOf(random.nextInt(400))));
    }
    return points;
  }

  private static long recomputed(Timeline timeline, Held node, Failed failed, long hour) {
    Timeline alone = new Timeline("c1", List.of(node), timeline.prices(), timeline.ceilings());
    long sum = 0;
    for (long minute = hour; minute < hour + H; minute += MINUTE) {
      boolean isFailed = false;
      long latest = Long.MIN_VALUE;
      for (Change change : failed.changes()) {
        latest = Math.max(latest, change.atMillis());
        if (latest <= minute) {
          isFailed = change.isCredited();
        }
      }
      if (isFailed) {
        sum +=
            Usage.spans(alone, minute, minute + MINUTE).stream()
                .mapToLong(Usage.Span::centGpuMillis)
                .sum();
      }
    }
    return sum;
  }
}
