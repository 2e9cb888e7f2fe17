package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.newFolder;

import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.CommandRun;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** A used store as a file, and a PostgreSQL server to move it to. */
abstract class MoveFixture {
  /** The export of a used demo world; other tests only read it. */
  static Path busy;

  final Path folder;

  MoveFixture(@TempDir Path folder) {
    this.folder = folder;
  }

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    busy = folder.resolve("busy.ndjson");
    Path data = newFolder();
    try (RunningBourse bourse = RunningBourse.over(data)) {
      keepBusy(bourse);
      bourse.stop();
      CommandRun.of("export", busy.toString(), "--data", data.toString()).succeeded();
    }
  }

  /** Grants, a swap, a release, keys, declarations and reads, of two organizations. */
  static void keepBusy(RunningBourse bourse) {
    ClusterClient train = train(bourse);
    List<String> held = train.hold(3, 4.0);
    train.swap(held.get(1)).ok();
    RunningBourse.until(
        "the swap is over",
        () -> !train.active().contains(held.get(1)) && train.active().size() == 3);
    train.declare(2, 3.5);
    train.untilHeld(2);
    ClusterClient other = new ClusterClient(bourse.as("globex", "bound"), "globex", "globex-main");
    other.hold(1, 2.25);
    other.activity();
    for (int i = 0; i < 20; i++) {
      train.activity();
    }
  }

  static ClusterClient train(RunningBourse bourse) {
    return new ClusterClient(bourse.as("acme", "bound"), "acme", "acme-train");
  }

  static void sqlite(Path data, String sql) throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + data + "/bourse.db");
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  List<String> newSqlite() throws Exception {
    return List.of("--data", Files.createTempDirectory(folder, "data").toString());
  }

  static List<String> newPostgres() throws Exception {
    return List.of("--set", "store.url=" + SharedPostgres.server().newDatabase());
  }
}
