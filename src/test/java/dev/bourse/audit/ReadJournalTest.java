package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.testing.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of audited reads that the store has not taken. */
@SuppressWarnings("NullAway.Init") // JUnit gives the folder.
class ReadJournalTest {
  private static final String DETAIL = "Łódź 🚀 detail";

  @TempDir Path data;
  private final FakeClock clock = new FakeClock(System.currentTimeMillis());

  private Path folder() {
    return data.resolve("reads");
  }

  private ReadJournal journal(String name) {
    return new ReadJournal(folder(), name, clock);
  }

  static ReadJournal.Batch batch(int number) {
    return new ReadJournal.Batch(
        "arb_" + number,
        IntStream.range(0, 100)
            .mapToObj(
                i -> new AuditRow(number, "acme", "token:t" + i, "vm_capacity_get", "c", DETAIL))
            .toList());
  }

  private static List<String> drain(ReadJournal journal) throws IOException {
    List<String> ids = new ArrayList<>();
    for (List<ReadJournal.Batch> some = journal.oldest(3);
        !some.isEmpty();
        some = journal.oldest(3)) {
      some.forEach(batch -> ids.add(batch.id()));
      journal.drop(some.size());
    }
    return ids;
  }

  private List<Path> files() throws IOException {
    if (!Files.exists(folder())) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(folder())) {
      return all.toList();
    }
  }

  @Test
  void batchesComeBackAsTheyWereInTheirOrder() throws Exception {
    try (ReadJournal journal = journal("a")) {
      journal.append(List.of(batch(1), batch(2)));
      assertEquals(List.of(batch(1)), journal.oldest(1));
      journal.append(List.of(batch(3), batch(4)));
      assertEquals(List.of(batch(1), batch(2), batch(3), batch(4)), journal.oldest(9));
      assertEquals(List.of("arb_1", "arb_2", "arb_3", "arb_4"), drain(journal));
      assertFalse(journal.mayHoldBatches());
      assertEquals(0, journal.bytes());
      assertEquals(List.of(), files());
      journal.append(List.of(batch(5)));
      assertEquals(List.of("arb_5"), drain(journal));
    }
  }

  @Test
  void onlyTheOwnerOfTheServiceReadsTheFiles() throws Exception {
    try (ReadJournal journal = journal("a")) {
      journal.append(List.of(batch(1)));
      assertEquals(
          "rw-------",
          PosixFilePermissions.toString(Files.getPosixFilePermissions(files().get(0))));
      assertEquals(
          "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder())));
    }
  }

  @Test
  void aBatchThatWasBeingAppendedIsCutAndTheWholeOnesStay() throws Exception {
    try (ReadJournal journal = journal("a")) {
      journal.append(List.of(batch(1), batch(2)));
    }
    byte[] whole = Files.readAllBytes(files().get(0));
    for (int missing : new int[] {1, 9, 200}) {
      Files.write(files().get(0), java.util.Arrays.copyOf(whole, whole.length - missing));
      try (ReadJournal next = journal("b" + missing)) {
        assertEquals(List.of(batch(1)), next.oldest(9));
      }
    }
    whole[whole.length - 1] ^= 1;
    Files.write(files().get(0), whole);
    try (ReadJournal next = journal("c")) {
      assertEquals(List.of("arb_1"), drain(next), "one of its bytes is another");
    }
    assertEquals(1, files().size(), "a copy of the damaged file");
  }

  @Test
  void aDamagedBatchCostsNoOther() throws Exception {
    try (ReadJournal journal = journal("a")) {
      for (int i = 1; i <= 10; i++) {
        journal.append(List.of(batch(i)));
      }
    }
    Path file = files().get(0);
    byte[] whole = Files.readAllBytes(file);
    for (int at : new int[] {100, whole.length / 2}) {
      byte[] flipped = whole.clone();
      flipped[at] ^= 1;
      Files.write(file, flipped);
      try (ReadJournal next = journal("b" + at)) {
        assertEquals(9, drain(next).size(), "a bit flipped at " + at);
        assertFalse(next.mayHoldBatches());
      }
    }
  }

  /** Simulates a power failure on a file system that had extended the file already. */
  @Test
  void aTailOfZeroesIsNoBatch() throws Exception {
    try (ReadJournal journal = journal("a")) {
      journal.append(List.of(batch(1)));
    }
    Path file = files().get(0);
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, java.util.Arrays.copyOf(whole, whole.length + 4_096));
    try (ReadJournal next = journal("b")) {
      next.append(List.of(batch(2)));
      assertEquals(List.of("arb_1", "arb_2"), drain(next));
    }
  }

  @Test
  void aFileThatWasBeingBegunHoldsNothing() throws Exception {
    Files.createDirectories(folder());
    Files.write(folder().resolve("dead.1.reads"), new byte[4]);
    try (ReadJournal journal = journal("a")) {
      assertEquals(List.of(), drain(journal));
    }
    assertEquals(List.of(), files());
  }

  @Test
  void filesOfLiveProcessesAndOfUnknownFormatsAreLeft() throws Exception {
    try (ReadJournal other = journal("other")) {
      other.append(List.of(batch(1)));
      Files.writeString(folder().resolve("later.1.reads"), "bourse reads 2\nof a later release");
      try (ReadJournal journal = journal("a")) {
        assertEquals(List.of(), drain(journal));
      }
      assertEquals(2, files().size());
      assertEquals(List.of("arb_1"), drain(other));
    }
  }

  @Test
  void aFileThatIsOlderThanTheMarksOfItsBatchesIsLeft() throws Exception {
    try (ReadJournal journal = journal("a")) {
      journal.append(List.of(batch(1)));
    }
    clock.advance(AuditedReads.MARKS_KEPT.minus(Duration.ofHours(23)).toMillis());
    try (ReadJournal next = journal("b")) {
      assertEquals(List.of(), drain(next));
    }
    assertEquals(1, files().size());
  }

  @Test
  void pastItsBoundNothingOfWhatIsAppendedIsThere() throws Exception {
    try (ReadJournal journal = new ReadJournal(folder(), "a", 2_000, clock)) {
      journal.append(List.of(batch(1)));
      assertThrows(
          ReadJournal.JournalFullException.class,
          () -> {
            for (int i = 2; i < 100; i++) {
              journal.append(List.of(batch(2), batch(3)));
            }
          });
      assertTrue(Files.size(files().get(0)) <= 2_000);
      List<String> ids = drain(journal);
      assertEquals(1, ids.size() % 2, ids::toString);
      journal.append(List.of(batch(4)));
      assertEquals(List.of("arb_4"), drain(journal), "what is stored makes room");
    }
  }

  @Test
  void aLongOutageFillsFilesThatGoOneByOne() throws Exception {
    List<AuditRow> rows = new ArrayList<>();
    java.util.Random random = new java.util.Random(1);
    for (int i = 0; i < 1_024; i++) {
      byte[] noise = new byte[1_000];
      random.nextBytes(noise);
      rows.add(
          new AuditRow(i, "acme", "t", "a", "s", new String(noise, StandardCharsets.ISO_8859_1)));
    }
    try (ReadJournal journal = journal("a")) {
      for (int i = 0; i < 20; i++) {
        journal.append(List.of(new ReadJournal.Batch("arb_" + i, rows)));
      }
      int all = files().size();
      assertTrue(all > 1, "files: " + all);
      for (int i = 0; i < 10; i++) {
        assertEquals("arb_" + i, journal.oldest(1).get(0).id());
        journal.drop(1);
      }
      assertTrue(files().size() < all);
      assertEquals(10, drain(journal).size());
      assertEquals(List.of(), files());
    }
  }

  /** Appends and is killed during an append. */
  static final class Writer {
    private Writer() {}

    public static void main(String[] args) throws Exception {
      try (ReadJournal journal = new ReadJournal(Path.of(args[0]), "killed", Clock.systemUTC())) {
        for (int i = 0; ; i++) {
          journal.append(List.of(batch(i)));
          System.out.println(i);
        }
      }
    }
  }

  @Test
  void whatWasAppendedOutlivesAKill() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ChildJvm.FLAGS);
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            Writer.class.getName(),
            folder().toString()));
    Process writer =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    int told = -1;
    try (BufferedReader lines = writer.inputReader()) {
      while (told < 20) {
        told = Integer.parseInt(lines.readLine());
      }
      try (ReadJournal beside = journal("beside")) {
        assertEquals(List.of(), beside.oldest(9), "it lives");
      }
    } finally {
      writer.destroyForcibly().waitFor();
    }
    try (FileChannel torn = FileChannel.open(files().get(0), StandardOpenOption.APPEND)) {
      torn.write(ByteBuffer.wrap(new byte[3]));
    }
    try (ReadJournal next = journal("next")) {
      List<String> ids = drain(next);
      assertTrue(ids.size() > told, ids.size() + " of " + told);
      assertEquals(IntStream.range(0, ids.size()).mapToObj(i -> "arb_" + i).toList(), ids);
    }
  }
}
