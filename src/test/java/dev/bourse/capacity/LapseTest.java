package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.PROTECTION;
import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.declaration;
import static dev.bourse.capacity.Sample.ip;
import static dev.bourse.capacity.Sample.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The lapse of declarations. */
@Tag("fast")
class LapseTest {
  private static final long HOUR = 3_600_000;
  private static final long UNTIL = T0 + HOUR;

  /** A time after the write cadence. */
  private static final long NOW = T0 + 120_000;

  private static Capacity.Declare order(Cluster cluster, int gpus, JsonObject conditions) {
    return Sample.order(gpus, "2.00", cluster.version(), conditions);
  }

  private static Cluster declared(Cluster cluster, int gpus, JsonObject conditions, long now) {
    return Capacity.declare(cluster, order(cluster, gpus, conditions), TERMS, now).next();
  }

  private static JsonObject until(long millis) {
    return new JsonObject().put("until", Times.rfc3339(millis));
  }

  private static JsonObject spend(Object usd) {
    return new JsonObject().put("max_spend_usd", usd);
  }

  /** Returns a cluster with active nodes, under these conditions since NOW. */
  private static Cluster active(int nodes, JsonObject conditions) {
    return declared(Sample.active(nodes), nodes * 8, conditions, NOW);
  }

  private static void refusedAt(String field, String value, JsonObject conditions) {
    ApiException error =
        refused(ErrorCode.BAD_REQUEST, () -> declared(Sample.active(1), 8, conditions, NOW));
    assertTrue(
        error.detail().startsWith(field + ": " + value + " is not acceptable; expected "),
        error.detail());
  }

  @Test
  void anEndIsAheadAndNoFurtherThanAYear() {
    long year = Instant.parse("2024-11-14T22:15:20Z").toEpochMilli();
    assertEquals(NOW, Instant.parse("2023-11-14T22:15:20Z").toEpochMilli());
    assertEquals(year, declaration(declared(Sample.active(1), 8, until(year), NOW)).untilMillis());
    assertEquals(
        NOW + 1, declaration(declared(Sample.active(1), 8, until(NOW + 1), NOW)).untilMillis());
    refusedAt("until", Times.rfc3339(NOW), until(NOW));
    refusedAt("until", Times.rfc3339(T0), until(T0));
    refusedAt("until", Times.rfc3339(year + 1), until(year + 1));
    for (String malformed : List.of("tomorrow", "2023-11-14", "2023-11-14T22:15:20", "")) {
      ApiException error =
          refused(
              ErrorCode.BAD_REQUEST,
              () -> Conditions.Changes.of(new JsonObject().put("until", malformed)));
      assertTrue(error.detail().startsWith("until: "), error.detail());
    }
  }

  @Test
  void aBudgetIsOfWholeCentsAndNotSpentFromTheStart() {
    assertEquals(
        new Conditions.Budget(1, NOW),
        declaration(declared(Sample.active(1), 8, spend(0.01), NOW)).budget());
    refusedAt("max_spend_usd", "0", spend(0));
    refusedAt("max_spend_usd", "0.001", spend(0.001));
    refusedAt("max_spend_usd", "12.345", spend(12.345));
  }

  @Test
  void omittedKeepsNullClearsAndABudgetCountsFromTheWriteThatSetIt() {
    Cluster first = active(2, until(UNTIL).put("max_spend_usd", 100));
    assertEquals(new Conditions.Budget(10_000, NOW), declaration(first).budget());

    Cluster kept = declared(first, 8, new JsonObject(), NOW + 10_000);
    assertEquals(UNTIL, declaration(kept).untilMillis());
    assertEquals(new Conditions.Budget(10_000, NOW), declaration(kept).budget());

    Cluster again =
        declared(kept, 8, spend(100).put("until", Times.rfc3339(UNTIL + 5)), NOW + 20_000);
    assertEquals(UNTIL + 5, declaration(again).untilMillis());
    assertEquals(new Conditions.Budget(10_000, NOW + 20_000), declaration(again).budget());

    Cluster cleared =
        declared(
            again, 8, new JsonObject().putNull("until").putNull("max_spend_usd"), NOW + 30_000);
    assertNull(declaration(cleared).untilMillis());
    assertNull(declaration(cleared).budget());
  }

  @Test
  void whatStandsIsNotLookedAtWhenItIsKept() {
    Cluster passed = active(2, until(UNTIL));
    Cluster shrunk = declared(passed, 8, new JsonObject(), UNTIL + 60_000);
    assertEquals(8, declaration(shrunk).maxGpus());
    assertEquals(UNTIL, declaration(shrunk).untilMillis());
  }

