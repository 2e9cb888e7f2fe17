package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.checkpoint.DownloadShares.Reader;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class DownloadSharesTest {
  private static final Reader ACME = new Reader(false, "acme");
  private static final Reader GLOBEX = new Reader(false, "globex");

  private final DownloadShares shares = new DownloadShares(16, true);

  /** Of a store in which each reading opens its own file. */
  private final DownloadShares counting = new DownloadShares(16, false);

  private boolean begins(Reader reader, String key) {
    try {
      shares.begin(reader, key);
      return true;
    } catch (ApiException refused) {
      return false;
    }
  }

  private int take(Reader reader, String prefix) {
    int taken = 0;
    while (begins(reader, prefix + taken)) {
      taken++;
    }
    return taken;
  }

  @Test
  void whoIsAloneMayReadHalfOfAllAndWhoComesNextAQuarter() {
    assertEquals(8, take(ACME, "a"));
    assertEquals(4, take(GLOBEX, "b"));
  }

  @Test
  void theLastPlaceGoesToWhoHasNone() {
    int refused = 0;
    for (int i = 0; i < 16; i++) {
      refused += take(new Reader(false, "org" + i), "of" + i + "-") == 0 ? 1 : 0;
    }
    assertTrue(begins(new Reader(false, "org0"), "of0-0"), "what it reads, it may read again");
    assertThrows(ApiException.class, () -> shares.begin(new Reader(false, "org0"), "another"));
    assertTrue(refused < 16 - 4, refused + " of 16 got nothing");
  }

  @Test
  void aFileIsHeldOnceHoweverManyReadIt() {
    for (int i = 0; i < 1_000; i++) {
      shares.begin(new Reader(true, "address" + i), "popular");
    }
    assertTrue(begins(new Reader(true, "one more"), "another"));
    assertTrue(begins(ACME, "mine"));
  }

  private List<String> takeOften(Reader reader, String key) {
    List<String> held = new ArrayList<>();
    try {
      while (held.size() < 100) {
        held.add(counting.begin(reader, key));
      }
    } catch (ApiException refused) {
      assertEquals(ErrorCode.OVERLOADED, refused.code());
    }
    return held;
  }

  @Test
  void whereReadingsAreNotSharedWhoReadsOneFileOftenLeavesRoomForOthers() {
    List<String> held = takeOften(ACME, "popular");
    assertEquals(8, held.size());
    assertEquals(4, takeOften(GLOBEX, "popular").size());
    held.forEach(one -> counting.end(ACME, one));
    assertEquals(6, takeOften(ACME, "popular").size());
  }

  @Test
  void whereReadingsAreNotSharedAnonymousReadersOfOneFileTogetherHoldHalf() {
    List<String> held = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      held.addAll(takeOften(new Reader(true, "address" + i), "popular"));
    }
    assertEquals(8, held.size());
    assertEquals(4, takeOften(ACME, "popular").size());
  }

  @Test
  void anonymousReadersTogetherHoldHalf() {
    int taken = 0;
    for (int i = 0; i < 100; i++) {
      taken += begins(new Reader(true, "address" + i), "file" + i) ? 1 : 0;
    }
    assertEquals(8, taken);
    assertEquals(4, take(ACME, "a"));
  }

  @Test
  void whateverIsBegunAndEndedInTheEndAllIsFree() {
    record Held(Reader reader, String key) {}
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<Held> held = new ArrayList<>();
    for (int step = 0; step < 20_000; step++) {
      if (random.nextInt(3) > 0) {
        Held one =
            new Held(
                new Reader(random.nextBoolean(), "r" + random.nextInt(5)),
                "k" + random.nextInt(30));
        if (begins(one.reader, one.key)) {
          held.add(one);
        }
      } else if (!held.isEmpty()) {
        Held one = held.remove(random.nextInt(held.size()));
        shares.end(one.reader, one.key);
      }
      Set<String> open = new HashSet<>();
      held.forEach(one -> open.add(one.key));
      assertTrue(open.size() <= 16, "seed " + seed);
    }
    held.forEach(one -> shares.end(one.reader, one.key));
    assertEquals(8, take(ACME, "a"), "seed " + seed);
  }
}
