package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.CommandRun;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The doctor's findings on a store with altered bytes. */
@OneEngine("it looks at the stores of both engines itself")
class DoctorTest extends MoveFixture {
  private static final int PAGE = 4_096;
  private static final int FRAME = PAGE + 24;

  DoctorTest(@TempDir Path folder) {
    super(folder);
  }

  /** The demo's store after its process was killed. */
  private Path killed() throws IOException {
    Path left = Files.createTempDirectory(folder, "killed");
    try (RunningBourse bourse = RunningBourse.demo("store.url=sqlite")) {
      for (int i = 0; i < 20; i++) {
        FilesFixture.publish(
            bourse.asMember("acme", "alice"), FilesFixture.freshName(), new byte[100], "org");
      }
      // The log is copied first: a commit between the two copies is then missing rather than
      // incomplete.
      for (String name : List.of("bourse.db-wal", "bourse.db")) {
        Files.copy(bourse.data().resolve(name), left.resolve(name));
      }
    }
    return left;
  }

  private static void flip(Path file, long at) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      channel.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 0x10)}), at);
    }
  }

  @Test
  void aDamagedLogStopsEveryCommandUntilTheDamageIsAcceptedByItsName() throws Exception {
    Path data = killed();
    List<String> store = List.of("--data", data.toString());
    String sound = CommandRun.on(store, "doctor").succeeded();
    assertTrue(sound.contains("store: log: ") && sound.endsWith("bourse.db is sound\n"), sound);
    Path wal = data.resolve("bourse.db-wal");
    flip(wal, 32 + (Files.size(wal) / FRAME / 2) * FRAME + 777);

    for (String[] command : new String[][] {{"migrate"}, {"export", "-"}}) {
      assertTrue(
          CommandRun.on(store, command[0], Arrays.copyOfRange(command, 1, command.length))
              .refused()
              .contains(" is damaged: frame "),
          command[0]);
    }
    String refused = CommandRun.on(store, "doctor").refused();
    Matcher name = Pattern.compile("--set (store\\.accept-wal-damage=\\S+);").matcher(refused);
    assertTrue(name.find(), refused);

    try (RunningBourse bourse = RunningBourse.over(data, "store.url=sqlite", name.group(1))) {
      bourse.asMember("acme", "alice").get(FilesFixture.FAMILY).ok();
      bourse.stop();
      CommandRun.on(store, "doctor").succeeded();
      assertEquals(1, aside(data));
    }
  }

  private static long aside(Path data) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      return files.filter(file -> file.toString().contains("bourse.db-wal.damaged-")).count();
    }
  }

  private static long rootPage(Path file, String table) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        PreparedStatement query =
            connection.prepareStatement("SELECT rootpage FROM sqlite_schema WHERE name = ?")) {
      query.setString(1, table);
      try (ResultSet row = query.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  @Test
  void aChangedPageIsFound() throws Exception {
    List<String> store = newSqlite();
    CommandRun.on(store, "import", busy.toString()).succeeded();
    CommandRun.on(store, "doctor").succeeded();
    Path file = Path.of(store.get(1)).resolve("bourse.db");
    // The type of a page; nothing reads this table before the pages are checked.
    flip(file, (rootPage(file, "checkpoint_garbage") - 1) * PAGE);
    CommandRun run = CommandRun.on(store, "doctor");
    assertEquals(3, run.code(), run.out() + run.err());
    assertTrue(run.out().contains("pages: "), run.out());
    assertTrue(run.out().contains(" is not sound"), run.out());
  }

  @Test
  void ofAPostgresDatabaseEveryRowIsReadAndTheRestIsNamed() throws Exception {
    List<String> store = newPostgres();
    CommandRun.on(store, "import", busy.toString()).succeeded();
    String said = CommandRun.on(store, "doctor").succeeded();
    assertTrue(said.contains("store: rows: "), said);
    assertTrue(said.contains("checksums of pages: "), said);
    assertTrue(said.contains("pg_amcheck"), said);
    assertTrue(said.endsWith(" is sound\n"), said);
  }
}
