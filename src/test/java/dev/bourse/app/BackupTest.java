package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildJvm;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.CommandRun;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestStore;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backups of a running service, and services restored from them. */
@OneEngine("PostgreSQL backs itself up; that the command says so is tested here")
class BackupTest {
  private static RunningBourse bourse;

  private final Path folder;
  private final Path backup;

  BackupTest(@TempDir Path folder) {
    this.folder = folder;
    this.backup = folder.resolve("backup");
  }

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("store.url=sqlite", "audit.seal-interval=50ms");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static ApiClient alice() {
    return bourse.asMember("acme", "alice");
  }

  private static String publish(byte[] bytes) {
    return FilesFixture.publish(alice(), FilesFixture.freshName(), bytes, "org").getString("id");
  }

  private CommandRun take(String... more) {
    return CommandRun.on(
        List.of("--data", bourse.data().toString()), "backup", with(backup.toString(), more));
  }

  private static String[] with(String first, String... more) {
    return Stream.concat(Stream.of(first), Stream.of(more)).toArray(String[]::new);
  }

  private CommandRun restore(String... more) {
    return CommandRun.of(with("restore", with(backup.toString(), more)));
  }

  /** The one file of the backup whose path has this end. */
  private Path kept(String end) throws IOException {
    try (Stream<Path> all = Files.walk(backup)) {
      return all.filter(file -> file.toString().endsWith(end)).findFirst().orElseThrow();
    }
  }

  private Path keptBlob(String item) {
    return backup.resolve(bourse.data().relativize(bourse.blob(item)));
  }

