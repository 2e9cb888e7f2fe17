package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.billing.SpendOutlook.Exposure;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The expected cost of a month, and the effect of a limit. */
@Tag("fast")
class SpendOutlookTest {
  private static final long DOLLAR = 1_000_000;
  private static final long HOUR = 3_600_000;

  /** A hundred hours before the month ends. */
  private static final long NOW = Instant.parse("2026-12-01T00:00:00Z").toEpochMilli() - 100 * HOUR;

  private static final Exposure TRAIN = new Exposure("train", "h100", 8, 16, 240, 350);
  private static final Exposure EVAL = new Exposure("eval", "b200", 0, 8, 0, 100);

  private static SpendOutlook outlook(@Nullable Long limit, long month, Exposure... clusters) {
    return new SpendOutlook(
        new SpendLimits(limit, null), true, month, 0, List.of(clusters), 50 * HOUR, NOW);
  }

  @Test
  void whatIsHeldNowGoesOnToTheMonthsEnd() {
    SpendOutlook outlook = outlook(null, 80 * DOLLAR, TRAIN, EVAL);

    assertEquals(19_200_000, outlook.rateMicros());
    assertEquals(80 * DOLLAR + 1_920 * DOLLAR, outlook.monthAtRateMicros());
    assertNull(outlook.overshootMicros());
    assertNull(outlook.monthAtMostMicros());
  }

  @Test
  void aLimitIsReachedWhenTheRateBringsTheMonthThere() {
    SpendOutlook outlook = outlook(80 * DOLLAR + 192 * DOLLAR, 80 * DOLLAR, TRAIN);

    assertEquals(NOW + 10 * HOUR, outlook.reachedAtMillis());
    assertNull(outlook(10_000 * DOLLAR, 80 * DOLLAR, TRAIN).reachedAtMillis());
    assertNull(outlook(80 * DOLLAR, 80 * DOLLAR, TRAIN).reachedAtMillis());
    assertTrue(outlook(80 * DOLLAR, 80 * DOLLAR, TRAIN).isReached());
  }

  @Test
  void theOvershootIsWhatIsDeclaredAtItsCeilingsAndEveryOtherPoolsGrant() {
    // 16 GPUs at $3.50 and 8 at $1.00 for 50 hours.
    long declared = (56 + 8) * 50 * DOLLAR;

    assertEquals(
        declared + 100 * DOLLAR, outlook(180 * DOLLAR, 80 * DOLLAR, TRAIN, EVAL).overshootMicros());
    assertEquals(56 * 50 * DOLLAR, outlook(180 * DOLLAR, 80 * DOLLAR, TRAIN).overshootMicros());
    assertEquals(
        180 * DOLLAR + 56 * 50 * DOLLAR,
        outlook(180 * DOLLAR, 80 * DOLLAR, TRAIN).monthAtMostMicros());
  }

  @Test
  void nothingBoundsAMonthWhoseLimitNobodyActsUpon() {
    SpendOutlook outlook =
        new SpendOutlook(
            new SpendLimits(null, 180 * DOLLAR), false, 0, 0, List.of(TRAIN), 50 * HOUR, NOW);

    assertNull(outlook.monthAtMostMicros());
  }
}
