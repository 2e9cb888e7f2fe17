package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.CommandRun;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The permissions of the data folder under any umask. */
@OneEngine("the embedded store's files are among those looked at")
@SuppressWarnings("NullAway.Init") // JUnit fills in the folder.
class DataFolderTest {
  @TempDir Path folder;

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(
        Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS));
  }

  /** The entries open to others, by path below the data folder. */
  private static List<String> wider(Path data) throws IOException {
    List<String> wider = new ArrayList<>();
    try (Stream<Path> all = Files.walk(data)) {
      for (Path file : all.toList()) {
        String expected = Files.isDirectory(file) ? "rwx------" : "rw-------";
        if (!permissions(file).equals(expected)) {
          wider.add(data.relativize(file) + " " + permissions(file));
        }
      }
    }
    return wider;
  }

  @Test
  void everythingAServicePutsThereIsItsOwnersAlone() throws Exception {
    Path data = folder.resolve("new/data");
    try (RunningBourse bourse = RunningBourse.over(data, "store.url=sqlite")) {
      ApiClient alice = bourse.asMember("acme", "alice");
      FilesFixture.publish(alice, FilesFixture.freshName(), new byte[100], "org");
      FilesFixture.announce(
          alice,
          FilesFixture.publication(FilesFixture.freshName(), new byte[100], "org")
              .put("upload", "resumable"));
      for (String name : List.of("bourse.db", "bourse.db-wal", "bourse.db-shm", "bourse.db.lock")) {
        assertTrue(Files.exists(data.resolve(name)), name);
      }
      assertEquals(List.of(), wider(data));
      assertEquals("rwx------", permissions(data));
    }
  }

  @Test
  void soIsWhatTheCommandsPutThere() throws Exception {
    Path data = folder.resolve("new/data");
    CommandRun.of("migrate", "--data", data.toString()).succeeded();
    CommandRun.of("export", data.resolve("rows.ndjson").toString(), "--data", data.toString())
        .succeeded();
    assertEquals(List.of(), wider(data));
  }

  @Test
  void whatIsWiderIsToldAtTheStartWithTheCommandThatMendsItAndLeftAsItIs() throws Exception {
    Path data = folder.resolve("data");
    CommandRun.of("migrate", "--data", data.toString()).succeeded();
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path store = data.resolve("bourse.db");
    Files.setPosixFilePermissions(store, PosixFilePermissions.fromString("rw-r-----"));
    Path keys = Files.createDirectory(data.resolve("signing-keys"));
    Files.setPosixFilePermissions(keys, PosixFilePermissions.fromString("rwx------"));
    Path key = Files.createFile(keys.resolve("mine"));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-rw-rw-"));

    List<String> entriesAtRisk = DataFolder.wider(data);

    assertEquals(
        List.of(
            data + " is open to others on this machine (rwxr-xr-x): chmod 700 " + data,
            store + " is open to others on this machine (rw-r-----): chmod 600 " + store,
            key + " is open to others on this machine (rw-rw-rw-): chmod 600 " + key),
        entriesAtRisk);
    Files.delete(key);
    Path log = folder.resolve("log");
    try (ChildBourse child = ChildBourse.logging(data, List.of("port=0"), log)) {
      assertFalse(child.baseUrl().isEmpty());
    }
    List<String> warnings =
        Files.readAllLines(log).stream().filter(l -> l.contains(" WARN ")).toList();
    for (String line : entriesAtRisk.subList(0, 2)) {
      assertTrue(warnings.stream().anyMatch(w -> w.endsWith(line)), line + " in " + warnings);
    }
    assertEquals("rwxr-xr-x", permissions(data));
    assertEquals("rw-r-----", permissions(store));
  }

  @Test
  void aFolderOfMillionsIsNotReadThroughAndManyAreNotAllTold() throws Exception {
    Path data = Files.createDirectory(folder.resolve("data"));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwx------"));
    for (int i = 0; i < 50; i++) {
      Files.createFile(data.resolve("file-" + i));
    }
    List<String> entriesAtRisk = DataFolder.wider(data);
    assertEquals(21, entriesAtRisk.size());
    assertTrue(entriesAtRisk.get(20).endsWith("and more below " + data), entriesAtRisk.get(20));
  }
}
