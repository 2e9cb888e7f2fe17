package dev.bourse.scrub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The times at which the scrub may read the next blob. */
class ReadThrottleTest {
  private static final long DAY = 86_400_000;
  private static final long GIB = 1L << 30;
  private static final int THREE_PERCENT = 30_000;
  private static final long NOW = 100 * DAY;

  @Test
  void aShareADayIsReadAndARoundTakesAsManyDaysAsTheShareGoesIntoTheWhole() {
    assertEquals(DAY, ReadThrottle.millis(3 * GIB, 100 * GIB, THREE_PERCENT));
    assertEquals(DAY / 3.0, (double) ReadThrottle.millis(GIB, 100 * GIB, THREE_PERCENT), 2);
    assertEquals(
        100 * DAY / 3.0, (double) ReadThrottle.millis(100 * GIB, 100 * GIB, THREE_PERCENT), 2);
    assertEquals(DAY, ReadThrottle.millis(1L << 50, 1L << 50, ReadThrottle.WHOLE));
  }

  @Test
  void aBlobLongerThanADaysShareIsReadAtOnceAndTheDaysAfterItAreQuiet() {
    ReadThrottle read = new ReadThrottle(0, 0).next(NOW, 50 * GIB, 100 * GIB, THREE_PERCENT);
    assertFalse(read.isOver(NOW + 16 * DAY, 100 * GIB, THREE_PERCENT));
    assertTrue(read.isOver(NOW + 17 * DAY, 100 * GIB, THREE_PERCENT));
  }

  @Test
  void whatAPauseLeftUndoneIsNotMadeUpFor() {
    long wait = ReadThrottle.millis(GIB, 100 * GIB, THREE_PERCENT);
    ReadThrottle read = new ReadThrottle(NOW, GIB);
    ReadThrottle next = read.next(NOW + 30 * DAY, GIB, 100 * GIB, THREE_PERCENT);
    assertFalse(next.isOver(NOW + 30 * DAY + wait - 1, 100 * GIB, THREE_PERCENT));
    ReadThrottle nearlyInTime = read.next(NOW + wait + 2_000, GIB, 100 * GIB, THREE_PERCENT);
    assertTrue(nearlyInTime.isOver(NOW + 2 * wait, 100 * GIB, THREE_PERCENT));
  }

  @Test
  void aSmallBlobOfManyTakesItsPartOfTheDay() {
    assertEquals(2_880, ReadThrottle.millis(1, 1_000_000, THREE_PERCENT));
    assertEquals(1, ReadThrottle.millis(1, 1L << 50, THREE_PERCENT));
  }

  @Test
  void aClockThatWasSetBackHoldsNothingUp() {
    ReadThrottle ahead = new ReadThrottle(NOW + 365 * DAY, GIB);
    assertTrue(ahead.isOver(NOW, 100 * GIB, THREE_PERCENT));
    assertFalse(new ReadThrottle(NOW + 1_000, GIB).isOver(NOW, 100 * GIB, THREE_PERCENT));
  }

  @Test
  void aStoreThatShrankBelowTheBlobThatWasReadStillHasAPace() {
    assertEquals(DAY, ReadThrottle.millis(GIB, 0, ReadThrottle.WHOLE));
  }
}
