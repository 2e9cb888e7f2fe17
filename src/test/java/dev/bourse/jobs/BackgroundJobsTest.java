package dev.bourse.jobs;

import static dev.bourse.jobs.BackgroundJob.inEachProcess;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.FakeClock;
import dev.bourse.logs.RequestContext;
import dev.bourse.signals.Signals;
import dev.bourse.simulation.ManualLoop;
import dev.bourse.simulation.ManualVertx;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The schedule of background jobs, in virtual time. */
class BackgroundJobsTest {
  private static final long T0 = 1_700_000_000_000L;
  private static final long HOUR = 3_600_000;
  private static final int SEEDS = 200;

  private final FakeClock clock = new FakeClock(T0);
  private final ManualLoop loop = new ManualLoop(this::nanos);
  private final Vertx vertx = ManualVertx.make(loop, Runnable::run);
  private final Signals signals = new Signals();
  private long nanos;
  private BackgroundJobs jobs = newJobs(signals, 1);

  /** Steps in progress; a test ends them. */
  private final ArrayDeque<Promise<Boolean>> steps = new ArrayDeque<>();

  private BackgroundJobs newJobs(Signals shown, long seed) {
    return new BackgroundJobs(vertx, clock, clock, this::nanos, new Random(seed), HOUR, shown);
  }

  private long nanos() {
    return nanos;
  }

  /** Lets time pass on both clocks, and runs all that becomes due. */
  private void pass(long millis) {
    long end = nanos + TimeUnit.MILLISECONDS.toNanos(millis);
    long wallAtEnd = clock.millis() + millis;
    loop.runAllDue();
    while (loop.nextTimerNanos() <= end - nanos) {
      nanos += loop.nextTimerNanos();
      loop.runAllDue();
    }
    nanos = end;
    clock.advance(wallAtEnd - clock.millis());
  }

  private Future<Boolean> step() {
    Promise<Boolean> step = Promise.promise();
    steps.add(step);
    return step.future();
  }

  private ScheduledJob start(BackgroundJob job) {
    ScheduledJob started = jobs.start(job);
    loop.runAllDue();
    return started;
  }

  private ScheduledJob start(long periodMillis) {
    return start(inEachProcess("sweep", "sweeping", periodMillis, this::step));
  }

  private Promise<Boolean> next() {
    loop.runAllDue();
    assertEquals(1, steps.size(), "steps in progress");
    return steps.remove();
  }

  private void end(Promise<Boolean> step, boolean isMore) {
    step.complete(isMore);
    loop.runAllDue();
  }

  private void assertIdle() {
    loop.runAllDue();
    assertTrue(steps.isEmpty(), "a step is in progress");
  }

  private <T> T done(Future<T> future) {
    loop.runAllDue();
    assertTrue(future.succeeded(), () -> String.valueOf(future.cause()));
    return future.result();
  }

  private ApiException refused(Future<Void> future) {
    loop.runAllDue();
    return (ApiException) Objects.requireNonNull(future.cause(), "not refused");
  }

  private String printed() {
    return new String(signals.print(), StandardCharsets.UTF_8);
  }

  private static Supplier<Future<Void>> recorded() {
    return Future::succeededFuture;
  }

  @Test
  void theFirstRunStartsAtOnceAndTheNextAPeriodAfterItsEnd() {
    ScheduledJob job = start(1_000);
    end(next(), false);
    long next = Objects.requireNonNull(job.view().nextRunMillis());
    assertTrue(next > T0 + 899 && next <= T0 + 1_000, "due at " + (next - T0));
    pass(next - T0 - 1);
    assertIdle();
    pass(1);
    next();
  }

  @Test
  void aJobWhoseWorkTheStartDoesWaitsForAPeriod() {
    start(inEachProcess("sweep", "sweeping", 1_000, this::step).afterFirstPeriod());
    pass(899);
    assertIdle();
    pass(101);
    next();
  }

  @Test
  void stepsFollowEachOtherOneAtATimeWhileThereIsMoreToDo() {
    start(HOUR);
    for (int i = 0; i < 3; i++) {
      Promise<Boolean> step = next();
      pass(10);
      end(step, true);
      assertIdle();
      pass(10);
    }
    end(next(), false);
    assertIdle();
  }

