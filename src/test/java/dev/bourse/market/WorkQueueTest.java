package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Work on machines, so much at a time. */
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
}
