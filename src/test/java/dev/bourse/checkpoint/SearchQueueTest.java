package dev.bourse.checkpoint;

import static dev.bourse.capacity.StoreFixture.await;
import static dev.bourse.capacity.StoreFixture.fails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Searches run one after the other. */
class SearchQueueTest {
  private final SearchQueue searches = new SearchQueue();
  private final List<Promise<Integer>> begun = new ArrayList<>();

  private int owners;

  private Future<Integer> search() {
    return search("org-" + owners++);
  }

  private Future<Integer> search(String owner) {
    return searches.within(
        owner,
        () -> {
          Promise<Integer> search = Promise.promise();
          begun.add(search);
          return search.future();
        });
  }

  @Test
  void oneSearchGoesOnAtATimeInTheOrderTheyCame() throws Exception {
    List<Future<Integer>> asked = List.of(search(), search(), search());
    for (int i = 0; i < asked.size(); i++) {
      assertEquals(i + 1, begun.size());
      begun.get(i).complete(i);
      assertEquals(i, await(asked.get(i)));
    }
    Future<Integer> later = search();
    begun.get(3).complete(3);
    assertEquals(3, await(later));
  }

  @Test
  void aSearchThatFailsGivesItsTurnOn() throws Exception {
    Future<Integer> failing = search();
    Future<Object> throwing =
        searches.within(
            "thrower",
            () -> {
              throw new IllegalStateException("thrown");
            });
    Future<Integer> last = search();
    begun.get(0).fail(new IllegalArgumentException("failed"));
    fails(IllegalArgumentException.class, failing);
    fails(IllegalStateException.class, throwing);
    begun.get(1).complete(1);
    assertEquals(1, await(last));
  }

  @Test
  void moreThanMayWaitAreTurnedAway() throws Exception {
    List<Future<Integer>> asked = new ArrayList<>();
    for (int i = 0; i <= SearchQueue.MAX_WAITING; i++) {
      asked.add(search());
    }
    assertEquals(ErrorCode.OVERLOADED, fails(ApiException.class, search()).code());
    for (int i = 0; i < asked.size(); i++) {
      begun.get(i).complete(i);
      await(asked.get(i));
    }
  }

  @Test
  void oneOwnersSearchesLeaveRoomForOthers() throws Exception {
    int own = 0;
    Future<Integer> last = search("acme");
    while (!last.failed()) {
      own++;
      last = search("acme");
    }
    assertEquals(ErrorCode.OVERLOADED, fails(ApiException.class, last).code());
    assertEquals((SearchQueue.MAX_WAITING + 2) / 2, own);
    assertEquals(false, search("globex").failed());
  }

  @Test
  void aSearchBeginsOnTheContextThatAskedForIt() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      Future<Integer> first = search();
      Context context = vertx.getOrCreateContext();
      Promise<Context> beganOn = Promise.promise();
      Promise<Void> asked = Promise.promise();
      context.runOnContext(
          v -> {
            searches.within(
                "another",
                () -> {
                  beganOn.complete(Vertx.currentContext());
                  return Future.succeededFuture();
                });
            asked.complete();
          });
      await(asked.future());
      begun.get(0).complete(0);
      await(first);
      assertSame(context, await(beganOn.future()));
    } finally {
      await(vertx.close());
    }
  }
}