  @Test
  void afterAStepComesAPauseAsLongAsItTook() {
    start(1);
    Promise<Boolean> slow = next();
    pass(HOUR);
    end(slow, true);
    pass(HOUR - 1);
    assertIdle();
    pass(1);
    next();
  }

  @Test
  void turnsThatWereMissedDuringALongRunAreNotMadeUp() {
    ScheduledJob job = start(1_000);
    Promise<Boolean> slow = next();
    pass(10_000);
    assertIdle();
    end(slow, false);
    assertIdle();
    pass(1_000);
    end(next(), false);
    assertIdle();
    assertEquals(2, job.view().runs());
  }

  @Test
  void aFailureIsRememberedAndDoesNotStopLaterRuns() {
    ScheduledJob job = start(1_000);
    next().fail("made to fail");
    pass(1_000);
    JobView failed = job.view();
    assertTrue(
        Objects.requireNonNull(Objects.requireNonNull(failed.lastRun()).error())
            .contains("made to fail"));
    assertNull(failed.lastSuccessMillis());
    pass(500);
    end(next(), false);
    JobView succeeded = job.view();
    assertNull(Objects.requireNonNull(succeeded.lastRun()).error());
    assertEquals(clock.millis(), succeeded.lastSuccessMillis());
    assertEquals(2, succeeded.runs());
    assertEquals(1, succeeded.failures());
  }

  @Test
  void aStepThatThrowsIsAFailureToo() {
    ScheduledJob job =
        start(
            inEachProcess(
                "sweep",
                "sweeping",
                10,
                () -> {
                  throw new IllegalStateException("x".repeat(1_000));
                }));
    pass(100);
    assertTrue(job.view().failures() >= 10);
    assertTrue(
        Objects.requireNonNull(Objects.requireNonNull(job.view().lastRun()).error()).length()
            <= 301,
        "the error is cut");
  }

  @Test
  void aClockThatIsSetBackDelaysNoRun() {
    ScheduledJob job = start(1_000);
    end(next(), false);
    clock.advance(-HOUR);
    pass(1_000);
    end(next(), false);
    long ended = Objects.requireNonNull(job.view().lastSuccessMillis());
    assertTrue(ended <= T0 - HOUR + 1_000 && ended >= T0 - HOUR, "by the clock: " + ended);
  }

  @Test
  void aJobThatNeedsConfirmedTimeIsSkippedWithoutIt() {
    List<Long> times = new ArrayList<>();
    clock.confirm(false);
    ScheduledJob job =
        start(
            BackgroundJob.onConfirmedTime(
                BackgroundJob.Place.EACH_PROCESS,
                "expire",
                "expiring",
                HOUR,
                now -> {
                  times.add(now);
                  return Future.succeededFuture(false);
                }));
    pass(5 * 60_000);
    assertEquals(List.of(), times);
    assertEquals(JobView.Skip.NO_CONFIRMED_TIME, job.view().skipped());
    ApiException refusal = refused(job.runNow(recorded()));
    assertEquals(ErrorCode.CONFLICT, refusal.code());
    assertTrue(refusal.detail().contains("/api/operator/clock"), refusal.detail());
    assertEquals(refusal.detail(), job.view().refusal(), "shown before anyone asks");
    clock.confirm(true);
    assertNull(job.view().refusal());
    pass(60_000);
    assertEquals(1, times.size(), "within a minute, whatever its period");
    assertNull(job.view().skipped());
  }

  @Test
  void aJobWhoseLeaseIsElsewhereNamesTheHolder() {
    ScheduledJob job = start(BackgroundJob.underLease("deliver", "delivering", 1_000, this::step));
    next().fail(new JobLease.LeaseHeldException("process_b"));
    loop.runAllDue();
    assertEquals("process_b", job.view().holder());
    assertEquals(0, job.view().runs(), "a skipped turn is no run");
    ApiException refusal = refused(job.runNow(recorded()));
    assertEquals(ErrorCode.CONFLICT, refusal.code());
    assertTrue(refusal.detail().contains("process_b"), refusal.detail());
    assertEquals(refusal.detail(), job.view().refusal());
    pass(1_000);
    end(next(), false);
    assertNull(job.view().holder());
    assertNull(job.view().refusal());
  }

