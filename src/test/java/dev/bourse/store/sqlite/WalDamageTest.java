package dev.bourse.store.sqlite;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.transfer.WholeStore;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The log of a store that was not closed, with some altered bytes. Each test has the files as they
 * were on disk when the process was killed.
 */
@SuppressWarnings("NullAway.Init") // JUnit fills in the folder and calls the set-up.
class WalDamageTest {
  private static final int NOTES = 60;
  private static final int FRAME = 24 + SqliteConfig.PAGE_BYTES;
  private static final Pattern NAME = Pattern.compile("store\\.accept-wal-damage=([0-9a-f]+-\\d+)");

  private static Vertx vertx;
  private static byte[] killedStore;
  private static byte[] killedWal;
  private static byte[] killedShm;

  @TempDir Path folder;
  private Path store;
  private Path wal;

  @BeforeAll
  static void leaveAStoreBehind(@TempDir Path left) throws Exception {
    vertx = Vertx.vertx();
    Path store = left.resolve("bourse.db");
    SqliteDatabase database = await(open(store, ""));
    for (long i = 1; i <= NOTES; i++) {
      await(database.commit(List.of(note(i, "x".repeat(200)))));
    }
    killedStore = Files.readAllBytes(store);
    killedWal = Files.readAllBytes(left.resolve("bourse.db-wal"));
    killedShm = Files.readAllBytes(left.resolve("bourse.db-shm"));
    await(database.close());
    assertEquals(0, (killedWal.length - 32) % FRAME);
    assertFalse(Files.exists(left.resolve("bourse.db-wal")), "a clean stop leaves no log");
    database = await(open(store, ""));
    assertEquals(NOTES, notes(database));
    await(database.close());
  }

  @AfterAll
  static void stop() throws Exception {
    await(vertx.close());
  }