  @Test
  void itIsDueFromItsEndOnAndOnlyWhileTheTimeIsKnown() {
    Cluster cluster = active(1, until(UNTIL));
    assertFalse(Lapse.isDue(cluster, OptionalLong.of(UNTIL - 1)));
    assertTrue(Lapse.isDue(cluster, OptionalLong.of(UNTIL)));
    assertFalse(Lapse.isDue(cluster, OptionalLong.empty()));
    assertFalse(Lapse.isDue(Sample.active(1), OptionalLong.of(Long.MAX_VALUE)));
  }

  @Test
  void atItsEndItAsksForNothingAndTheVersionAdvances() {
    Cluster before = active(2, until(UNTIL).put("max_spend_usd", 100));
    Transition lapse = Lapse.atEnd(before, UNTIL + 40);
    Cluster after = lapse.next();

    assertEquals(before.version() + 1, after.version());
    assertEquals(
        new Declaration(
            0,
            declaration(before).ceiling(),
            new Declaration.LastWrite(UNTIL + 40, "system:market", null),
            Conditions.NONE),
        after.declared());
    assertEquals(List.of(), after.releaseOrder());
    after
        .allocations()
        .forEach(
            a ->
                assertEquals(
                    new Allocation.Reclaim(Allocation.Reason.SCALE_DOWN, UNTIL),
                    a.reclaim(),
                    "billed up to the end, by a reason that the release before reads"));
    assertEquals(
        List.of(
            new Activity(
                "system:market", new ClusterEvent.Declared(0, 200, Allocation.Reason.LAPSED, T0)),
            new Activity(
                "system:market", new ClusterEvent.Released(ip(1), Allocation.Reason.LAPSED), "n1"),
            new Activity(
                "system:market", new ClusterEvent.Released(ip(0), Allocation.Reason.LAPSED), "n0")),
        lapse.activity());
    assertEquals(
        new AuditRow(
            UNTIL + 40,
            "acme",
            "system:market",
            "vm_capacity_lapse",
            "c1",
            "reason=lapsed at=2023-11-14T23:13:20.000Z version=3"),
        lapse.audit());
    assertEquals(
        before.writes().lastAtMillis(), after.writes().lastAtMillis(), "no cadence begins");
    assertFalse(Lapse.isDue(after, OptionalLong.of(Long.MAX_VALUE)), "it ends once");
    assertTrue(Lapse.atEnd(after, UNTIL + 60).changesNothing());
  }

  @Test
  void aWriterWhoDoesNotKnowOfItIsRefusedAndWhoDoesBeginsAnew() {
    Cluster before = active(2, until(UNTIL));
    Cluster after = Lapse.atEnd(before, UNTIL).next();
    refused(
        ErrorCode.VERSION_MISMATCH,
        () -> Capacity.declare(after, order(before, 16, new JsonObject()), TERMS, UNTIL + 1_000));
    Cluster redeclared = declared(after, 16, new JsonObject(), UNTIL + 1_000);
    assertEquals(16, declaration(redeclared).maxGpus());
    assertNull(declaration(redeclared).untilMillis(), "a plain write does not lapse at once");
  }

  @Test
  void aMinimumEndsWithItAsWithAnyDeclarationOfNothing() {
    Cluster before = active(2, until(UNTIL).put("min_gpus", 8));
    assertNull(declaration(Lapse.atEnd(before, UNTIL).next()).conditions().minGpus());
  }

  @Test
  void aSpentBudgetEndsTheDeclarationItWasJudgedOfAndNoOther() {
    Cluster before = active(2, spend(100));
    Conditions.Budget budget = Lapse.budget(before).orElseThrow();
    Cluster renewed = declared(before, 16, spend(200), NOW + 10_000);
    assertTrue(Lapse.spent(budget, NOW).apply(renewed, NOW + 11_000).changesNothing());

    Transition lapse = Lapse.spent(budget, NOW + 5_000).apply(before, NOW + 11_000);
    assertEquals(before.version() + 1, lapse.next().version());
    assertEquals(0, declaration(lapse.next()).maxGpus());
    assertNull(declaration(lapse.next()).budget());
    assertEquals(
        new ClusterEvent.Declared(0, 200, Allocation.Reason.SPENT, T0),
        lapse.activity().get(0).event());
    for (Allocation gone : lapse.next().allocations()) {
      assertEquals(
          new Allocation.Reclaim(Allocation.Reason.SCALE_DOWN, NOW + 5_000), gone.reclaim());
    }
  }

