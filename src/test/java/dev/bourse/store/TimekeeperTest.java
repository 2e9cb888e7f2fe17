package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.jobs.ScheduledJob;
import dev.bourse.testing.TestJobs;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * When this machine's clock is confirmed in an embedded store, and what the store records of it.
 */
class TimekeeperTest extends StoreFixture {
  private static final long PATIENCE = 600_000;
  private static final long DAYS = 3 * 86_400_000L;

  /** The monotonic clock. */
  private final AtomicLong monotonic = new AtomicLong();

  /** How far the clock was set. */
  private final AtomicLong set = new AtomicLong();

  /** A settable clock; both clocks advance together, because they may be read at any time. */
  private final Clock wall =
      new InstantSource() {
        @Override
        public Instant instant() {
          return clock.instant().plusMillis(set.get() + monotonic.get());
        }
      }.withZone(ZoneOffset.UTC);

  /** Lets time pass on both clocks. */
  private void pass(long millis) {
    monotonic.addAndGet(millis);
  }

  /** A process that starts now, and its background job. */
  private final class Watcher {
    final Timekeeper time =
        new Timekeeper(wall, () -> TimeUnit.MILLISECONDS.toNanos(monotonic.get()), PATIENCE);
    final ScheduledJob watching;

    Watcher() throws Exception {
      await(time.start(database));
      watching =
          TestJobs.of(vertx, time.clock())
              .start(
                  BackgroundJob.inEachProcess(
                      "watch", "watching", Timekeeper.WATCH_MILLIS, time::watch));
    }

    void end() throws Exception {
      await(watching.stop());
    }
  }

  private long mark() {
    try {
      List<Long> marks = integers("SELECT millis FROM clock_mark");
      return marks.isEmpty() ? 0 : marks.get(0);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void beforeTheStoreIsOpenNothingIsConfirmed() {
    Timekeeper time = new Timekeeper(wall, monotonic::get, 0);
    assertEquals(OptionalLong.empty(), time.confirmedMillis());
    assertFalse(time.isNewest());
  }

  @Test
  void aClockIsConfirmedAfterThePatienceAndTheNewestTimeIsKept() throws Exception {
    Watcher process = new Watcher();
    assertEquals(OptionalLong.empty(), process.time.confirmedMillis());
    assertEquals(PATIENCE, process.time.view().leftMillis());
    pass(PATIENCE - 1);
    assertEquals(OptionalLong.empty(), process.time.confirmedMillis());
    pass(1);

    assertEquals(OptionalLong.of(wall.millis()), process.time.confirmedMillis());
    assertTrue(process.time.isNewest());
    eventually("kept", () -> mark() == wall.millis());
    process.end();
  }

  @Test
  void aClockThatIsWrongForAWhileIsNeverConfirmedAndLeavesNoMark() throws Exception {
    set.addAndGet(DAYS);
    Watcher wrong = new Watcher();
    pass(12_000);
    assertEquals(OptionalLong.empty(), wrong.time.confirmedMillis());
    wrong.end();
    assertEquals(0, mark());

    set.addAndGet(-DAYS);
    Watcher right = new Watcher();
    pass(PATIENCE);
    assertEquals(OptionalLong.of(wall.millis()), right.time.confirmedMillis());
    right.end();
  }

  @Test
  void aStepHasToBeWaitedOutAndIsCounted() throws Exception {
    Watcher process = new Watcher();
    pass(PATIENCE);
    assertTrue(process.time.confirmedMillis().isPresent());
    set.addAndGet(DAYS);
    assertEquals(OptionalLong.empty(), process.time.confirmedMillis());
    pass(12_000);
    set.addAndGet(-DAYS);
    assertEquals(OptionalLong.empty(), process.time.confirmedMillis());
    assertEquals(1, process.time.view().stepsAhead());
    assertEquals(1, process.time.view().stepsBack());

    pass(PATIENCE);
    assertEquals(OptionalLong.of(wall.millis()), process.time.confirmedMillis());
    assertTrue(process.time.isNewest());
    process.end();
  }

  @Test
  void aProcessThatBeginsBeforeTheNewestTimeSaysSoAndIsBelievedAfterThePatience() throws Exception {
    set.addAndGet(DAYS);
    Watcher ahead = new Watcher();
    pass(PATIENCE);
    eventually("kept", () -> mark() == wall.millis());
    ahead.end();

    set.addAndGet(-DAYS);
    Watcher right = new Watcher();
    assertEquals(1, right.time.view().stepsBack());
    pass(PATIENCE);
    assertEquals(OptionalLong.of(wall.millis()), right.time.confirmedMillis());
    assertFalse(right.time.isNewest(), "one of the two was wrong");
    long newest = mark();
    assertTrue(newest > wall.millis() + DAYS / 2);
    pass(DAYS + PATIENCE);
    assertTrue(right.time.isNewest());
    right.end();
  }

  @Test
  void untilItMakesAStepNothingSpeaksAgainstAClockThatIsNotConfirmedYet() throws Exception {
    Watcher process = new Watcher();
    assertEquals(OptionalLong.empty(), process.time.confirmedMillis());
    assertEquals(OptionalLong.of(wall.millis()), process.time.undoubtedMillis());

    set.addAndGet(DAYS);
    assertEquals(OptionalLong.empty(), process.time.undoubtedMillis(), "it made a step");
    pass(PATIENCE - 1);
    assertEquals(OptionalLong.empty(), process.time.undoubtedMillis());
    pass(1);
    assertEquals(OptionalLong.of(wall.millis()), process.time.undoubtedMillis());
    process.end();
  }
}
