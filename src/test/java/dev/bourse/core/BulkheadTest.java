package dev.bourse.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The bounds on running work, waiting work, and one owner's share. */
@Tag("fast")
class BulkheadTest {
  private static final int ALL = 16;
  private static final int OWN = 4;

  private final Bulkhead limit = Bulkhead.of("previews being made", ALL).sharing(OWN);
  private final List<Bulkhead.Place> running = new ArrayList<>();

  private void fill(String owner, int count) {
    for (int i = 0; i < count; i++) {
      running.add(limit.enter(owner));
    }
  }

  private String refusal(String owner) {
    ApiException error = assertThrows(ApiException.class, () -> limit.enter(owner));
    assertEquals(ErrorCode.OVERLOADED, error.code());
    return String.valueOf(error.detail());
  }

  @Test
  void anOwnerThatTakesItsShareLeavesTheOthersTheirs() {
    fill("acme", OWN);
    assertEquals("limit reached: you have 4 previews being made", refusal("acme"));
    fill("globex", OWN);
  }

  @Test
  void allTogetherHaveSoManyPlaces() {
    for (int i = 0; i < ALL / OWN; i++) {
      fill("org-" + i, OWN);
    }
    assertEquals("limit reached: there are 16 previews being made", refusal("one-more"));
    running.get(0).close();
    fill("one-more", 1);
  }

  @Test
  void aFairLimitLeavesEachNewcomerAsMuchAsTheOthersMayHave() {
    Bulkhead fair = Bulkhead.of("streams", 16).sharingFairly();
    List<Integer> had = new ArrayList<>();
    for (String owner : List.of("a", "b", "c", "d", "e")) {
      int own = 0;
      while (isLetIn(fair, owner)) {
        own++;
      }
      had.add(own);
    }
    assertEquals(List.of(8, 4, 2, 1, 1), had);
    assertEquals(16, fair.running());
  }

  private static boolean isLetIn(Bulkhead limit, String owner) {
    try {
      limit.enter(owner);
      return true;
    } catch (ApiException refused) {
      return false;
    }
  }

  @Test
  void workCountsForItsWeight() {
    Bulkhead bytes = Bulkhead.of("bytes", 100).sharingFairly();
    Bulkhead.Place large = bytes.enter("acme", 40);
    assertThrows(ApiException.class, () -> bytes.enter("acme", 21));
    bytes.enter("globex", 30);
    assertThrows(ApiException.class, () -> bytes.enter("initech", 31));
    large.close();
    assertEquals(30, bytes.running());
    bytes.enter("initech", 35);
    assertThrows(IllegalArgumentException.class, () -> bytes.enter("acme", 0));
  }

  @Test
  void aPlaceIsGivenBackOnce() {
    fill("acme", OWN);
    running.get(0).close();
    running.get(0).close();
    fill("acme", 1);
    refusal("acme");
    assertEquals(OWN, limit.running());
  }

  @Test
  void aRefusalTakesNoPlace() {
    fill("acme", OWN);
    refusal("acme");
    refusal("acme");
    running.forEach(Bulkhead.Place::close);
    fill("acme", OWN);
  }

  @Test
  void aLimitMayRefuseInWordsOfItsOwn() {
    Bulkhead one = Bulkhead.of("calls", 1).refusing(IllegalStateException::new);
    one.enter("");
    assertEquals(
        "there are 1", assertThrows(IllegalStateException.class, () -> one.enter("")).getMessage());
  }

  @Test
  void whatIsNoLimitIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> Bulkhead.of("calls", 0));
    assertThrows(IllegalArgumentException.class, () -> Bulkhead.of("calls", 1).queueing(-1));
    assertThrows(IllegalArgumentException.class, () -> Bulkhead.of("calls", 1).sharing(0));
    Bulkhead queue = Bulkhead.of("calls", 1).queueing(1);
    assertThrows(IllegalStateException.class, () -> queue.enter(""));
  }

  /** Random arrivals and departures, compared with a trivial model: two lists. */
  @Test
  void anyHistoryKeepsTheBoundsTheOrderAndEveryPlace() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      Histories histories = new Histories(random);
      for (int step = 0; step < 200; step++) {
        histories.step("seed " + seed + " round " + round + " step " + step);
      }
      histories.end();
    }
  }

  private static final class Histories {
    private final Random random;
    private final int most;
    private final int mostWaiting;
    private final int mostOfOwner;
    private final boolean isFair;
    private final Bulkhead limit;
    private final List<Integer> waiting = new ArrayList<>();
    private final Map<Integer, Bulkhead.Place> running = new HashMap<>();
    private final Map<Integer, String> owners = new HashMap<>();
    private final List<Integer> begun = new ArrayList<>();
    private int next;

    Histories(Random random) {
      this.random = random;
      most = 1 + random.nextInt(4);
      mostWaiting = random.nextInt(4);
      mostOfOwner = 1 + random.nextInt(5);
      isFair = random.nextBoolean();
      Bulkhead shared = Bulkhead.of("works", most).queueing(mostWaiting).sharing(mostOfOwner);
      limit = isFair ? shared.sharingFairly() : shared;
    }

    void step(String where) {
      if (running.isEmpty() || random.nextInt(5) < 3) {
        arrive(where);
      } else {
        leave(where);
      }
      assertEquals(running.size(), limit.running(), where);
      assertEquals(waiting.size(), limit.waiting(), where);
      assertTrue(running.size() <= most && waiting.size() <= mostWaiting, where);
      assertTrue(waiting.isEmpty() || running.size() == most, where + ": nobody waits for nothing");
    }

    private void arrive(String where) {
      int work = next++;
      String owner = "owner-" + random.nextInt(3);
      long own = owners.values().stream().filter(owner::equals).count();
      int free = most + mostWaiting - running.size() - waiting.size();
      boolean fits = own < mostOfOwner && free > 0 && (!isFair || own < free);
      boolean waits = running.size() == most;
      try {
        limit.enter(
            owner,
            place -> {
              begun.add(work);
              running.put(work, place);
            });
        assertTrue(fits, where);
        owners.put(work, owner);
        if (waits) {
          waiting.add(work);
        }
      } catch (ApiException e) {
        assertTrue(!fits, where + ": " + e.detail());
      }
    }

    private void leave(String where) {
      List<Integer> now = new ArrayList<>(running.keySet());
      int work = now.get(random.nextInt(now.size()));
      begun.clear();
      Bulkhead.Place place = running.remove(work);
      owners.remove(work);
      place.close();
      assertEquals(waiting.isEmpty() ? List.of() : List.of(waiting.remove(0)), begun, where);
    }

    void end() {
      while (!running.isEmpty()) {
        leave("the end");
      }
      assertEquals(0, limit.running() + limit.waiting());
    }
  }
}
