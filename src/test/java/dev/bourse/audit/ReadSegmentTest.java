package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Ids;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The bytes of segments. */
class ReadSegmentTest {
  private static final long T0 = 1_700_000_000_000L;

  private static String text(Random random) {
    int length = random.nextInt(4) == 0 ? random.nextInt(300) : random.nextInt(6);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.appendCodePoint(
          random.nextInt(5) == 0 ? 0x1f600 + random.nextInt(9) : random.nextInt(0x500));
    }
    return text.toString();
  }

  /** Entries with arbitrary texts, times and distances between ids. */
  private static List<TrailEntry> any(Random random) {
    List<String> texts = new ArrayList<>(List.of(""));
    for (int i = random.nextInt(40); i > 0; i--) {
      texts.add(text(random));
    }
    List<TrailEntry> entries = new ArrayList<>();
    long id = random.nextInt(3) == 0 ? 0 : random.nextLong() >>> 2;
    for (int i = 1 + random.nextInt(300); i > 0; i--) {
      entries.add(
          new TrailEntry(
              id,
              random.nextInt(9) == 0 ? random.nextLong() : T0 + random.nextInt(100),
              texts.get(random.nextInt(texts.size())),
              texts.get(random.nextInt(texts.size())),
              texts.get(random.nextInt(texts.size())),
              texts.get(random.nextInt(texts.size()))));
      id += 1 + (random.nextInt(9) == 0 ? random.nextInt(Integer.MAX_VALUE) : 0);
    }
    return entries;
  }

  @Test
  void whatIsDecodedIsWhatWasEncoded() {
    for (int seed = 0; seed < 500; seed++) {
      List<TrailEntry> entries = any(new Random(seed));
      assertEquals(
          entries,
          ReadSegment.decode(entries.get(0).id(), ReadSegment.encode(entries)),
          "seed " + seed);
    }
  }

  @Test
  void everyActorOfASegmentIsFoundAndFewOthersSeemToBeThere() {
    int wrong = 0;
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      List<TrailEntry> entries = tokens(random, 1 + random.nextInt(1_000), 1_000);
      ActorFilter filter = ActorFilter.of(entries);
      entries.forEach(e -> assertTrue(filter.mayHave(e.actor())));
      for (int i = 0; i < 100; i++) {
        wrong += filter.mayHave("token:" + Ids.base62(random, 12)) ? 1 : 0;
      }
    }
    assertTrue(wrong < 200 * 100 / 20, wrong + " of 20,000");
  }

  @Test
  void damagedBytesAreRefused() {
    Random random = new Random(5);
    List<TrailEntry> entries = tokens(random, 20, 200);
    byte[] sound = ReadSegment.encode(entries);
    for (int length = 0; length < sound.length; length++) {
      byte[] cut = Arrays.copyOf(sound, length);
      assertThrows(ReadSegment.DamagedSegmentException.class, () -> ReadSegment.decode(1, cut));
    }
    for (int i = 0; i < 5_000; i++) {
      byte[] changed = sound.clone();
      changed[random.nextInt(changed.length)] ^= (byte) (1 + random.nextInt(255));
      try {
        assertEquals(entries, ReadSegment.decode(entries.get(0).id(), changed));
      } catch (ReadSegment.DamagedSegmentException refused) {
        assertTrue(String.valueOf(refused.getMessage()).startsWith("it"), refused.getMessage());
      }
    }
  }

  @Test
  void idsThatOthersTookAreSkipped() {
    List<TrailEntry> entries = tokens(new Random(1), 3, 6);
    assertEquals(entries, ReadSegment.skipping(entries, ""));
    assertEquals(
        List.of(1L, 2L, 5L, 6L, 16L, 17L),
        ReadSegment.skipping(entries, "2:2,4:9").stream().map(TrailEntry::id).toList());
    for (String unknown : List.of("x", "2", "2:", ":2", "2:2,", "6:1", "-1:1")) {
      assertThrows(
          ReadSegment.DamagedSegmentException.class,
          () -> ReadSegment.skipping(entries, unknown),
          unknown);
    }
  }

  @Test
  void aHotTokensEntryTakesTwoBytesAndAScatteredOnesEighteen() {
    assertTrue(bytesEach(tokens(new Random(1), 1, 500)) < 2);
    // 5,000 tokens, of which a segment has some 900.
    assertTrue(bytesEach(tokens(new Random(2), 5_000, 1_000)) < 18);
  }

  private static double bytesEach(List<TrailEntry> entries) {
    ActorFilter filter = ActorFilter.of(entries);
    return (ReadSegment.encode(entries).length + filter.bytes().length) / (double) entries.size();
  }

  /** Reads of this many tokens, about a millisecond apart. */
  private static List<TrailEntry> tokens(Random random, int tokens, int count) {
    List<String> actors = new ArrayList<>();
    for (int i = 0; i < tokens; i++) {
      actors.add("token:" + Ids.base62(random, 12));
    }
    List<TrailEntry> entries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      entries.add(
          new TrailEntry(
              1 + i,
              T0 + i / 10,
              actors.get(random.nextInt(tokens)),
              "vm_capacity_get",
              "cluster-training-main-" + random.nextInt(tokens == 1 ? 1 : 7),
              ""));
    }
    return entries;
  }
}
