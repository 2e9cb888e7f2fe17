package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.newFolder;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildJvm;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.CommandRun;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.SetsFixture;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.Slow;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store moves between engines without losses. */
@OneEngine("Each test has a store of either engine.")
class MoveTest extends MoveFixture {
  /** Enough rows that an import is still running when it is killed. */
  private static final int MANY_ROWS = 400_000;

  MoveTest(@TempDir Path folder) {
    super(folder);
  }

  /** The cluster as clients see it: its state, its trail, its organization's keys. */
  private static List<JsonObject> seen(RunningBourse bourse) {
    ClusterClient client = train(bourse);
    return List.of(
        client.withoutPrices(),
        client.caller().get("/api/vm/activity?cluster=" + client.cluster()).ok(),
        client.caller().get("/api/vm/orgs/acme/ssh-keys").ok());
  }

  /** The history of five minutes ago: nodes declared and granted, price declared. */
  private static List<Object> history(RunningBourse bourse) {
    ClusterClient client = train(bourse);
    JsonObject series =
        client.caller().get("/api/vm/history?hours=0.5&cluster=" + client.cluster()).ok();
    int bucket = series.getJsonArray("granted").size() - 5;
    return List.of(
        series.getJsonArray("max_nodes").getValue(bucket),
        series.getJsonArray("granted").getValue(bucket),
        series.getJsonArray("max_price").getValue(bucket));
  }

  /**
   * Every audit row of the organization in the first store, in the order of ids, is in the new one.
   */
  private static void assertGoesOnWith(RunningBourse bourse, List<AuditRow> before) {
    List<AuditRow> now = bourse.audit("acme", false);
    assertEquals(before, now.subList(0, before.size()));
    assertEquals(before.size() + 1, now.size());
  }

