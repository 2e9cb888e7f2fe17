package dev.bourse.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The detection of steps of a clock against the monotonic one. */
@Tag("fast")
class ClockStepDetectorTest {
  private static final long PATIENCE = 600_000;
  private static final long DAY = 86_400_000;
  private static final long WALL = 1_800_000_000_000L;

  private final ClockStepDetector pace = new ClockStepDetector(PATIENCE, PATIENCE);

  /** Reads both clocks each second from one moment to another; returns the number of steps. */
  private int run(long fromMillis, long toMillis, long offsetMillis) {
    int steps = 0;
    for (long now = fromMillis; now <= toMillis; now += 1_000) {
      steps += pace.read(now, WALL + offsetMillis + now, now).isPresent() ? 1 : 0;
    }
    return steps;
  }

  @Test
  void aClockIsSteadyOnceItHasGoneOnBesideTheOtherForThePatience() {
    assertFalse(pace.isSteady(0));
    assertEquals(0, run(0, PATIENCE - 1_000, 0));
    assertFalse(pace.isSteady(PATIENCE - 1));
    assertEquals(1, pace.leftMillis(PATIENCE - 1));
    assertTrue(pace.isSteady(PATIENCE));
  }

  @Test
  void aStepEitherWayIsToldAndHasToBeWaitedOut() {
    run(0, PATIENCE, 0);
    assertTrue(pace.isSteady(PATIENCE));
    long at = PATIENCE + 1_000;
    assertEquals(
        OptionalLong.of(3 * DAY), pace.read(at, WALL + at + 3 * DAY, at), "ahead by three days");
    assertFalse(pace.isSteady(at));
    assertEquals(0, run(at, at + 12_000, 3 * DAY));
    long back = at + 12_000;
    assertEquals(OptionalLong.of(-3 * DAY), pace.read(back, WALL + back, back));
    assertFalse(pace.isSteady(back + PATIENCE - 1));
    assertTrue(pace.isSteady(back + PATIENCE));
  }

  @Test
  void aClockThatIsCorrectedALittleAtATimeKeepsStep() {
    long offset = 0;
    for (long now = 0; now < DAY; now += 1_000) {
      // Half a thousandth, as fast as a kernel slews by default, comes to 43 s a day.
      offset += now % 2_000 == 0 ? 1 : 0;
      assertTrue(pace.read(now, WALL + now + offset, now).isEmpty(), "after " + now);
    }
    assertTrue(pace.isSteady(DAY));
  }

  @Test
  void manySmallStepsAreAsGoodAsALargeOne() {
    int steps = 0;
    for (long now = 0; now < 60_000; now += 1_000) {
      steps += pace.read(now, WALL + now + now / 2, now).isPresent() ? 1 : 0;
    }
    assertTrue(steps > 5, "half as fast again: " + steps);
  }

  @Test
  void aReadingThatTookLongIsNoStepWhenTheClockMayHaveKeptStep() {
    run(0, PATIENCE, 0);
    Random random = new Random(5);
    long now = PATIENCE;
    for (int i = 0; i < 10_000; i++) {
      long before = now + random.nextInt(1_000);
      long took = random.nextInt(9_000);
      long readAt = before + random.nextInt((int) took + 1);
      assertTrue(pace.read(before, WALL + readAt, before + took).isEmpty(), "reading " + i);
      now = before + took;
    }
    assertTrue(pace.isSteady(now));
  }

  @Test
  void whereSomethingElseVouchesForTheStartOnlyAStepIsWaitedOut() {
    ClockStepDetector vouched = new ClockStepDetector(0, PATIENCE);
    vouched.read(0, WALL, 0);
    assertTrue(vouched.isSteady(0));
    vouched.read(1_000, WALL + DAY, 1_000);
    assertFalse(vouched.isSteady(1_000));
    assertTrue(vouched.isSteady(1_000 + PATIENCE));
  }
}
