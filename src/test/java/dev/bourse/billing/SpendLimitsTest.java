package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.capacity.Sample;
import dev.bourse.core.ErrorCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limits that members and operators set. */
@Tag("fast")
class SpendLimitsTest {
  private static final long DOLLAR = 1_000_000;

  @Test
  void theLowerLimitIsInForce() {
    assertNull(SpendLimits.NONE.inForceMicros());
    assertNull(SpendLimits.NONE.setBy());

    inForce(5, SpendLimits.Setter.MEMBER, new SpendLimits(5L, null));
    inForce(5, SpendLimits.Setter.MEMBER, new SpendLimits(5L, 6L));
    inForce(6, SpendLimits.Setter.OPERATOR, new SpendLimits(7L, 6L));
    inForce(6, SpendLimits.Setter.OPERATOR, new SpendLimits(null, 6L));
    inForce(6, SpendLimits.Setter.OPERATOR, new SpendLimits(6L, 6L));
    inForce(0, SpendLimits.Setter.MEMBER, new SpendLimits(0L, 6L));
  }

  private static void inForce(long micros, SpendLimits.Setter setBy, SpendLimits limits) {
    assertEquals(micros, limits.inForceMicros());
    assertEquals(setBy, limits.setBy());
  }

  @Test
  void aMemberSetsAnyLimitUpToTheOperators() {
    SpendLimits limits = SpendLimits.NONE.withMember(9 * DOLLAR).withOperator(5 * DOLLAR);
    assertEquals(new SpendLimits(9 * DOLLAR, 5 * DOLLAR), limits);

    assertEquals(new SpendLimits(5 * DOLLAR, 5 * DOLLAR), limits.withMember(5 * DOLLAR));
    assertEquals(
        "limit_usd: 5.01 is above the limit that the operator set; choose at most 5.00",
        Sample.refused(ErrorCode.BAD_REQUEST, () -> limits.withMember(5 * DOLLAR + 10_000))
            .detail());
  }

  @Test
  void eachTakesAwayItsOwnLimitOnly() {
    SpendLimits limits = new SpendLimits(9 * DOLLAR, 5 * DOLLAR);

    assertEquals(new SpendLimits(null, 5 * DOLLAR), limits.withMember(null));
    assertEquals(new SpendLimits(9 * DOLLAR, null), limits.withOperator(null));
  }
}
