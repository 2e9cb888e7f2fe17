package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.CommandRun;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are refused, and stores that are not imported to or read. */
@OneEngine("Each test has a store of either engine.")
class ImportTest extends MoveFixture {
  /** A store no command has touched. */
  ImportTest(@TempDir Path folder) {
    super(folder);
  }

  private Path written(String name, List<String> lines) throws Exception {
    return Files.write(folder.resolve(name), lines);
  }

  /** The busy export with a change in one line, the first that contains a text. */
  private Path altered(String holding, UnaryOperator<String> change) throws Exception {
    List<String> lines = new ArrayList<>(Files.readAllLines(busy));
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).contains(holding)) {
        lines.set(i, change.apply(lines.get(i)));
        return written("altered.ndjson", lines);
      }
    }
    throw new AssertionError("no line with " + holding);
  }

  /** Both engines refuse the file with this message, and stay empty. */
  private void assertRefused(Path file, String said) throws Exception {
    for (List<String> store : List.of(newSqlite(), newPostgres())) {
      String refusal = CommandRun.on(store, "import", file.toString()).refused();
      assertTrue(refusal.contains(said), refusal);
      CommandRun.on(store, "import", busy.toString()).succeeded();
    }
  }

  @Test
  void aFileThatIsMissingIsRefused() throws Exception {
    assertRefused(folder.resolve("none"), "none: there is no such file or folder");
  }

  @Test
  void aFileThatIsNoExportIsRefused() throws Exception {
    assertRefused(written("a.txt", List.of("hello")), "is not an export of bourse");
    assertRefused(written("b.txt", List.of("{}")), "is not an export of bourse");
  }

  @Test
  void aFileThatIsNotCompressedAsItsNameSaysIsRefused() throws Exception {
    assertRefused(written("busy.gz", Files.readAllLines(busy)), "is not compressed by gzip");
  }

  @Test
  void aFileThatIsCutShortIsRefusedWhereverItIsCut() throws Exception {
    byte[] whole = Files.readAllBytes(busy);
    String last = Files.readAllLines(busy).get(Files.readAllLines(busy).size() - 1);
    Path cut = folder.resolve("cut");
    for (int length : List.of(50, whole.length / 2, whole.length - last.length() - 1)) {
      Files.write(cut, Arrays.copyOf(whole, length));
      assertRefused(cut, "is cut short");
    }
    Path compressed = folder.resolve("cut.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(compressed))) {
      out.write(whole);
    }
    byte[] packed = Files.readAllBytes(compressed);
    Files.write(compressed, Arrays.copyOf(packed, packed.length / 2));
    assertRefused(compressed, "is cut short after row ");
  }

  @Test
  void aRowThatWasChangedIsNamed() throws Exception {
    assertRefused(
        altered("Globex", line -> line.replace("Globex", "Globes")),
        "is damaged in row 2 of table org: it was changed after the export");
  }

  @Test
  void aRowThatIsMissingIsNamed() throws Exception {
    List<String> lines = new ArrayList<>(Files.readAllLines(busy));
    lines.removeIf(line -> line.contains("Globex"));
    assertRefused(
        written("fewer.ndjson", lines), "is damaged in row 2 of table org: row 3 is in its place");
  }

  @Test
  void aTableWithAnotherChecksumIsRefused() throws Exception {
    assertRefused(
        altered(
            "\"end_of_table\":\"org\"", line -> line.replaceAll("[0-9a-f]{64}", "0".repeat(64))),
        "the rows of table org have another checksum");
  }

  @Test
  void aFileOfAnotherSchemaOrFormatIsRefused() throws Exception {
    assertRefused(
        altered("bourse_export", line -> line.replaceAll("\"schema\":\\d+", "\"schema\":999")),
        "is of schema version 999, this program's is ");
    assertRefused(
        altered(
            "bourse_export", line -> line.replace("\"bourse_export\":1", "\"bourse_export\":2")),
        "has format 2; this program reads format 1");
  }

  @Test
  void aTableThisProgramDoesNotKnowIsRefused() throws Exception {
    List<String> lines = new ArrayList<>(Files.readAllLines(busy));
    lines.set(0, lines.get(0).replace("\"tables\":[", "\"tables\":[\"later\","));
    lines.add(1, "{\"table\":\"later\",\"rows\":0,\"columns\":{}}");
    assertRefused(
        written("later.ndjson", lines), "has a table later, which this program does not know");
  }

  @Test
  void aStoreThatHoldsRowsIsNotImportedInto() throws Exception {
    for (List<String> store : List.of(newSqlite(), newPostgres())) {
      CommandRun.on(store, "import", busy.toString()).succeeded();
      String refusal = CommandRun.on(store, "import", busy.toString()).refused();
      assertTrue(refusal.contains(" is not empty; rows: "), refusal);
      assertTrue(refusal.contains("org 3"), refusal);
    }
  }

  @Test
  void aStoreThatIsServedFromIsLeftAlone() throws Exception {
    try (RunningBourse bourse = RunningBourse.demo()) {
      List<String> store = List.of("--data", bourse.data().toString());
      for (CommandRun run :
          List.of(
              CommandRun.on(store, "export", folder.resolve("x").toString()),
              CommandRun.on(store, "import", busy.toString()),
              CommandRun.on(store, "migrate"))) {
        assertTrue(run.refused().endsWith("is already open in this process"), run.err());
      }
      CommandRun.on(store, "migrate", "--check").succeeded();
    }
    String url = "store.url=" + SharedPostgres.server().newDatabase();
    try (RunningBourse bourse = RunningBourse.demo(url)) {
      String refusal = CommandRun.of("import", "--set", url, busy.toString()).refused();
      assertTrue(refusal.contains("of a running bourse use postgres://"), refusal);
    }
  }

  @Test
  void aNewerStoreIsRefusedByEveryCommand() throws Exception {
    Path data = Files.createTempDirectory(folder, "newer");
    List<String> store = List.of("--data", data.toString());
    CommandRun.on(store, "migrate").succeeded();
    sqlite(data, "INSERT INTO migration VALUES (999, 'future', 'x', 0, NULL)");
    for (CommandRun run :
        List.of(
            CommandRun.on(store, "migrate"),
            CommandRun.on(store, "migrate", "--check"),
            CommandRun.on(store, "export", folder.resolve("x").toString()),
            CommandRun.on(store, "import", busy.toString()))) {
      assertTrue(run.refused().contains("the store is newer than this program"), run.err());
    }
    assertFalse(Files.exists(folder.resolve("x")));
  }

  @Test
  void aServerThatIsAwayIsRefused() {
    List<String> store = List.of("--set", "store.url=postgres://nobody@127.0.0.1:1/none");
    for (CommandRun run :
        List.of(
            CommandRun.on(store, "migrate"),
            CommandRun.on(store, "migrate", "--check"),
            CommandRun.on(store, "export", folder.resolve("x").toString()),
            CommandRun.on(store, "import", busy.toString()))) {
      assertTrue(
          run.refused().contains("postgres://nobody@127.0.0.1:1/none cannot be used"), run.err());
    }
  }

  @Test
  void anExportThatDoesNotFitIsRefused() throws Exception {
    List<String> store = newSqlite();
    CommandRun.on(store, "import", busy.toString()).succeeded();
    String refusal = CommandRun.on(store, "export", "/dev/full").refused();
    assertEquals("bourse export: /dev/full cannot be written: No space left on device", refusal);
    refusal = CommandRun.on(store, "export", folder.resolve("no/x").toString()).refused();
    assertTrue(refusal.contains("there is no such file or folder"), refusal);
  }

  @Test
  void aStoreThatIsNotThereIsNotExported() throws Exception {
    String refusal =
        CommandRun.of("export", "x", "--data", folder.resolve("none").toString()).refused();
    assertTrue(refusal.contains("no store at "), refusal);
    assertFalse(Files.exists(folder.resolve("none")));
  }
}