  @BeforeEach
  void layOut() throws IOException {
    store = Files.write(folder.resolve("bourse.db"), killedStore);
    wal = Files.write(folder.resolve("bourse.db-wal"), killedWal);
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static Future<SqliteDatabase> open(Path store, String accepted) {
    return SqliteDatabase.open(
        vertx,
        store,
        SqliteConfig.defaults().accepting(accepted),
        "db/sqlite-contract",
        Clock.systemUTC());
  }

  private static Statement note(long id, String text) {
    return Statement.of("INSERT INTO note (id, text) VALUES (?, ?)", id, text);
  }

  private static long notes(SqliteDatabase database) throws Exception {
    return await(
            database.read(
                "SELECT COUNT(*) AS counted FROM note", List.of(), row -> row.integer("counted")))
        .get(0);
  }

  /** How many notes the store has after it is opened. */
  private long opened(String accepted) throws Exception {
    SqliteDatabase database = await(open(store, accepted));
    long notes = notes(database);
    await(database.close());
    return notes;
  }

  private String refusal() {
    Exception failure = assertThrows(Exception.class, () -> await(open(store, "")));
    return String.valueOf(
        assertInstanceOf(StoreRefusedException.class, failure.getCause(), failure.toString())
            .getMessage());
  }

  private static String name(String refusal) {
    Matcher matcher = NAME.matcher(refusal);
    assertTrue(matcher.find(), refusal);
    return matcher.group(1);
  }

  private void flip(long at) throws IOException {
    byte[] bytes = Files.readAllBytes(wal);
    bytes[Math.toIntExact(at)] ^= 0x10;
    Files.write(wal, bytes);
  }

  private static int frames() {
    return (killedWal.length - 32) / FRAME;
  }

  /** The offset of a frame, from 1. */
  private static int frameAt(int number) {
    return 32 + (number - 1) * FRAME;
  }

  private static boolean isCommit(int number) {
    return ByteBuffer.wrap(killedWal).getInt(frameAt(number) + 4) != 0;
  }

  private static int commits(int from, int to) {
    int commits = 0;
    for (int i = from; i <= to; i++) {
      commits += isCommit(i) ? 1 : 0;
    }
    return commits;
  }

  /** The first frame of a transaction, counted from the last one. */
  private static int transactionFromTheEnd(int before) {
    int last = frames();
    for (int i = 0; i < before; i++) {
      do {
        last--;
      } while (!isCommit(last));
    }
    do {
      last--;
    } while (!isCommit(last));
    return last + 1;
  }

  @Test
  void aByteChangedInTheMidstOfTheLogRefusesTheStartAndTellsWhatIsAtStake() throws Exception {
    int bad = frames() / 2;
    flip(frameAt(bad) + 1_000);

    String refusal = refusal();

    int good = bad - 1;
    while (!isCommit(good)) {
      good--;
    }
    String expected =
        "frame %d of bourse.db-wal differs from the data that was written. The sound part ends with frame %d and transaction %d; %d frames with %d committed transactions"
            .formatted(bad, good, commits(1, good), frames() - good, commits(bad, frames()));
    assertTrue(refusal.contains(expected), refusal + "\nexpected " + expected);
    assertArrayEquals(killedStore, Files.readAllBytes(store), "nothing was touched");
    assertEquals(refusal, refusal(), "and it is refused again");
  }

  @Test
  void withTheDamagesNameTheStoreOpensAndTheLogIsCopiedAside() throws Exception {
    flip(frameAt(frames() / 2) + 1_000);
    byte[] damaged = Files.readAllBytes(wal);
    String name = name(refusal());
    assertThrows(Exception.class, () -> await(open(store, "true")), "any other word");

    long notes = opened(name);

    assertTrue(notes > 0 && notes < NOTES, notes + " notes");
    assertArrayEquals(damaged, Files.readAllBytes(folder.resolve("bourse.db-wal.damaged-" + name)));
    assertEquals(notes, opened(""), "and it is sound from then on");
  }

  @Test
  void afterAnAcceptedDamageTheNextCrashIsNoDamage() throws Exception {
    flip(frameAt(frames() / 2) + 1_000);
    SqliteDatabase database = await(open(store, name(refusal())));
    long before = notes(database);
    await(database.commit(List.of(note(1_000, "after"))));
    Path later = Files.createDirectory(folder.resolve("later"));
    Files.copy(wal, later.resolve("bourse.db-wal"));
    Files.copy(store, later.resolve("bourse.db"));
    await(database.close());
    store = later.resolve("bourse.db");
    assertEquals(before + 1, opened(""));
  }

  @Test
  void aLogNobodyTouchedIsRecoveredWhole() throws Exception {
    assertEquals(NOTES, opened(""));
  }

  @Test
  void leftoverSharedMemoryIsNotBelieved() throws Exception {
    Files.write(folder.resolve("bourse.db-shm"), killedShm);
    assertEquals(NOTES, opened(""));
    layOut();
    byte[] garbage = new byte[killedShm.length];
    new Random(1).nextBytes(garbage);
    Files.write(folder.resolve("bourse.db-shm"), garbage);
    assertEquals(NOTES, opened(""));
    layOut();
    Files.write(folder.resolve("bourse.db-shm"), killedShm);
    flip(frameAt(frames() / 2) + 1_000);
    refusal();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 56, 4_151})
  void aLogWithoutAWholeFrameHoldsNothing(int length) throws Exception {
    Files.write(wal, Arrays.copyOf(killedWal, length));
    opened("");
  }

