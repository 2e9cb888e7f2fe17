package dev.bourse.app;

import static dev.bourse.app.RunningBourse.await;
import static dev.bourse.app.RunningBourse.newFolder;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.store.PostgresServer;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An operator moves a service from one store to another, and back, with nothing lost. */
@OneEngine("Each test has a store of either engine.")
class MoveTest {
  /** So many that an import of them is still going on when it is killed. */
  private static final int MANY_ROWS = 400_000;

  private static PostgresServer server;

  /** What the demo world of one test became, exported; other tests only read it. */
  private static Path busy;

  private final Path folder;

  MoveTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    server = PostgresServer.start(folder.resolve("pg"), Map.of());
    busy = folder.resolve("busy.ndjson");
    Path data = newFolder();
    try (RunningBourse bourse = RunningBourse.over(data)) {
      keepBusy(bourse);
      bourse.stop();
      CommandRun.of("export", busy.toString(), "--data", data.toString()).succeeded();
    }
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  /** Grants, a swap, a release, keys, declarations and reads, of two organizations. */
  private static void keepBusy(RunningBourse bourse) {
    Desk train = train(bourse);
    List<String> held = train.hold(3, 4.0);
    train.swap(held.get(1)).ok();
    RunningBourse.until(
        "the swap is over",
        () -> !train.active().contains(held.get(1)) && train.active().size() == 3);
    train.declare(2, 3.5);
    train.untilHeld(2);
    Desk other = new Desk(bourse.as("globex", "bound"), "globex", "globex-main");
    other.hold(1, 2.25);
    other.activity();
    for (int i = 0; i < 20; i++) {
      train.activity();
    }
  }

  private static Desk train(RunningBourse bourse) {
    return new Desk(bourse.as("acme", "bound"), "acme", "acme-train");
  }

  /** What clients see of the cluster: its state, its trail, its organization's keys. */
  private static List<JsonObject> seen(RunningBourse bourse) {
    Desk desk = train(bourse);
    return List.of(
        desk.state(),
        desk.caller().get("/api/vm/activity?cluster=" + desk.cluster()).ok(),
        desk.caller().get("/api/vm/orgs/acme/ssh-keys").ok());
  }

  /** What the history tells of five minutes ago: nodes declared and granted, price declared. */
  private static List<Object> history(RunningBourse bourse) {
    Desk desk = train(bourse);
    JsonObject told = desk.caller().get("/api/vm/history?hours=0.5&cluster=" + desk.cluster()).ok();
    int bucket = told.getJsonArray("granted").size() - 5;
    return List.of(
        told.getJsonArray("max_nodes").getValue(bucket),
        told.getJsonArray("granted").getValue(bucket),
        told.getJsonArray("max_price").getValue(bucket));
  }

  /** Every audit row of the organization that the first store had, in the order of the ids. */
  private static void assertGoesOnWith(RunningBourse bourse, List<AuditRow> before) {
    List<AuditRow> now = bourse.audit("acme", false);
    assertEquals(before, now.subList(0, before.size()));
    assertEquals(before.size() + 1, now.size());
  }

  private static long lastId(RunningBourse bourse, String table) {
    return await(
            bourse
                .service()
                .database()
                .read("SELECT MAX(id) FROM " + table, List.of(), row -> row.integer(0)))
        .get(0);
  }

  @Test
  void aBusyServiceMovesToPostgresAndBack() throws Exception {
    Path data = newFolder();
    Path export = folder.resolve("bourse.ndjson.gz");
    List<JsonObject> before;
    List<AuditRow> trail;
    long lastAudit;
    long lastActivity;
    try (RunningBourse bourse = RunningBourse.over(data)) {
      keepBusy(bourse);
      bourse.stop();
      // As if it had been ten minutes ago, so that the history has something to tell.
      sqlite(data, "UPDATE activity SET ts = ts - 600000");
      sqlite(
          data,
          "UPDATE allocation SET granted_at = granted_at - 600000,"
              + " reclaim_at = reclaim_at - 600000, gone_at = gone_at - 600000");
      String first =
          CommandRun.of("export", export.toString(), "--data", data.toString()).succeeded();
      String again =
          CommandRun.of("export", export.toString(), "--data", data.toString()).succeeded();
      assertEquals(first, again);
      RunningBourse asBefore = RunningBourse.over(data);
      before = seen(asBefore);
      List<Object> history = history(asBefore);
      assertEquals(List.of(2, 2, 28.0), history);
      trail = asBefore.audit("acme", false);
      lastAudit = lastId(asBefore, "audit");
      lastActivity = lastId(asBefore, "activity");
      asBefore.stop();
      String last =
          CommandRun.of("export", export.toString(), "--data", data.toString()).succeeded();

      String url = "store.url=" + server.newDatabase();
      String imported =
          CommandRun.of("import", export.toString(), "--data", data.toString(), "--set", url)
              .succeeded();
      assertTrue(imported.startsWith(last), imported + "\n" + last);
      assertTrue(imported.contains("read back, the same"), imported);

      RunningBourse moved = RunningBourse.over(data, url);
      assertEquals(before, seen(moved));
      assertEquals(history, history(moved));
      train(moved).declare(2, 3.25);
      assertGoesOnWith(moved, trail);
      assertTrue(lastId(moved, "audit") > lastAudit);
      assertTrue(lastId(moved, "activity") > lastActivity);

      // The service goes on meanwhile: the export is of one moment.
      Path back = folder.resolve("back.ndjson");
      CommandRun.of("export", back.toString(), "--data", data.toString(), "--set", url).succeeded();
      List<JsonObject> onPostgres = seen(moved);
      trail = moved.audit("acme", false);
      moved.stop();
      String ofPostgres =
          CommandRun.of("export", back.toString(), "--data", data.toString(), "--set", url)
              .succeeded();

      Path home = newFolder();
      imported = CommandRun.of("import", back.toString(), "--data", home.toString()).succeeded();
      assertTrue(imported.startsWith(ofPostgres), imported + "\n" + ofPostgres);
      Files.copy(data.resolve("demo.json"), home.resolve("demo.json"));
      try (RunningBourse returned = RunningBourse.over(home)) {
        assertEquals(onPostgres, seen(returned));
        assertEquals(history, history(returned));
        train(returned).declare(2, 3.0);
        assertGoesOnWith(returned, trail);
      }
    }
  }