  private static long lastId(RunningBourse bourse, String table) {
    return await(
            bourse
                .database()
                .read(
                    "SELECT MAX(id) AS most FROM " + table, List.of(), row -> row.integer("most")))
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
      // Moved to ten minutes ago, so that the history has entries.
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

      String url = "store.url=" + SharedPostgres.server().newDatabase();
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

      // The service continues: the export is of one moment.
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

  /** Asserts that a reader of any process gets the bytes of a set's files. */
  private static void assertReadable(RunningBourse bourse, String id, Map<String, byte[]> files) {
    files.forEach(
        (path, bytes) ->
            assertArrayEquals(
                bytes,
                bourse
                    .as("acme", "orgwide")
                    .fetch("GET", FilesFixture.item(id) + "/files/" + FilesFixture.sha256(bytes))
                    .body(),
                path));
  }

  private static HttpAnswer send(
      RunningBourse bourse, String session, byte[] bytes, int from, int to) {
    return bourse
        .with(null)
        .sendBytes(
            "PUT",
            session,
            Arrays.copyOfRange(bytes, from, to),
            "Content-Range",
            "bytes " + from + '-' + (to - 1) + '/' + bytes.length);
  }

  @Test
  void setsAndUploadsInAnObjectStoreMoveToPostgresAndBack() throws Exception {
    S3Server objects = S3Server.s3proxy();
    String bucket = objects.newBucket();
    Path data = newFolder();
    Path export = folder.resolve("sets.ndjson");
    Map<String, byte[]> files =
        SetsFixture.folder(
            "a/0.bin", FilesFixture.bytes(300_000, 1), "b.bin", FilesFixture.bytes(700, 2));
    byte[] upload = FilesFixture.bytes(200_000, 3);
    String former = "checkpoints.former-store=local";
    RunningBourse disk = RunningBourse.over(data);
    String onDisk =
        FilesFixture.publish(
                disk.asMember("acme", "alice"), FilesFixture.freshName(), upload, "org")
            .getString("id");
    try (RunningBourse bourse = disk.restartedWith(objects.settings(bucket, former))) {
      ApiClient alice = bourse.asMember("acme", "alice");
      String set =
          SetsFixture.publish(alice, FilesFixture.freshName(), files, "org").getString("id");
      String session =
          FilesFixture.path(
              FilesFixture.announce(
                      alice,
                      FilesFixture.publication(FilesFixture.freshName(), upload, "org")
                          .put("upload", "resumable"))
                  .getString("session_url"));
      assertEquals(308, send(bourse, session, upload, 0, 90_000).status());
      bourse.stop();

      String url = "store.url=" + SharedPostgres.server().newDatabase();
      String store = "s3://" + bucket + "/bourse/";
      String places = ": 3 in " + store + ", 1 in the folder checkpoints of a data folder";
      moves(export, List.of("--data", data.toString()), List.of("--set", url), places, store);
      RunningBourse moved = RunningBourse.over(data, objects.settings(bucket, url, former));
      assertReadable(moved, set, files);
      assertArrayEquals(
          upload, moved.as("acme", "orgwide").fetch("GET", FilesFixture.content(onDisk)).body());
      send(moved, session, upload, 90_000, upload.length).ok();
      moved.stop();

      Path home = newFolder();
      moves(export, List.of("--set", url), List.of("--data", home.toString()), places, store);
      Files.copy(data.resolve("demo.json"), home.resolve("demo.json"));
      try (RunningBourse back = RunningBourse.over(home, objects.settings(bucket))) {
        assertReadable(back, set, files);
        back.with(null).sendBytes("PUT", session, new byte[0], "Content-Range", "bytes */*").ok();
      }
    }
  }

  /**
   * Exports one store and imports it into the other: the sums are equal, and so are the bytes
   * outside of it.
   */
  private static void moves(
      Path export, List<String> from, List<String> to, String places, String store)
      throws Exception {
    CommandRun exported = CommandRun.on(from, "export", export.toString());
    CommandRun imported = CommandRun.on(to, "import", export.toString());
    String sums = exported.succeeded();
    assertTrue(imported.succeeded().startsWith(sums), imported + "\n" + sums);
    assertTrue(sums.contains("blob_piece") && sums.contains("checkpoint_file"), sums);
    assertTrue(Files.size(export) < 200_000, "it has rows alone");
    assertTrue(exported.err().contains(places), exported.err());
    assertTrue(imported.err().contains(places), imported.err());
    assertTrue(imported.err().contains("serve finds no bytes in " + store), imported.err());
  }

  @Test
  void migrateTellsWhatItAppliesAndCheckChangesNothing() throws Exception {
    String url = "store.url=" + SharedPostgres.server().newDatabase();
    for (List<String> store :
        List.of(List.of("--data", folder.resolve("new").toString()), List.of("--set", url))) {
      CommandRun check = CommandRun.on(store, "migrate", "--check");
      assertEquals(3, check.code(), check.err());
      assertTrue(check.out().startsWith("pending 0056 baseline"), check.out());
      assertTrue(check.out().contains(" is at version 0, this program's is "), check.out());
      assertFalse(Files.exists(folder.resolve("new")), "looking created a folder");
      String applied = CommandRun.on(store, "migrate").succeeded();
      assertTrue(applied.startsWith("applied 0056 baseline"), applied);
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

  @Test
  @Slow("each kill needs a process of its own")
  void anImportThatIsKilledLeavesNothing() throws Exception {
    Path data = Files.createTempDirectory(folder, "many");
    List<String> many = List.of("--data", data.toString());
    CommandRun.on(many, "migrate").succeeded();
    sqlite(
        data,
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < "
            + MANY_ROWS
            + ") INSERT INTO audit SELECT i, i, 'acme', 'token:x', 'read', 'acme-train', '', 1 FROM"
            + " n");
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
        assertTrue(child.waitFor(60, TimeUnit.SECONDS));
      }
      RunningBourse.until(
          "the server has noticed",
          () -> CommandRun.on(store, "import", busy.toString()).code() == 0);
    }
  }

  private static Process child(List<String> store, Path file) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("import", file.toString()));
    arguments.addAll(store);
    return new ProcessBuilder(ChildJvm.command(arguments))
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }
}
