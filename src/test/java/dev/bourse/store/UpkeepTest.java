package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rounds of steps in the background. */
class UpkeepTest {
  private static final long HOUR = 3_600_000;

  private final Vertx vertx = Vertx.vertx();
  private final AtomicLong nanos = new AtomicLong();

  /** Each step that has begun; a test ends it. */
  private final BlockingQueue<Promise<Boolean>> steps = new LinkedBlockingQueue<>();

  @AfterEach
  void close() throws Exception {
    DatabaseContractTest.await(vertx.close());
  }

  private Upkeep upkeep(long intervalMillis) {
    Upkeep upkeep =
        new Upkeep(
            vertx,
            "testing",
            intervalMillis,
            nanos::get,
            () -> {
              Promise<Boolean> step = Promise.promise();
              steps.add(step);
              return step.future();
            });
    upkeep.start();
    return upkeep;
  }

  private Promise<Boolean> next() throws Exception {
    Promise<Boolean> step = soon(60_000);
    assertTrue(step != null, "no step has begun");
    return Objects.requireNonNull(step);
  }

  private @Nullable Promise<Boolean> soon(long millis) throws Exception {
    return steps.poll(millis, TimeUnit.MILLISECONDS);
  }

  @Test
  void stepsFollowEachOtherOneAtATimeWhileThereIsMoreToDo() throws Exception {
    Upkeep unused = upkeep(HOUR);
    for (int i = 0; i < 3; i++) {
      Promise<Boolean> step = next();
      assertEquals(0, steps.size());
      step.complete(true);
    }
    next();
  }

  @Test
  void aRoundIsFollowedByAnotherAfterTheInterval() throws Exception {
    Upkeep unused = upkeep(1);
    next().complete(false);
    next().complete(false);
    next();
  }

  @Test
  void afterAStepComesAPauseAsLongAsItTook() throws Exception {
    Upkeep unused = upkeep(1);
    Promise<Boolean> slow = next();
    nanos.addAndGet(TimeUnit.HOURS.toNanos(1));
    slow.complete(true);

    assertEquals(null, soon(200));
  }

  @Test
  void aStepThatFailsIsTriedAgainInTheNextRound() throws Exception {
    Upkeep unused = upkeep(1);
    next().fail("made to fail");
    next().fail("made to fail");
    next().complete(false);
    next();
  }

  @Test
  void stoppingWaitsForTheStepUnderWayAndNoOtherFollows() throws Exception {
    Upkeep upkeep = upkeep(1);
    Promise<Boolean> step = next();
    Future<Void> stopped = upkeep.stop();
    assertFalse(stopped.isComplete());
    step.complete(true);
    DatabaseContractTest.await(stopped);

    assertEquals(null, soon(50));
  }

  @Test
  void stoppingBetweenRoundsIsDoneAtOnce() throws Exception {
    Upkeep upkeep = upkeep(HOUR);
    next().complete(false);
    DatabaseContractTest.await(upkeep.stop());

    assertEquals(null, soon(50));
  }
}
