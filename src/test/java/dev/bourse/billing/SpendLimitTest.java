package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.billing.SpendLimit.Holder;
import dev.bourse.capacity.Sample;
import dev.bourse.core.Price;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The part of a month's limit that can still be committed. */
@Tag("fast")
class SpendLimitTest {
  private static final long NOW = Sample.T0 + 60_000;

  private static long committed(Holder holder, long now) {
    return SpendLimit.committedMicros(List.of(holder), Sample.PROTECTION, now);
  }

  @Test
  void aProtectedNodeCommitsTheRestOfItsProtectionAtTheCeiling() {
    // Two nodes of 8 GPUs at $2.00, protected for an hour since they became active.
    Holder holder = new Holder(Sample.active(2), 8);

    assertEquals(32_000_000, committed(holder, NOW));
    assertEquals(8_000_000, committed(holder, NOW + Sample.PROTECTION * 3 / 4));
    assertEquals(0, committed(holder, NOW + Sample.PROTECTION));
  }

  @Test
  void aNodeOnItsWayCommitsAWholeWindow() {
    assertEquals(16_000_000, committed(new Holder(Sample.provisioning(1), 8), NOW));
  }

  @Test
  void whatComesAfterTheMonthIsTheNextMonths() {
    long end = Month.at(NOW).endMillis();

    assertEquals(1_800_000, SpendLimit.windowMillis(Sample.PROTECTION, end - 1_800_000));
    assertEquals(8_000_000, committed(new Holder(Sample.provisioning(1), 8), end - 1_800_000));
  }

  @Test
  void costsAreRoundedUp() {
    assertEquals(1, Price.costMicros(1, 1, 1));
    assertEquals(1, Price.costMicros(360, 1, 1));
    assertEquals(2, Price.costMicros(361, 1, 1));
  }

  @Test
  void nothingIsLeftOnceTheLimitIsReached() {
    assertEquals(40, SpendLimit.remainingMicros(100, 50, 10));
    assertEquals(0, SpendLimit.remainingMicros(100, 90, 20));
    assertEquals(0, SpendLimit.remainingMicros(100, 100, 0));
  }
}
