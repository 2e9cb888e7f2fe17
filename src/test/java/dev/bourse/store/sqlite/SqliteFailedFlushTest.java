package dev.bourse.store.sqlite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.bourse.store.CommitContract;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A commit that fails after its frames are in the log, so that the next opening finds it. A failed
 * flush is such a case. Every file system can be made to lack space for the log's index, which
 * grows after the flush.
 */
class SqliteFailedFlushTest {
  private static final int FRAME_BYTES = SqliteConfig.PAGE_BYTES + 24;

  /** The log's index starts a new block of 32 KiB with the frame after this one. */
  private static final int FRAMES_OF_FIRST_BLOCK = 4_062;

  private final Vertx vertx = Vertx.vertx();
  private final Path disk;

  SqliteFailedFlushTest(@TempDir Path folder) {
    disk = folder;
  }

  @BeforeEach
  void mount() throws Exception {
    assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", disk.toString()) == 0,
        "a small disk takes a mount, and that takes root");
  }

  @AfterEach
  void unmount() throws Exception {
    CommitContract.await(vertx.close());
    run("umount", disk.toString());
  }

  private static int run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the command ends");
    return process.exitValue();
  }

  private Future<SqliteDatabase> open(Path file) {
    return SqliteDatabase.open(
        vertx, file, SqliteConfig.defaults(), "db/sqlite-contract", Clock.systemUTC());
  }

  private static List<Statement> note(long id) {
    return List.of(Statement.of(CommitContract.INSERT_NOTE, id, "n", null, null));
  }

  @Test
  void isToldThatItMayBeStored(@TempDir Path elsewhere) throws Exception {
    Path store = disk.resolve("store.db");
    Path wal = disk.resolve("store.db-wal");
    SqliteDatabase database = CommitContract.await(open(store));
    long stored = 0;
    long frames;
    do {
      CommitContract.await(database.commit(note(++stored)));
      frames = Files.size(wal) / FRAME_BYTES;
    } while (frames < FRAMES_OF_FIRST_BLOCK - 1);
    fillBut(6);

    Throwable cause = CommitContract.failureOf(database.commit(note(stored + 1)));

    StoreUnavailableException unavailable =
        assertInstanceOf(StoreUnavailableException.class, cause);
    for (String name : List.of("store.db", "store.db-wal")) {
      Files.copy(disk.resolve(name), elsewhere.resolve(name));
    }
    SqliteDatabase reopened = CommitContract.await(open(elsewhere.resolve("store.db")));
    long found =
        CommitContract.await(
                reopened.read(
                    "SELECT COUNT(*) AS counted FROM note",
                    List.of(),
                    row -> row.integer("counted")))
            .get(0);
    CommitContract.await(reopened.close());
    assertEquals(stored + 1, found, "the commit is there");
    assertTrue(unavailable.mayBeStored(), "and that was told");
    Files.delete(disk.resolve("filler"));
    CommitContract.await(database.close());
  }

  /** Leaves this many pages of space. */
  private void fillBut(int pages) throws IOException {
    Path room = disk.resolve("room");
    Files.write(room, new byte[pages * SqliteConfig.PAGE_BYTES]);
    try (OutputStream out = Files.newOutputStream(disk.resolve("filler"))) {
      byte[] page = new byte[SqliteConfig.PAGE_BYTES];
      while (true) {
        out.write(page);
      }
    } catch (IOException full) {
      String why = String.valueOf(full.getMessage());
      assertTrue(why.contains("No space left"), why);
    }
    Files.delete(room);
  }
}