  @Test
  void anOperatorsRunStartsAtOnceAndTheNextAPeriodAfterIt() {
    ScheduledJob job = start(1_000);
    end(next(), false);
    pass(500);
    done(job.runNow(recorded()));
    assertNotNull(job.view().runningSinceMillis());
    assertNull(job.view().nextRunMillis());
    end(next(), false);
    pass(899);
    assertIdle();
    pass(101);
    next();
  }

  @Test
  void anOperatorsRunIsRefusedDuringARun() {
    ScheduledJob job = start(1_000);
    ApiException refusal = refused(job.runNow(recorded()));
    assertEquals(ErrorCode.CONFLICT, refusal.code());
    assertTrue(refusal.detail().contains("since 2023-11-14T22:13:20.000Z"), refusal.detail());
    assertEquals(refusal.detail(), job.view().refusal());
    end(next(), true);
    assertEquals(ErrorCode.CONFLICT, refused(job.runNow(recorded())).code(), "between two steps");
  }

  @Test
  void anOperatorsRunThatCannotBeRecordedDoesNotStart() {
    ScheduledJob job = start(1_000);
    end(next(), false);
    Promise<Void> recording = Promise.promise();
    Future<Void> started = job.runNow(recording::future);
    loop.runAllDue();
    assertEquals(ErrorCode.CONFLICT, refused(job.runNow(recorded())).code(), "one at a time");
    recording.fail("the store is down");
    loop.runAllDue();
    assertTrue(started.failed());
    assertIdle();
    pass(1_000);
    next();
  }

  /** The commit of the record judges the caller of the request. */
  @Test
  void anOperatorsRunIsRecordedInTheContextOfItsRequest() {
    ScheduledJob job = start(1_000);
    end(next(), false);
    RequestContext request = new RequestContext("r1", "", this::nanos);
    ContextInternal asking = ((ContextInternal) vertx.getOrCreateContext()).duplicate();
    request.enter(asking);
    List<RequestContext> recordedFor = new ArrayList<>();
    asking.runOnContext(
        v ->
            job.runNow(
                () -> {
                  recordedFor.add(Objects.requireNonNull(RequestContext.current()));
                  return Future.succeededFuture();
                }));
    loop.runAllDue();
    assertEquals(List.of(request), recordedFor);
    next();
  }

  @Test
  void anOperatorsRunThatCannotBeRecordedPostponesNoRun() {
    ScheduledJob job = start(1_000);
    end(next(), false);
    Long due = Objects.requireNonNull(job.view().nextRunMillis());
    pass(800);
    Future<Void> started = job.runNow(() -> Future.failedFuture("the store is down"));
    loop.runAllDue();
    assertTrue(started.failed());
    assertEquals(due, job.view().nextRunMillis());
  }

  @Test
  void anOperatorsRunThatTheStopOvertakesIsRefused() {
    ScheduledJob job = start(1_000);
    end(next(), false);
    Promise<Void> recording = Promise.promise();
    Future<Void> started = job.runNow(recording::future);
    loop.runAllDue();
    Future<Void> stopped = job.stop();
    loop.runAllDue();
    assertFalse(stopped.isComplete(), "the record is in progress");
    recording.complete();
    assertTrue(refused(started).detail().contains("is stopping"));
    done(stopped);
    assertIdle();
  }

  @Test
  void aJobThatAnotherProcessRunsHasNoAgeOfSuccess() {
    start(BackgroundJob.underLease("deliver", "delivering", 1_000, this::step));
    end(next(), false);
    pass(1_000);
    String age = "bourse_job_success_age_seconds{job=\"deliver\"}";
    assertTrue(printed().contains(age), printed());
    next().fail(new JobLease.LeaseHeldException("process_b"));
    loop.runAllDue();
    assertFalse(printed().contains(age), printed());
  }

  @Test
  void aRunThatIsRequestedDuringARunFollowsIt() {
    ScheduledJob job = start(HOUR);
    Promise<Boolean> step = next();
    job.runSoon();
    job.runSoon();
    end(step, false);
    pass(1);
    end(next(), false);
    pass(100);
    assertIdle();
    job.runSoon();
    next();
  }

  @Test
  void stoppingWaitsForTheStepInProgressAndNoOtherFollows() {
    ScheduledJob job = start(1);
    Promise<Boolean> step = next();
    Future<Void> stopped = job.stop();
    loop.runAllDue();
    assertFalse(stopped.isComplete());
    end(step, true);
    done(stopped);
    job.runSoon();
    pass(100);
    assertIdle();
    assertEquals(List.of(), jobs.list("", 10));
  }