  @Test
  void whatWasGivenBackAfterABudgetWasUsedUpIsBilledNoLongerThanWhatIsHeld() {
    Cluster before = active(2, spend(100));
    Conditions.Budget budget = Lapse.budget(before).orElseThrow();
    Cluster shrunk = declared(before, 8, new JsonObject(), NOW + 10_000);
    assertEquals(1, shrunk.releaseOrder().size());

    Cluster lapsed = Lapse.spent(budget, NOW + 5_000).apply(shrunk, NOW + 11_000).next();
    Cluster later = Lapse.spent(budget, NOW + 10_500).apply(shrunk, NOW + 11_000).next();

    assertEquals(
        List.of(NOW + 5_000, NOW + 5_000),
        lapsed.allocations().stream()
            .map(gone -> Objects.requireNonNull(gone.reclaim()).atMillis())
            .toList());
    assertEquals(
        Set.of(NOW + 10_000, NOW + 10_500),
        later.allocations().stream()
            .map(gone -> Objects.requireNonNull(gone.reclaim()).atMillis())
            .collect(Collectors.toSet()),
        "never longer than it was held");
  }

  @Test
  void howeverLateItIsCarriedOutNothingIsBilledForTheTimeAfter() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int run = 0; run < 2_000; run++) {
      int nodes = 1 + random.nextInt(4);
      long end = NOW + 1 + random.nextInt(1_000_000);
      Cluster cluster = declared(Sample.declared(nodes * 8), nodes * 8, until(end), NOW);
      for (int i = 0; i < nodes; i++) {
        // Some are granted or become active after the end, because the lapse is late.
        long granted = NOW + random.nextInt(1_200_000);
        cluster = Sample.granted(cluster, i, null, granted);
        if (random.nextInt(4) > 0) {
          cluster =
              MarketTransitions.provisioned(
                      cluster, "a" + i, PROTECTION, granted + random.nextInt(200_000))
                  .next();
        }
      }
      // The clock may be a little behind the clock that decided the lapse.
      long now = end - 500 + random.nextInt(3_000_000);
      Cluster after = Lapse.atEnd(cluster, now).next();
      assertEquals(0, after.declaredSlots(POOL.gpusPerNode()));
      assertEquals(nodes, after.allocations().size());
      for (Allocation gone : after.allocations()) {
        Allocation.Reclaim reclaim = gone.reclaim();
        long at = reclaim == null ? Long.MAX_VALUE : reclaim.atMillis();
        Long active = gone.activeAtMillis();
        long since = active == null ? gone.grantedAtMillis() : active;
        assertTrue(at >= since, "seed " + seed);
        assertTrue(at <= end || at == since, "seed " + seed);
        assertTrue(at <= now || at == since, "seed " + seed);
      }
    }
  }

  @Test
  void theWorstCaseIsTheCeilingUntilTheEndOrTheBudget() {
    assertNull(declaration(Sample.active(1)).worstCaseCents());
    // 8 GPUs x 2.00 for 58 minutes, rounded up.
    assertEquals(1_547L, declaration(active(1, until(UNTIL))).worstCaseCents());
    assertEquals(
        900L, declaration(active(1, until(UNTIL).put("max_spend_usd", 9))).worstCaseCents());
    assertEquals(
        1_547L, declaration(active(1, until(UNTIL).put("max_spend_usd", 99))).worstCaseCents());
    assertEquals(9_900L, declaration(active(1, spend(99))).worstCaseCents());
  }

  @Test
  void theTrailTellsWhatWasSetAndCleared() {
    Cluster cluster = Sample.active(1);
    Transition set =
        Capacity.declare(
            cluster, order(cluster, 8, until(UNTIL).put("max_spend_usd", 12.5)), TERMS, NOW);
    assertEquals(
        "max_gpus=8 max_price_per_gpu_hour=2.00 until=2023-11-14T23:13:20.000Z max_spend_usd=12.50"
            + " version=2",
        Objects.requireNonNull(set.audit()).detail());
    Transition cleared =
        Capacity.declare(
            set.next(),
            order(set.next(), 8, new JsonObject().putNull("until")),
            TERMS,
            NOW + 9_000);
    assertEquals(
        "max_gpus=8 max_price_per_gpu_hour=2.00 until=none version=3",
        Objects.requireNonNull(cleared.audit()).detail());
  }
}
