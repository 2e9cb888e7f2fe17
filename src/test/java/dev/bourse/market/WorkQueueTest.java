package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A queue of work on machines with a limit of running work. */
@Tag("fast")
class WorkQueueTest {
  private final WorkQueue queue = new WorkQueue(4, 2);
  private final List<String> begun = new ArrayList<>();
  private final List<Promise<Void>> underWay = new ArrayList<>();

  private Supplier<Future<Void>> work(String name) {
    return () -> {
      begun.add(name);
      Promise<Void> promise = Promise.promise();
      underWay.add(promise);
      return promise.future();
    };
  }

  @Test
  void whatFailedBeforeNeverTakesMoreThanItsShare() {
    for (int i = 0; i < 9; i++) {
      queue.add(true, work("dead"));
    }
    assertEquals(List.of("dead", "dead"), begun);
    queue.add(false, work("new"));
    queue.add(false, work("new"));
    queue.add(false, work("new"));
    assertEquals(List.of("dead", "dead", "new", "new"), begun, "four at a time");

    underWay.get(0).complete();
    assertEquals("new", begun.get(4), "first tries go first");
    underWay.get(1).fail("dead still");
    assertEquals(6, begun.size());
    assertEquals("dead", begun.get(5));
  }

  @Test
  void oneOwnerNeverTakesMoreThanItsShareAndOwnersTakeTurns() {
    WorkQueue shared = new WorkQueue(4, 2, 3);
    for (int i = 0; i < 5; i++) {
      shared.add("red", false, work("red" + i));
    }
    assertEquals(List.of("red0", "red1", "red2"), begun);
    shared.add("blue", false, work("blue0"));
    shared.add("blue", false, work("blue1"));
    shared.add("green", false, work("green0"));
    assertEquals("blue0", begun.get(3));
    underWay.get(3).complete();
    underWay.get(0).complete();
    underWay.get(4).complete();
    assertEquals(List.of("blue1", "red3", "green0"), begun.subList(4, 7));
  }

  /** Ends work in the order of its end times, by a virtual clock. */
  private static final class Visits {
    private final PriorityQueue<Visit> open =
        new PriorityQueue<>(Comparator.comparingLong(Visit::endsAt));
    long now;
    final Map<String, Long> lastOf = new HashMap<>();

    record Visit(long endsAt, String owner, Promise<Void> promise) {}

    Supplier<Future<Void>> lasting(String owner, long millis) {
      return () -> {
        Promise<Void> promise = Promise.promise();
        open.add(new Visit(now + millis, owner, promise));
        return promise.future();
      };
    }

    long lastOf(String owner) {
      return lastOf.getOrDefault(owner, Long.MAX_VALUE);
    }

    void runAll() {
      while (!open.isEmpty()) {
        Visit next = open.remove();
        now = next.endsAt();
        lastOf.put(next.owner(), now);
        next.promise().complete();
      }
    }
  }

  private static WorkQueue notices() {
    return new WorkQueue(
        NoticeTurns.AT_ONCE, NoticeTurns.LATER_AT_ONCE, NoticeTurns.OF_ONE_AT_ONCE);
  }

  @Test
  void aThousandMachinesOfTwoOrganizationsAreToldWithinTenSecondsBesideDeadOnes() {
    WorkQueue queue = notices();
    Visits visits = new Visits();
    for (int i = 0; i < 200; i++) {
      queue.add("dead", true, visits.lasting("dead", 80_000));
    }
    for (int i = 0; i < 1_000; i++) {
      String owner = i % 2 == 0 ? "red" : "blue";
      queue.add(owner, false, visits.lasting(owner, 300));
    }
    visits.runAll();
    assertTrue(visits.lastOf("red") <= 10_000, visits.lastOf.toString());
    assertTrue(visits.lastOf("blue") <= 10_000, visits.lastOf.toString());
  }

  @Test
  void aThousandMachinesOfOneOrganizationAreToldWithinTenSeconds() {
    WorkQueue queue = notices();
    Visits visits = new Visits();
    for (int i = 0; i < 1_000; i++) {
      queue.add("red", false, visits.lasting("red", 450));
    }
    visits.runAll();
    assertTrue(visits.lastOf("red") <= 10_000, visits.lastOf.toString());
  }

  @Test
  void anOrganizationWhoseMachinesAnswerSlowlyKeepsNobodyElseWaiting() {
    WorkQueue queue = notices();
    Visits visits = new Visits();
    for (int i = 0; i < 1_000; i++) {
      queue.add("slow", false, visits.lasting("slow", 80_000));
    }
    for (int i = 0; i < 1_000; i++) {
      queue.add("other" + i % 2, false, visits.lasting("other", 500));
    }
    visits.runAll();
    assertTrue(visits.lastOf("other") <= 10_000, visits.lastOf.toString());
  }

  @Test
  void anyAmountOfWorkThatIsDoneAtOnceIsDone() {
    AtomicInteger done = new AtomicInteger();
    queue.add(
        false,
        () -> {
          for (int i = 0; i < 100_000; i++) {
            queue.add(
                false,
                () -> {
                  done.incrementAndGet();
                  return Future.succeededFuture();
                });
          }
          return Future.succeededFuture();
        });
    assertEquals(100_000, done.get());
  }

  @Test
  void workThatThrowsGivesItsLaneBack() {
    for (int i = 0; i < 5; i++) {
      queue.add(
          false,
          () -> {
            throw new IllegalStateException("no such node");
          });
    }
    queue.add(false, work("next"));
    assertEquals(List.of("next"), begun);
  }

  @Test
  void nothingBeginsOnceStopped() {
    for (int i = 0; i < 5; i++) {
      queue.add(false, work("new"));
    }
    queue.stop();
    underWay.get(0).complete();
    assertEquals(4, begun.size());
  }

  @Test
  void anOrganizationWhoseDrillsAreSlowKeepsNoOthersRetryWaiting() {
    WorkQueue queue = notices();
    Visits visits = new Visits();
    for (int i = 0; i < 100; i++) {
      queue.add("slow", true, visits.lasting("slow", 80_000));
    }
    for (int i = 0; i < 300; i++) {
      queue.add("other" + i % 2, true, visits.lasting("other", 500));
    }
    visits.runAll();
    assertTrue(visits.lastOf("other") <= 10_000, visits.lastOf.toString());
  }

  @Test
  void anOrganizationHasOneShareOverAllPools() throws Exception {
    Vertx vertx = Vertx.vertx();
    NoticeTurns turns = new NoticeTurns(vertx);
    AtomicInteger running = new AtomicInteger();
    Promise<Void> other = Promise.promise();
    for (int pool = 0; pool < 2; pool++) {
      WorkPool.Turns own = turns.on(vertx.getOrCreateContext());
      for (int i = 0; i < NoticeTurns.AT_ONCE; i++) {
        own.add(
            "red",
            false,
            () -> {
              running.incrementAndGet();
              return Promise.<Void>promise().future();
            });
      }
      own.add(
          "blue" + pool,
          false,
          () -> {
            if (running.get() >= NoticeTurns.OF_ONE_AT_ONCE) {
              other.tryComplete();
            }
            return Future.succeededFuture();
          });
    }
    other.future().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertEquals(NoticeTurns.OF_ONE_AT_ONCE, running.get());
    vertx.close();
  }
}