  @Test
  void stoppingBetweenRunsIsDoneAtOnce() {
    ScheduledJob job = start(HOUR);
    end(next(), false);
    done(job.stop());
    pass(2 * HOUR);
    assertIdle();
  }

  @Test
  void twoJobsOfOneNameAreRefused() {
    start(1_000);
    assertThrows(IllegalArgumentException.class, () -> start(1_000));
  }

  @Test
  void processesThatStartedTogetherSpreadOut() {
    Set<Long> due = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      jobs = newJobs(new Signals(), i);
      ScheduledJob job = start(HOUR);
      end(next(), false);
      due.add(job.view().nextRunMillis());
    }
    assertTrue(due.size() > 40, "different moments: " + due.size());
  }

  @Test
  void runsAreCountedInTheMetrics() {
    start(1_000);
    Promise<Boolean> step = next();
    pass(2_000);
    end(step, false);
    pass(1_000);
    next().fail("made to fail");
    pass(100);
    String text = printed();
    assertTrue(
        text.contains("bourse_job_runs_total{job=\"sweep\",outcome=\"succeeded\"} 1.0"), text);
    assertTrue(text.contains("bourse_job_runs_total{job=\"sweep\",outcome=\"failed\"} 1.0"), text);
    assertFalse(text.contains("skipped\"}"), "a series begins with its first event");
    assertTrue(text.contains("bourse_job_success_age_seconds{job=\"sweep\"} 1.1"), text);
    assertTrue(text.contains("bourse_job_seconds_total{job=\"sweep\"} 2."), text);
  }

  @Test
  void whateverStepsDoRunsNeverOverlapAndNeverEnd() {
    for (int seed = 0; seed < SEEDS; seed++) {
      new RandomJob(seed).run();
    }
  }

  /** A job of random steps under random requests and a clock that is set at random. */
  private final class RandomJob {
    private final String label;
    private final SplittableRandom random;
    private final long period;
    private final ScheduledJob job;
    private boolean isInStep;
    private boolean isMore;
    private long runs;
    private long failures;
    private @Nullable Long endedNanos;

    RandomJob(int seed) {
      label = "seed " + seed;
      random = new SplittableRandom(seed);
      period = random.nextLong(1, 2_000);
      jobs = newJobs(new Signals(), seed);
      job = jobs.start(inEachProcess("random", "random steps", period, this::step));
    }

    private Future<Boolean> step() {
      assertFalse(isInStep, () -> label + ": two steps at once");
      isInStep = true;
      Promise<Boolean> step = Promise.promise();
      long millis = random.nextInt(4) == 0 ? 0 : random.nextLong(1, 3 * period + 1);
      boolean isFailure = random.nextInt(4) == 0;
      isMore = !isFailure && random.nextInt(3) == 0;
      Runnable end =
          () -> {
            isInStep = false;
            if (!isMore) {
              runs++;
              failures += isFailure ? 1 : 0;
              endedNanos = nanos;
            }
            if (isFailure) {
              step.fail("made to fail");
            } else {
              step.complete(isMore);
            }
          };
      if (millis == 0) {
        end.run();
      } else {
        vertx.setTimer(millis, id -> end.run());
      }
      return step.future();
    }

    void run() {
      for (int i = 0; i < 50; i++) {
        pass(random.nextLong(1, period + 1));
        switch (random.nextInt(6)) {
          case 0 -> job.runSoon();
          case 1 -> job.runNow(recorded());
          case 2 -> clock.advance(random.nextLong(-HOUR, HOUR));
          default -> {}
        }
        Long ended = endedNanos;
        if (!isInStep && !isMore && ended != null) {
          assertTrue(
              nanos - ended <= TimeUnit.MILLISECONDS.toNanos(period + 1),
              () -> label + ": no run followed");
        }
      }
      assertTrue(runs > 0, () -> label + ": no run ended");
      assertEquals(runs, job.view().runs(), label);
      assertEquals(failures, job.view().failures(), label);
      Future<Void> stopped = job.stop();
      pass(4 * period + 1);
      done(stopped);
      assertFalse(isInStep, label);
    }
  }
}
