package dev.bourse.store;

import static dev.bourse.capacity.StoreFixture.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Writes for a whole fleet, some at a time. */
class BoundedWorkTest {
  private static final int MANY = 100_000;

  @Test
  void theNextBeginsWhenOneHasEnded() {
    Deque<Promise<Void>> underWay = new ArrayDeque<>();
    Future<Void> all =
        BoundedWork.each(
            IntStream.range(0, 2 * BoundedWork.AT_ONCE).iterator(),
            i -> {
              underWay.add(Promise.promise());
              return underWay.getLast().future();
            });
    for (int i = 0; i < BoundedWork.AT_ONCE; i++) {
      assertEquals(BoundedWork.AT_ONCE, underWay.size());
      underWay.remove().complete();
    }
    for (int i = BoundedWork.AT_ONCE; i > 0; i--) {
      assertEquals(i, underWay.size());
      assertFalse(all.isComplete());
      underWay.remove().complete();
    }
    assertTrue(all.succeeded());
  }

  @Test
  void asManyAreUnderWayAsIsSaid() {
    List<Promise<Void>> begun = new ArrayList<>();
    BoundedWork.each(
        IntStream.range(0, 9).iterator(),
        4,
        i -> {
          begun.add(Promise.promise());
          return begun.get(i).future();
        });
    assertEquals(4, begun.size());
    begun.get(2).complete();
    assertEquals(5, begun.size());
  }

  @Test
  void inTurnEachBeginsWhenTheOneBeforeHasEndedAndNoneAfterOneThatFailed() {
    List<Promise<Void>> begun = new ArrayList<>();
    Future<Void> all =
        BoundedWork.inTurn(
            List.of(1, 2, 3),
            i -> {
              begun.add(Promise.promise());
              return begun.get(begun.size() - 1).future();
            });
    assertEquals(1, begun.size());
    begun.get(0).complete();
    assertEquals(2, begun.size());
    RuntimeException fault = new IllegalStateException("made to fail");
    begun.get(1).fail(fault);
    assertSame(fault, all.cause());
    assertEquals(2, begun.size());
  }

  @Test
  void whatIsUnderWayWhenOneFailsIsWaitedFor() {
    List<Promise<Void>> begun = new ArrayList<>();
    Future<Void> all =
        BoundedWork.untilFailure(
            List.of(1, 2, 3).iterator(),
            2,
            i -> {
              begun.add(Promise.promise());
              return begun.get(begun.size() - 1).future();
            });
    begun.get(0).fail("made to fail");
    assertFalse(all.isComplete());
    begun.get(1).complete();
    assertTrue(all.failed());
    assertEquals(2, begun.size());
  }

  /** A chain of as many futures would overflow the stack and never complete. */
  @Test
  void aFailureEndsALongRow() {
    Promise<Void> first = Promise.promise();
    Future<Void> all =
        BoundedWork.inTurn(
            IntStream.range(0, MANY).boxed().toList(),
            i -> i == 0 ? first.future() : Future.succeededFuture());
    first.fail("made to fail");
    assertTrue(all.failed());
  }

  @Test
  void oneThatFailsKeepsNoOtherFromBeingTried() {
    List<Integer> tried = new ArrayList<>();
    RuntimeException fault = new IllegalStateException("made to fail");
    Future<Void> all =
        BoundedWork.each(
            List.of(1, 2, 3).iterator(),
            i -> {
              tried.add(i);
              if (i == 1) {
                throw fault;
              }
              return Future.succeededFuture();
            });
    assertEquals(List.of(1, 2, 3), tried);
    assertSame(fault, all.cause());
  }

  @Test
  void workThatEndsAtOnceMakesNoDeepStack() {
    AtomicInteger done = new AtomicInteger();
    Future<Void> all =
        BoundedWork.each(
            IntStream.range(0, MANY).iterator(),
            i -> Future.succeededFuture(done.incrementAndGet()));
    assertTrue(all.succeeded());
    assertEquals(MANY, done.get());
  }

  @Test
  void workMayEndOnAnyThread() throws Exception {
    AtomicInteger underWay = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger done = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      await(
          BoundedWork.each(
              IntStream.range(0, MANY).iterator(),
              i -> {
                most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
                Promise<Void> end = Promise.promise();
                threads.execute(
                    () -> {
                      underWay.decrementAndGet();
                      done.incrementAndGet();
                      end.complete();
                    });
                return end.future();
              }));
    } finally {
      threads.shutdown();
    }
    assertEquals(MANY, done.get());
    assertTrue(most.get() <= BoundedWork.AT_ONCE, "at once: " + most);
  }
}
