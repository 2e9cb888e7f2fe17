package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class CoalescedLookupsTest {
  private final CoalescedLookups<String, Integer> lookups = new CoalescedLookups<>();

  /** Those that began, in order. */
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
}