  private static void flip(Path file, long at) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      channel.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 0x01)}), at);
    }
  }

  private void unsound(Path named, CommandRun run) {
    assertEquals(3, run.code(), run.out() + run.err());
    assertTrue(run.out().contains(named.toString()), run.out());
    assertTrue(run.out().endsWith(backup + " is not sound\n"), run.out());
  }

  @Test
  void whatWasAcknowledgedBeforeABackupUnderWritesIsServedFromIt() throws Exception {
    byte[] bytes = FilesFixture.bytes(300_000, 1);
    String item = publish(bytes);
    ClusterClient train = new ClusterClient(bourse.as("acme", "bound"), "acme", "acme-train");
    train.addKey();
    AtomicBoolean isOver = new AtomicBoolean();
    AtomicInteger written = new AtomicInteger();
    Thread writer =
        new Thread(
            () -> {
              while (!isOver.get()) {
                train.declare(1, (150 + written.get() % 100) / 100.0);
                written.incrementAndGet();
              }
            });
    writer.start();
    long acknowledged;
    long afterwards;
    try {
      RunningBourse.until("it writes", () -> written.get() > 20);
      acknowledged = train.version();
      take().succeeded();
      afterwards = train.version();
    } finally {
      isOver.set(true);
      writer.join();
    }
    assertTrue(afterwards > acknowledged, afterwards + " and " + acknowledged);
    Path data = folder.resolve("data");
    String said = restore("--to", data.toString(), "--verify").succeeded();
    assertTrue(said.contains("ledger: sound"), said);
    assertTrue(said.contains("trails: "), said);
    assertTrue(said.contains("tokens: a backup has none"), said);
    // Users keep their tokens.
    Files.copy(bourse.data().resolve("demo.json"), data.resolve("demo.json"));
    try (RunningBourse again = RunningBourse.over(data, "store.url=sqlite")) {
      long version = new ClusterClient(again.as("acme", "bound"), "acme", "acme-train").version();
      assertTrue(version >= acknowledged && version <= afterwards, version + " declared");
      assertArrayEquals(
          bytes, again.asMember("acme", "alice").fetch("GET", FilesFixture.content(item)).body());
    }
  }

  @Test
  void aFlippedByteOfAnyPartIsFoundAndNamed() throws Exception {
    String item = publish(FilesFixture.bytes(10_000, 2));
    take().succeeded();
    restore("--verify").succeeded();
    // Links share their bytes, and the backup's file should be changed.
    Path blob = keptBlob(item);
    Path whole = Files.copy(blob, folder.resolve("whole"));
    Files.delete(blob);
    Files.copy(whole, blob);
    for (Path file : List.of(blob, kept("bourse.db"), kept(".pem"))) {
      flip(file, Files.size(file) / 2);
      unsound(file, restore("--verify"));
      Path data = folder.resolve("data-" + file.getFileName());
      unsound(file, restore("--to", data.toString()));
      flip(file, Files.size(file) / 2);
    }
    Path manifest = backup.resolve("backup.json");
    for (long at : new long[] {3, 20, Files.size(manifest) / 2, Files.size(manifest) - 2}) {
      flip(manifest, at);
      unsound(manifest, restore("--verify"));
      flip(manifest, at);
    }
    restore("--verify").succeeded();
    Files.delete(blob);
    unsound(blob, restore("--verify"));
  }

  @Test
  void aBackupOfRowsThatWereChangedIsNotSound() throws Exception {
    publish(new byte[100]);
    RunningBourse.until(
        "a row is sealed",
        () -> bourse.operator().get("/api/operator/orgs/acme/seals").ok().getLong("rows") > 0);
    take().succeeded();
    for (String[] change :
        new String[][] {
          {"UPDATE audit SET subject = 'other' WHERE org_id = 'acme'", " differs from its seal"},
          {
            "INSERT INTO ledger_account (account, micros) VALUES ('odd', 1)",
            "the ledger is not sound"
          }
        }) {
      Path data = Files.createTempDirectory(folder, "data").resolve("data");
      restore("--to", data.toString()).succeeded();
      sqlite(data.resolve("bourse.db"), change[0]);
      Path changed = data.resolveSibling("backup");
      CommandRun.of("backup", changed.toString(), "--data", data.toString());
      CommandRun run = CommandRun.of("restore", changed.toString(), "--verify");
      assertEquals(3, run.code(), run.out() + run.err());
      assertTrue(run.out().contains(change[1]), run.out());
    }
  }

  private static void sqlite(Path file, String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  @Test
  void theNextBackupBringsOnlyWhatIsNew() throws Exception {
    String kept = publish(FilesFixture.bytes(5_000, 3));
    String deleted = publish(FilesFixture.bytes(5_000, 4));
    take().succeeded();
    Path blob = keptBlob(kept);
    Object same = Files.readAttributes(blob, "unix:ino").get("ino");
    Path gone = keptBlob(deleted);
    assertTrue(Files.exists(gone));
    String added = publish(FilesFixture.bytes(5_000, 5));
    alice().delete(FilesFixture.item(deleted)).ok();
    String said = take().succeeded();
    assertTrue(said.contains("published files added: 1, bytes: 5000"), said);
    assertEquals(same, Files.readAttributes(blob, "unix:ino").get("ino"));
    assertTrue(Files.exists(keptBlob(added)));
    assertFalse(Files.exists(gone));
    try (Stream<Path> runs = Files.list(backup)) {
      assertEquals(1, runs.filter(run -> run.toString().contains("taken-")).count());
    }
    restore("--verify").succeeded();
  }

  @Test
  void aBackupThatIsKilledIsNone() throws Exception {
    publish(FilesFixture.bytes(1_000, 6));
    for (int i = 0; ; i++) {
      Process command =
          new ProcessBuilder(
                  ChildJvm.command(
                      List.of("backup", backup.toString(), "--data", bourse.data().toString())))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      RunningBourse.until(
          "it began", () -> Files.exists(backup.resolve("backup.json.part")) || !command.isAlive());
      command.destroyForcibly();
      assertTrue(command.waitFor(60, TimeUnit.SECONDS));
      if (!Files.exists(backup.resolve("backup.json"))) {
        break;
      }
      // The backup was faster than this test.
      assertTrue(i < 10, "no backup was killed in time");
      TestStore.delete(backup);
    }
    String refused = restore("--to", folder.resolve("data").toString()).refused();
    assertTrue(refused.contains("not completed; take it again"), refused);
    assertFalse(Files.exists(folder.resolve("data")));
    take().succeeded();
    restore("--verify").succeeded();
    assertFalse(Files.exists(backup.resolve("backup.json.part")));
  }

  @Test
  void bytesThatAreLostAreToldAndTheRestIsBackedUp() throws Exception {
    String item = publish(FilesFixture.bytes(1_000, 7));
    Path blob = bourse.blob(item);
    Path aside = Files.move(blob, folder.resolve("aside"));
    try {
      CommandRun run = take();
      assertEquals(3, run.code(), run.out() + run.err());
      assertTrue(run.err().contains(blob.getFileName() + " is not in the backup: "), run.err());
      assertTrue(run.out().contains("is whole"), run.out());
      String printed = restore("--verify").err();
      assertTrue(printed.contains(blob.getFileName() + " was not backed up: "), printed);
    } finally {
      Files.move(aside, blob);
    }
    take().succeeded();
  }

  @Test
  void whatTheDataFolderLosesStaysInTheBackup() throws Exception {
    byte[] bytes = FilesFixture.bytes(1_000, 9);
    String item = publish(bytes);
    take().succeeded();
    Path blob = bourse.blob(item);
    Path aside = Files.move(blob, folder.resolve("aside"));
    try {
      take().succeeded();
      restore("--verify").succeeded();
      assertArrayEquals(bytes, Files.readAllBytes(backup.resolve(bourse.data().relativize(blob))));
    } finally {
      Files.move(aside, blob);
    }
  }

  @Test
  void filesThatArePublishedAndDeletedMeanwhileBreakNoBackup() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    AtomicInteger deleted = new AtomicInteger();
    Thread changer =
        new Thread(
            () -> {
              while (!isOver.get()) {
                String item = publish(FilesFixture.bytes(500, deleted.get()));
                alice().delete(FilesFixture.item(item)).ok();
                deleted.incrementAndGet();
              }
            });
    changer.start();
    try {
      int until = 0;
      for (int i = 0; i < 10; i++) {
        int past = until;
        RunningBourse.until("it goes on", () -> deleted.get() > past);
        take().succeeded();
        until = deleted.get();
        restore("--verify").succeeded();
      }
    } finally {
      isOver.set(true);
      changer.join();
    }
  }

  @Test
  void foldersThatHoldSomethingElseAreRefused() throws Exception {
    Files.createDirectories(backup);
    Path own = Files.writeString(backup.resolve("own"), "mine");
    assertTrue(take().refused().endsWith(backup + " is neither empty nor an earlier backup"));
    String none = restore("--verify").refused();
    assertTrue(none.endsWith("is not a backup: there is no backup.json"), none);
    Files.delete(own);
    take().succeeded();
    Path data = Files.createDirectories(folder.resolve("data"));
    Files.writeString(data.resolve("own"), "mine");
    assertTrue(restore("--to", data.toString()).refused().contains(data + " is not empty"));
    try (Stream<Path> inside = Files.list(data)) {
      assertEquals(List.of(data.resolve("own")), inside.toList());
    }
    assertEquals(2, restore().code());
    String nothing = CommandRun.of("backup", backup.toString(), "--data", "nowhere").refused();
    assertTrue(nothing.contains("there is no store nowhere/bourse.db"), nothing);
  }

  @Test
  void whatOthersKeepIsRefusedWithWhatToDoInstead() {
    String rows = take("--set", "store.url=postgres://bourse@localhost:5432/bourse").refused();
    assertTrue(rows.contains("pg_basebackup") && rows.contains("pg_dump"), rows);
    String objects = "checkpoints.store=s3://bucket/prefix?endpoint=http://localhost:9";
    String refused = take("--set", objects).refused();
    assertTrue(refused.contains("object store") && refused.contains("--without-objects"), refused);
    take("--set", objects, "--without-objects").succeeded();
  }

  @Test
  void modesAreKeptAndNothingIsForOthers() throws Exception {
    Path key = keys(bourse.data()).get(0);
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
    try {
      publish(new byte[10]);
      take().succeeded();
    } finally {
      Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    }
    Path data = folder.resolve("data");
    restore("--to", data.toString()).succeeded();
    for (Path root : List.of(backup, data)) {
      try (Stream<Path> all = Files.walk(root)) {
        for (Path path : all.toList()) {
          String expected =
              Files.isDirectory(path)
                  ? "rwx------"
                  : path.endsWith(key.getFileName()) ? "rw-r-----" : "rw-------";
          assertEquals(
              expected,
              PosixFilePermissions.toString(Files.getPosixFilePermissions(path)),
              path.toString());
        }
      }
    }
    assertEquals(Files.readString(key), Files.readString(keys(data).get(0)));
  }

  private static List<Path> keys(Path data) throws IOException {
    try (Stream<Path> all = Files.walk(data)) {
      return all.filter(file -> file.toString().endsWith(".pem")).sorted().toList();
    }
  }

  /** Backups are copied to more places than a data folder, and kept for longer. */
  @Test
  void noTokenIsInABackup() throws Exception {
    JsonObject demo = new JsonObject(Files.readString(bourse.data().resolve("demo.json")));
    List<String> secrets = new ArrayList<>();
    Matcher tokens =
        Pattern.compile("br[a-z]_[0-9A-Za-z]+_[0-9A-Za-z]+|eyJ[\\w.-]+").matcher(demo.encode());
    while (tokens.find()) {
      secrets.add(tokens.group());
    }
    assertTrue(secrets.contains(bourse.operatorToken()) && secrets.size() > 10, demo.encode());
    take().succeeded();
    try (Stream<Path> all = Files.walk(backup)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        String bytes = Files.readString(file, StandardCharsets.ISO_8859_1);
        for (String secret : secrets) {
          assertFalse(bytes.contains(secret), file + " has " + secret.substring(0, 16));
        }
      }
    }
  }

  @Test
  void whoeverHasNoOperatorsTokenAnyMoreGetsOneAtAStart() throws Exception {
    take().succeeded();
    Path data = folder.resolve("data");
    restore("--to", data.toString()).succeeded();
    try (RunningBourse again =
        RunningBourse.over(data, "store.url=sqlite", "access.mint-operator=true")) {
      JsonObject keys = new JsonObject(Files.readString(data.resolve("operator.json")));
      again.with(keys.getString("operator_token")).get("/api/operator/operators").ok();
    }
  }

  @Test
  void noServiceStartsOnAFolderThatIsHalfRestored() throws Exception {
    String item = publish(FilesFixture.bytes(1_000, 8));
    take().succeeded();
    Files.delete(keptBlob(item));
    Path data = folder.resolve("data");
    unsound(keptBlob(item), restore("--to", data.toString()));
    assertEquals(2, CommandRun.of("serve", "--data", data.toString(), "--set", "port=0").code());
  }
}
