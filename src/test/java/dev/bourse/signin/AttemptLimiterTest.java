package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A rate limit for each of many callers. */
@Tag("fast")
class AttemptLimiterTest {
  private static final int ATTEMPTS = 3;

  private final AttemptLimiter limiter = new AttemptLimiter(ATTEMPTS, "attempts from one network");

  @Test
  void whoTriedTooOftenIsRefusedAndNobodyElse() {
    for (int i = 0; i < ATTEMPTS; i++) {
      limiter.count("a");
    }
    ApiException refusal = assertThrows(ApiException.class, () -> limiter.count("a"));
    assertEquals(ErrorCode.RATE_LIMITED, refusal.code());
    assertFalse(limiter.tryCount("a"));
    assertTrue(limiter.tryCount("b"));
  }

  @Test
  void whoeverHasManyAddressesFillsNoMoreThanItsShareAndPushesNobodyOutWhoKeepsTrying() {
    for (int i = 0; i < ATTEMPTS; i++) {
      limiter.count("a");
    }
    for (int i = 0; i < 10 * AttemptLimiter.MAX_CALLERS; i++) {
      limiter.count("2001:db8:" + i);
      if (i % 1_000 == 0) {
        assertFalse(limiter.tryCount("a"), "after " + i + " others");
      }
    }
    assertEquals(AttemptLimiter.MAX_CALLERS, limiter.callers());
  }
}
