package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class CoalescedLookupsTest {
  private final CoalescedLookups<String, Integer> lookups = new CoalescedLookups<>();

  /** Look-ups that have started, in order. */
  private final List<Promise<Integer>> begun = new ArrayList<>();

  private Future<Integer> find(String key) {
    return lookups.find(
        key,
        () -> {
          Promise<Integer> lookup = Promise.promise();
          begun.add(lookup);
          return lookup.future();
        });
  }

  @Test
  void whoeverAsksDuringALookupIsAnsweredByOneThatBeginsLater() {
    Future<Integer> first = find("a");
    Future<Integer> second = find("a");
    Future<Integer> third = find("a");
    assertEquals(1, begun.size());
    begun.get(0).complete(1);
    assertEquals(1, first.result());
    assertFalse(second.isComplete());
    assertEquals(2, begun.size());
    begun.get(1).complete(2);
    assertEquals(List.of(2, 2), List.of(second.result(), third.result()));
  }

  @Test
  void nothingIsKeptOnceNobodyWaits() {
    Future<Integer> first = find("a");
    begun.get(0).complete(1);
    assertTrue(first.succeeded());
    Future<Integer> second = find("a");
    assertEquals(2, begun.size());
    begun.get(1).complete(2);
    assertEquals(2, second.result());
  }

  @Test
  void otherThingsAreLookedUpMeanwhile() {
    find("a");
    Future<Integer> other = find("b");
    begun.get(1).complete(5);
    assertEquals(5, other.result());
  }

  @Test
  void aFailureIsTheFailureOfThoseWhoShareItAndOfNobodyElse() {
    Future<Integer> first = find("a");
    Future<Integer> second = find("a");
    Throwable fault = new IllegalStateException("away");
    begun.get(0).fail(fault);
    assertSame(fault, first.cause());
    begun.get(1).complete(2);
    assertEquals(2, second.result());
  }

  @Test
  void aLookupThatThrowsIsAFailure() {
    Throwable fault = new IllegalStateException("bad");
    Future<Integer> found =
        lookups.find(
            "a",
            () -> {
              throw new IllegalStateException(fault);
            });
    assertSame(fault, found.cause().getCause());
    find("a");
    assertEquals(1, begun.size());
  }

  /** Runs an action on a context, like a request's handler. */
  private static <T> T on(ContextInternal context, Callable<T> action) throws Exception {
    CompletableFuture<T> done = new CompletableFuture<>();
    context.runOnContext(
        v -> {
          try {
            done.complete(action.call());
          } catch (Exception e) {
            done.completeExceptionally(e);
          }
        });
    return done.get(60, TimeUnit.SECONDS);
  }

  @Test
  void requestsOfOneEventLoopShareALookupAndEachIsAnsweredOnItsOwnContext() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      ContextInternal loop = (ContextInternal) vertx.getOrCreateContext();
      ContextInternal leading = loop.duplicate();
      List<ContextInternal> followers = List.of(loop.duplicate(), loop.duplicate());
      List<ContextInternal> ran = new ArrayList<>();
      List<CompletableFuture<ContextInternal>> answered = new ArrayList<>();
      List<ContextInternal> all = new ArrayList<>(List.of(leading));
      all.addAll(followers);
      for (ContextInternal request : all) {
        CompletableFuture<ContextInternal> where = new CompletableFuture<>();
        answered.add(where);
        on(
            request,
            () ->
                lookups
                    .find(
                        "a",
                        () -> {
                          ran.add(ContextInternal.current());
                          Promise<Integer> lookup = ContextInternal.current().promise();
                          begun.add(lookup);
                          return lookup.future();
                        })
                    .onComplete(found -> where.complete(ContextInternal.current())));
      }
      assertEquals(1, on(loop, begun::size));
      begun.get(0).complete(1);
      assertSame(leading, answered.get(0).get(60, TimeUnit.SECONDS));
      assertEquals(2, on(loop, begun::size));
      begun.get(1).complete(2);
      for (int i = 0; i < followers.size(); i++) {
        assertSame(followers.get(i), answered.get(i + 1).get(60, TimeUnit.SECONDS));
      }
      assertEquals(List.of(leading, followers.get(0)), ran);
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
  }
}