  @Test
  void migrateTellsWhatItAppliesAndCheckChangesNothing() throws Exception {
    String url = "store.url=" + server.newDatabase();
    for (List<String> store :
        List.of(List.of("--data", folder.resolve("new").toString()), List.of("--set", url))) {
      CommandRun check = CommandRun.on(store, "migrate", "--check");
      assertEquals(3, check.code(), check.err());
      assertTrue(check.out().startsWith("pending 0001 exchange"), check.out());
      assertTrue(check.out().contains(" is at version 0, this program's is "), check.out());
      assertFalse(Files.exists(folder.resolve("new")), "looking created a folder");
      String applied = CommandRun.on(store, "migrate").succeeded();
      assertTrue(applied.startsWith("applied 0001 exchange"), applied);
      String again = CommandRun.on(store, "migrate", "--check").succeeded();
      assertEquals(1, again.lines().count(), again);
      CommandRun.on(store, "migrate").succeeded();
      remove(folder.resolve("new"));
    }
  }

  private static void remove(Path data) throws Exception {
    if (Files.exists(data)) {
      try (Stream<Path> files = Files.list(data)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(data);
    }
  }

  /** A store no command has touched. */
  private List<String> newSqlite() throws Exception {
    return List.of("--data", Files.createTempDirectory(folder, "data").toString());
  }

  private static List<String> newPostgres() throws Exception {
    return List.of("--set", "store.url=" + server.newDatabase());
  }

  private Path written(String name, List<String> lines) throws Exception {
    return Files.write(folder.resolve(name), lines);
  }

  /** The busy export with one line, the first that holds a text, put in other words. */
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

  /** Both engines refuse the file, saying so, and are as empty afterwards as before. */
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
    String url = "store.url=" + server.newDatabase();
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
    sqlite(data, "INSERT INTO migration VALUES (999, 'future', 'x', 0)");
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
    assertTrue(refusal.contains("there is no store "), refusal);
    assertFalse(Files.exists(folder.resolve("none")));
  }

  private static void sqlite(Path data, String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + data + "/bourse.db");
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  @Test
  void anImportThatIsKilledLeavesNothing() throws Exception {
    Path data = Files.createTempDirectory(folder, "many");
    List<String> many = List.of("--data", data.toString());
    CommandRun.on(many, "migrate").succeeded();
    sqlite(
        data,
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < "
            + MANY_ROWS
            + ") INSERT INTO audit SELECT i, i, 'acme', 'token:x', 'read', 'acme-train', '', 1 FROM n");
    Path export = folder.resolve("many.ndjson");
    CommandRun.on(many, "export", export.toString()).succeeded();
    for (List<String> store : List.of(newSqlite(), newPostgres())) {
      Process child = child(store, export);
      try (BufferedReader progress = child.errorReader(StandardCharsets.UTF_8)) {
        String line = progress.readLine();
        // Newer JVMs warn of the driver's native code where no jar's manifest permits it.
        while (line != null && (line.isEmpty() || line.startsWith("WARNING: "))) {
          line = progress.readLine();
        }
        assertTrue(line != null && line.startsWith("importing audit: "), line);
        child.destroyForcibly();
        assertTrue(child.waitFor(30, TimeUnit.SECONDS));
      }
      RunningBourse.until(
          "the server has noticed",
          () -> CommandRun.on(store, "import", busy.toString()).code() == 0);
    }
  }

  private static Process child(List<String> store, Path file) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName(),
                "import",
                file.toString()));
    command.addAll(store);
    return new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
  }
}
