package dev.bourse.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The times of retries. */
@Tag("fast")
class DeliveryBackoffTest {
  private static final long THREE_DAYS = Duration.ofDays(3).toMillis();

  private final DeliveryBackoff retries = new DeliveryBackoff(THREE_DAYS);

  @Test
  void pausesGrowThreefoldFromFiveSecondsToSixHoursWithinAHalfOfThat() {
    Random random = new Random(1);
    long pause = 5_000;
    for (int tries = 1; tries < 15; tries++) {
      for (int i = 0; i < 50; i++) {
        long next = retries.next(tries, 0, 0, random).orElseThrow();
        assertTrue(next >= pause / 2 && next <= pause * 3 / 2, tries + ": " + next);
      }
      pause = Math.min(pause * 3, Duration.ofHours(6).toMillis());
    }
  }

  @Test
  void aDeliveryIsTriedForThreeDaysAndNoLonger() {
    Random random = new Random(2);
    long now = 0;
    int tries = 1;
    OptionalLong next = retries.next(tries, 0, now, random);
    while (next.isPresent()) {
      assertTrue(next.getAsLong() > now);
      now = next.getAsLong();
      next = retries.next(++tries, 0, now, random);
    }
    assertTrue(now < THREE_DAYS && now > THREE_DAYS - Duration.ofHours(9).toMillis(), "" + now);
    assertTrue(tries > 12 && tries < 40, "" + tries);
  }

  @Test
  void nothingIsGivenUpForItsAgeBeforeTenTries() {
    Random random = new Random(4);
    for (int tries = 1; tries < DeliveryBackoff.LEAST_TRIES; tries++) {
      assertTrue(retries.next(tries, 0, 9 * THREE_DAYS, random).isPresent(), "" + tries);
    }
    assertTrue(retries.next(DeliveryBackoff.LEAST_TRIES, 0, 9 * THREE_DAYS, random).isEmpty());
  }

  @Test
  void thePausesOfTwoDeliveriesDiffer() {
    Random random = new Random(3);
    assertEquals(
        100, random.ints(100).mapToObj(i -> retries.next(5, 0, 0, random)).distinct().count());
  }
}
