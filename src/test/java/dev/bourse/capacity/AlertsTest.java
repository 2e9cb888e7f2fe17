package dev.bourse.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Alerts.Kind;
import dev.bourse.capacity.Alerts.Readings;
import dev.bourse.capacity.Alerts.Thresholds;
import java.util.EnumSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When alerts are raised, and when they end. */
@Tag("fast")
class AlertsTest {
  private static final long CEILING = 400;

  private static Alerts of(Thresholds thresholds) {
    return Alerts.NONE.with(thresholds);
  }

  private static Thresholds rival(int percent) {
    return new Thresholds(percent, null, null, null, null);
  }

  private static Readings rivalAt(long cents) {
    return new Readings(CEILING, cents, 100L, 10, null, null);
  }

  private static Readings priceAt(@Nullable Long cents) {
    return new Readings(CEILING, 0, cents, 10, null, null);
  }

  private static Readings leftAre(long nodes) {
    return new Readings(CEILING, 0, 100L, nodes, null, null);
  }

  private static Readings spentAre(@Nullable Long micros) {
    return new Readings(CEILING, 0, 100L, 10, micros, null);
  }

  private static Readings endsIn(@Nullable Long millis) {
    return new Readings(CEILING, 0, 100L, 10, null, millis);
  }

  @Test
  void withoutThresholdsNothingIsRaised() {
    assertSame(Alerts.NONE, Alerts.NONE.after(rivalAt(10_000)));
  }

  @Test
  void aRivalIsToldFromItsDistanceOnAndOverOnlyByAMargin() {
    Alerts alerts = of(rival(10));

    // The step from 343 ends at 359, the one from 344 at 360.
    assertEquals(Set.of(), alerts.after(rivalAt(343)).raised());
    Alerts raised = alerts.after(rivalAt(344));
    assertEquals(
        Map.of(Kind.RIVAL, "another organization bids 3.44 to 3.60, the ceiling is 4.00"),
        raised.newSince(alerts, rivalAt(344)));
    // The step from 324 ends at 339, the one from 325 at 340.
    assertSame(raised, raised.after(rivalAt(325)));
    assertEquals(Set.of(), raised.after(rivalAt(324)).raised());
  }

  @Test
  void nobodyElseIsNoRivalHoweverWideTheDistance() {
    assertEquals(Set.of(), of(rival(100)).after(rivalAt(0)).raised());
  }

  @Test
  void aPriceIsToldAboveItsThresholdAndOverOnlyByAMargin() {
    Alerts alerts = of(new Thresholds(null, 200L, null, null, null));

    assertEquals(Set.of(), alerts.after(priceAt(200L)).raised());
    Alerts raised = alerts.after(priceAt(201L));
    assertEquals(Set.of(Kind.PRICE), raised.raised());
    assertSame(raised, raised.after(priceAt(191L)));
    assertEquals(Set.of(), raised.after(priceAt(190L)).raised());
    assertEquals(Set.of(), raised.after(priceAt(null)).raised());
  }

  @Test
  void supplyIsToldUnderItsThresholdAndOverOnlyByAMargin() {
    Alerts alerts = of(new Thresholds(null, null, 2, null, null));

    assertEquals(Set.of(), alerts.after(leftAre(2)).raised());
    Alerts raised = alerts.after(leftAre(1));
    assertEquals(Set.of(Kind.SUPPLY), raised.raised());
    assertSame(raised, raised.after(leftAre(2)));
    assertEquals(Set.of(), raised.after(leftAre(3)).raised());
  }

  @Test
  void spendingIsToldOnceItIsReachedAndStaysAsItWasWhileItIsNotKnown() {
    Alerts alerts = of(new Thresholds(null, null, null, 1_000L, null));

    assertEquals(Set.of(), alerts.after(spentAre(9_999_999L)).raised());
    assertEquals(Set.of(), alerts.after(spentAre(null)).raised());
    Alerts raised = alerts.after(spentAre(10_000_000L));
    assertEquals(Set.of(Kind.SPEND), raised.raised());
    assertSame(raised, raised.after(spentAre(null)));
    assertEquals(Set.of(), raised.after(spentAre(0L)).raised());
  }

  @Test
  void aLeaseIsToldBeforeItEndsAndAgainOnceItWasRenewed() {
    Alerts alerts = of(new Thresholds(null, null, null, null, 60_000L));

    assertEquals(Set.of(), alerts.after(endsIn(60_001L)).raised());
    Alerts raised = alerts.after(endsIn(60_000L));
    assertEquals(
        Map.of(Kind.LEASE, "the declaration lapses in 60 s"),
        raised.newSince(alerts, endsIn(60_000L)));
    assertSame(raised, raised.after(endsIn(5L)));
    Alerts renewed = raised.after(endsIn(600_000L));
    assertEquals(Set.of(), renewed.raised());
    assertEquals(Set.of(Kind.LEASE), renewed.after(endsIn(50_000L)).raised());
  }

  @Test
  void aChangedThresholdIsLookedAtAnewAndTheOthersAreNot() {
    Alerts raised =
        of(new Thresholds(10, 50L, null, null, null))
            .after(new Readings(CEILING, 390, 100L, 10, null, null));
    assertEquals(EnumSet.of(Kind.RIVAL, Kind.PRICE), raised.raised());

    assertEquals(
        Set.of(Kind.PRICE), raised.with(new Thresholds(20, 50L, null, null, null)).raised());
    assertEquals(Alerts.NONE, raised.with(Alerts.NONE.thresholds()));
  }

  /** For any readings, an alert is raised again only after a reading that ended it. */
  @Test
  void nothingIsToldTwiceInARow() {
    long seed = Long.getLong("bourse.test.seed", System.nanoTime());
    Random random = new Random(seed);
    Alerts alerts = of(new Thresholds(10, 200L, 3, 1_000L, 60_000L));
    Set<Kind> reported = EnumSet.noneOf(Kind.class);
    for (int i = 0; i < 10_000; i++) {
      Readings seen =
          new Readings(
              CEILING,
              random.nextInt(500),
              random.nextInt(10) == 0 ? null : 150L + random.nextInt(100),
              random.nextInt(8),
              random.nextInt(5) == 0 ? null : (long) random.nextInt(20_000_000),
              random.nextInt(5) == 0 ? null : (long) random.nextInt(120_000));
      Alerts next = alerts.after(seen);
      for (Kind kind : next.newSince(alerts, seen).keySet()) {
        assertTrue(
            reported.add(kind), "seed " + seed + ": " + kind + " is raised twice, at " + seen);
      }
      reported.retainAll(next.raised());
      assertEquals(next, AlertText.read(AlertText.write(next)), "seed " + seed);
      alerts = next;
    }
  }
}
