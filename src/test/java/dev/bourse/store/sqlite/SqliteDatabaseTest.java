package dev.bourse.store.sqlite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.CommittingProcess;
import dev.bourse.store.Database;
import dev.bourse.store.DatabaseContractTest;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.testing.Polls;
import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on SQLite, and tests of the embedded file. */
class SqliteDatabaseTest extends DatabaseContractTest {
  private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(12_345), ZoneOffset.UTC);

  private final Path folder;
  private int opened;

  SqliteDatabaseTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @Override
  protected Future<SqliteDatabase> open(int queued) {
    SqliteConfig defaults = SqliteConfig.defaults();
    return open(
        folder.resolve("store-" + opened++ + ".db"),
        new SqliteConfig(queued, queued, 2, defaults.maxFileBytes()),
        "db/sqlite-contract");
  }

  private Future<SqliteDatabase> open(Path file, SqliteConfig config, String migrations) {
    return SqliteDatabase.open(vertx, file, config, migrations, CLOCK);
  }

  private Future<SqliteDatabase> reopen(String migrations) {
    return open(folder.resolve("store-0.db"), SqliteConfig.defaults(), migrations);
  }

  @Test
  void theStoreIsNotShared() {
    assertFalse(database.isShared());
  }

  @Test
  void aFullDiskRefusesCommitsStoresNothingOfThemAndLetsTheStoreRecover() throws Exception {
    await(database.close());
    Path file = folder.resolve("small.db");
    database = await(open(file, new SqliteConfig(4_096, 4_096, 2, 1 << 20), "db/sqlite-contract"));
    String big = "x".repeat(10_000);
    List<Future<Void>> all = new ArrayList<>();
    for (long i = 1; i <= 300; i++) {
      all.add(database.commit(List.of(note(i, big), account("a" + i, i))));
    }
    await(Future.join(all).otherwiseEmpty());
    long stored = all.stream().filter(Future::succeeded).count();
    assertTrue(stored < 300, "stored " + stored);
    assertTrue(
        all.stream()
            .allMatch(f -> f.succeeded() || f.cause() instanceof StoreUnavailableException));
    assertEquals(stored, notes());
    assertEquals(stored, accounts().size());

    await(database.commit(List.of(Statement.of("DELETE FROM note"))));
    await(database.commit(List.of(note(1_000, big))));
    assertEquals(1, notes());
  }

  @Test
  void aWriteLockHeldByAnotherProgramRefusesCommitsUntilItIsReleased() throws Exception {
    try (SqliteConnection other =
        SqliteConnection.forWriting(
            folder.resolve("store-0.db"), SqliteConfig.defaults().maxFileBytes())) {
      other.execute("BEGIN IMMEDIATE");
      assertInstanceOf(
          StoreUnavailableException.class, failureOf(database.commit(List.of(note(1, "n")))));
      other.rollback();
    }
    await(database.commit(List.of(note(2, "n"))));
    assertEquals(1, notes());
  }

  /** Writes 4 MiB into new pages, and returns the length of the log after it. */
  private long logAfterMore(int round) throws Exception {
    List<Statement> notes = new ArrayList<>();
    for (long i = 0; i < 1_024; i++) {
      notes.add(note(round * 1_024L + i, "x".repeat(4_000)));
    }
    await(database.commit(notes));
    return Files.size(folder.resolve("store-0.db-wal"));
  }

  @Test
  void theLogBeginsAnewWhileCommitsGoOnHoweverSlowTheDiskIs() throws Exception {
    long longest = 0;
    for (int round = 0; round < 60; round++) {
      longest = Math.max(longest, logAfterMore(round));
    }
    // A commit of 4 MiB and its overhead may be added.
    long allowed = SqliteConnection.LONGEST_LOG_PAGES * (long) SqliteConfig.PAGE_BYTES + (10 << 20);
    assertTrue(longest < allowed, longest + " of " + allowed);
  }

  @Test
  void aReaderThatStaysKeepsTheLogUntilItGoesAndHoldsUpNoCommit() throws Exception {
    Path file = folder.resolve("store-0.db");
    try (SqliteConnection other = SqliteConnection.forReading(file)) {
      other.execute("BEGIN");
      other.query("SELECT COUNT(*) AS n FROM note", List.of(), row -> row.integer("n"));
      long length = 0;
      for (int round = 0; round < 40; round++) {
        length = logAfterMore(round);
      }
      assertTrue(length > 150 << 20, "" + length);
    }
    AtomicLong id = new AtomicLong(1_000_000);
    Polls.until(
        "the log begins anew once the reader is gone",
        () -> {
          database
              .commit(List.of(note(id.incrementAndGet(), "n")))
              .toCompletionStage()
              .toCompletableFuture()
              .join();
          return folder.resolve("store-0.db-wal").toFile().length() <= 100 << 20;
        });
  }

  @Test
  void theSameProcessCannotOpenAStoreTwice() throws Exception {
    StoreRefusedException refusal =
        assertInstanceOf(StoreRefusedException.class, failureOf(reopen("db/sqlite-contract")));
    assertTrue(String.valueOf(refusal.getMessage()).endsWith("is already open in this process"));
  }

  @Test
  void anotherProcessCannotOpenAnOpenStoreAndIsToldWhoHasIt() throws Exception {
    Path printed = folder.resolve("printed");
    Process child = child(folder.resolve("store-0.db"), printed);
    try {
      assertEquals(
          List.of(
              "the store "
                  + folder.resolve("store-0.db")
                  + " is in use by process "
                  + ProcessHandle.current().pid()
                  + " ("
                  + folder.toRealPath().resolve("store-0.db.lock")
                  + ")"),
          awaitLines(child, printed, 1));
    } finally {
      child.destroyForcibly().waitFor();
    }
  }

  @Test
  void aClosedStoreCanBeOpenedAgainAndHoldsItsRows() throws Exception {
    await(database.commit(List.of(note(1, "n"))));
    await(database.close());
    assertFalse(Files.exists(folder.resolve("store-0.db-wal")), "the log was not merged");
    database = await(reopen("db/sqlite-contract"));
    assertEquals(1, notes());
  }

  @Test
  void appliedMigrationsAreRecorded() throws Exception {
    assertEquals(
        List.of("1 accounts 12345", "2 notes 12345"),
        await(
            database.read(
                "SELECT number, name, applied_at FROM migration ORDER BY number",
                List.of(),
                row ->
                    row.integer("number")
                        + " "
                        + row.text("name")
                        + " "
                        + row.integer("applied_at"))));
  }

  @Test
  void aNewerStoreIsRefused() throws Exception {
    await(database.close());
    StoreRefusedException refusal =
        assertInstanceOf(StoreRefusedException.class, failureOf(reopen("db/sqlite-older")));
    assertEquals(
        "the store is newer than this program: it has migration 2 (notes), this program knows 1",
        refusal.getMessage());
  }

  @Test
  void aNewerStoreThatStillServesTheProgramIsOpenedAndKept() throws Exception {
    await(database.commit(List.of(note(1, "n"))));
    serveFrom(1);
    await(database.close());

    database = await(reopen("db/sqlite-older"));
    await(database.commit(List.of(note(2, "n"))));
    await(database.close());

    database = await(reopen("db/sqlite-contract"));
    assertEquals(2, notes());
  }

  @Test
  void aNewerStoreThatServesOnlyYoungerProgramsIsRefused() throws Exception {
    serveFrom(2);
    await(database.close());
    StoreRefusedException refusal =
        assertInstanceOf(StoreRefusedException.class, failureOf(reopen("db/sqlite-older")));
    assertTrue(
        String.valueOf(refusal.getMessage()).startsWith("the store is newer than this program"),
        refusal.getMessage());
  }

  /** Lets the migrations after the first serve programs that know this many. */
  private void serveFrom(int steps) throws Exception {
    await(
        database.commit(
            List.of(Statement.of("UPDATE migration SET serves_from = ? WHERE number > 1", steps))));
  }

  @Test
  void aStoreMadeFromAnotherTextOfAMigrationIsRefused() throws Exception {
    await(database.close());
    StoreRefusedException refusal =
        assertInstanceOf(StoreRefusedException.class, failureOf(reopen("db/sqlite-altered")));
    assertTrue(
        String.valueOf(refusal.getMessage())
            .startsWith("the store was made by another program: its migration 1"),
        refusal.getMessage());
  }

  @Test
  void aMigrationThatFailsLeavesNothingBehind() throws Exception {
    Path file = folder.resolve("broken.db");
    failureOf(open(file, SqliteConfig.defaults(), "db/sqlite-broken"));
    Database repaired = await(open(file, SqliteConfig.defaults(), "db/sqlite-contract"));
    await(repaired.close());
  }

  @Test
  void aRefusedStoreIsReleased() throws Exception {
    await(database.close());
    failureOf(reopen("db/sqlite-older"));
    database = await(reopen("db/sqlite-contract"));
    assertEquals(0, notes());
  }

  @Test
  void everyAcknowledgedCommitOutlivesAKilledProcess() throws Exception {
    Path file = folder.resolve("killed.db");
    long acknowledged = 0;
    for (int round = 0; round < 3; round++) {
      Path printed = folder.resolve("printed-" + round);
      Process child = child(file, printed);
      awaitLines(child, printed, 200 + 300 * round);
      child.destroyForcibly().waitFor();
      for (String line : Files.readAllLines(printed)) {
        if (line.endsWith(".")) {
          acknowledged = Long.parseLong(line.substring(0, line.length() - 1));
        }
      }
      Database reopened = await(open(file, SqliteConfig.defaults(), "db/sqlite-contract"));
      long last =
          await(
                  reopened.read(
                      "SELECT count(*) AS counted, max(id) AS most FROM note",
                      List.of(),
                      row -> {
                        assertEquals(
                            row.integer("counted"), row.integer("most"), "a hole in the ids");
                        return row.integer("most");
                      }))
              .get(0);
      assertTrue(last >= acknowledged, "round " + round + ": " + last + " < " + acknowledged);
      await(reopened.close());
    }
  }

  /**
   * Polls the output of a child process until it has this many complete lines, and returns them.
   */
  private static List<String> awaitLines(Process child, Path printed, int lines) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    String text = Files.readString(printed);
    while (text.chars().filter(c -> c == '\n').count() < lines) {
      assertTrue(System.nanoTime() < deadline, () -> "only " + printed);
      assertFalse(child.waitFor(5, TimeUnit.MILLISECONDS), "the child process ended by itself");
      text = Files.readString(printed);
    }
    return text.lines().toList();
  }

  private static Process child(Path file, Path printed) throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            CommittingProcess.class.getName(),
            file.toString())
        .redirectOutput(printed.toFile())
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }
}