  @Test
  void aLogThatEndsAnywhereIsACrashAndWhatIsWholeIsRecovered() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 20; i++) {
      layOut();
      int length = frameAt(1) + random.nextInt(killedWal.length - frameAt(1));
      Files.write(wal, Arrays.copyOf(killedWal, length));
      opened("");
    }
  }

  @Test
  void oneTransactionInPiecesAtTheEndIsACrash() throws Exception {
    int first = transactionFromTheEnd(0);
    assertTrue(first < frames(), "it has several frames");
    for (int frame = first; frame <= frames(); frame++) {
      layOut();
      byte[] bytes = killedWal.clone();
      Arrays.fill(bytes, frameAt(frame), frameAt(frame) + FRAME, (byte) 0);
      Files.write(wal, bytes);
      assertEquals(NOTES - 1, opened(""), "frame " + frame);
    }
  }

  @Test
  void theLastTransactionButOneInPiecesIsDamage() throws Exception {
    flip(frameAt(transactionFromTheEnd(1)) + 500);
    assertTrue(refusal().contains(" with 2 committed transactions"));
  }

  @Test
  void anyByteOfAnEarlierTransactionIsSeen() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    // The last two are excluded: one byte of them may make them one transaction.
    int end = frameAt(transactionFromTheEnd(2));
    for (int i = 0; i < 300; i++) {
      layOut();
      int at = random.nextInt(end);
      flip(at);
      WalScan found = new WalGuard(store).scan();
      assertTrue(found != null && found.isDamaged(), "byte " + at + ", seed " + seed);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 5, 10, 13, 17, 22, 25, 30})
  void aDamagedHeaderIsDamageOfAll(int at) throws Exception {
    flip(at);
    String refusal = refusal();
    assertTrue(refusal.contains("the header of bourse.db-wal"), refusal);
    assertTrue(refusal.contains("The sound part ends with nothing"), refusal);
    assertTrue(opened(name(refusal)) < NOTES);
  }

  @Test
  void whatAnEarlierRoundOfTheLogLeftBehindIsNoDamage() throws Exception {
    SqliteDatabase database = await(open(store, ""));
    for (long i = 1_000; i < 1_040; i++) {
      await(database.commit(List.of(note(i, "y".repeat(200)))));
    }
    // Everything is in the store now, so the next commit restarts the log over the old frames.
    try (SqliteConnection other =
        SqliteConnection.forWriting(store, SqliteConfig.defaults().maxFileBytes())) {
      other.query("PRAGMA wal_checkpoint(RESTART)", List.of(), row -> row.integer("busy"));
    }
    await(database.commit(List.of(note(2_000, "z"))));
    Path later = Files.createDirectory(folder.resolve("later"));
    Files.copy(wal, later.resolve("bourse.db-wal"));
    Files.copy(store, later.resolve("bourse.db"));
    await(database.close());
    store = later.resolve("bourse.db");
    WalScan found = new WalGuard(store).scan();
    assertTrue(
        found != null && found.frames() < 20 && Files.size(later.resolve("bourse.db-wal")) > 1e5,
        String.valueOf(found));
    assertEquals(NOTES + 41, opened(""));
  }

  @Test
  void whatARolledBackTransactionLeftBehindIsNoDamage() throws Exception {
    try (SqliteConnection connection =
        SqliteConnection.forWriting(store, SqliteConfig.defaults().maxFileBytes())) {
      connection.execute("PRAGMA cache_size = 5");
      connection.execute("BEGIN IMMEDIATE");
      for (long i = 1_000; i < 1_300; i++) {
        connection.execute(note(i, "w".repeat(2_000)));
      }
      long size = Files.size(wal);
      assertTrue(size > killedWal.length + 20L * FRAME, "it spilled");
      connection.rollback();
      connection.execute(note(2_000, "one"));
      connection.execute(note(2_001, "two"));
      assertEquals(size, Files.size(wal), "the rest lies behind it");
      copyAway();
    }
    assertEquals(NOTES + 2, opened(""));
  }

  private void copyAway() {
    try {
      Path later = Files.createDirectory(folder.resolve("later"));
      Files.copy(wal, later.resolve("bourse.db-wal"));
      Files.copy(store, later.resolve("bourse.db"));
      store = later.resolve("bourse.db");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aLogWithoutItsStoreIsNotThrownAway() throws Exception {
    Files.delete(store);
    assertTrue(refusal().contains("but no store"));
    Files.createFile(store);
    assertTrue(refusal().contains("but no store"));
    assertArrayEquals(killedWal, Files.readAllBytes(wal));
  }

  @Test
  void operatorsCommandsRefuseADamagedLogToo() throws Exception {
    flip(frameAt(frames() / 2) + 1_000);
    for (WholeStore.Purpose purpose :
        List.of(WholeStore.Purpose.READ, WholeStore.Purpose.MIGRATE, WholeStore.Purpose.FILL)) {
      StoreRefusedException refused =
          assertThrows(
              StoreRefusedException.class,
              () ->
                  SqliteWholeStore.open(
                      store,
                      SqliteConfig.defaults(),
                      "db/sqlite-contract",
                      Clock.systemUTC(),
                      purpose));
      assertTrue(String.valueOf(refused.getMessage()).contains("is damaged"), purpose.name());
    }
  }
}
