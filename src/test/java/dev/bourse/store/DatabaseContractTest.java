package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every engine behind {@link Database} promises. Engines plug in by subclassing. */
abstract class DatabaseContractTest {
  private static final String INSERT_ACCOUNT =
      "INSERT INTO account (name, revision, balance) VALUES (?, 0, ?)";
  private static final String SET_BALANCE =
      "UPDATE account SET balance = ?, revision = revision + 1 WHERE name = ? AND revision = ?";
  private static final String INSERT_NOTE =
      "INSERT INTO note (id, text, bytes, number) VALUES (?, ?, ?, ?)";

  Vertx vertx;
  Database database;

  /**
   * Opens an empty store whose schema is tables {@code account} and {@code note}, as in the test
   * resources {@code db/*-contract}.
   *
   * @param queued how many statements, and how many reads, may wait
   */
  abstract Future<? extends Database> open(int queued) throws Exception;

  @BeforeEach
  void openStore() throws Exception {
    vertx = Vertx.vertx();
    database = await(open(4_096));
  }

  @AfterEach
  void closeStore() throws Exception {
    await(database.close());
    await(vertx.close());
  }

  static <T> T await(Future<T> future) throws Exception {
    try {
      return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }

  static <T> Throwable failureOf(Future<T> future) throws Exception {
    CompletableFuture<T> settled = future.toCompletionStage().toCompletableFuture();
    return Objects.requireNonNull(
        assertThrows(ExecutionException.class, () -> settled.get(30, TimeUnit.SECONDS)).getCause());
  }

  static Statement account(String name, @Nullable Long balance) {
    return Statement.of(INSERT_ACCOUNT, name, balance);
  }

  static Statement note(long id, String text) {
    return Statement.of(INSERT_NOTE, id, text, null, null);
  }

  static Statement setBalance(String name, long revision, long balance) {
    return Statement.guarded("revision", SET_BALANCE, balance, name, revision);
  }

  List<String> accounts() throws Exception {
    return await(
        database.read(
            "SELECT name, revision, balance FROM account ORDER BY name",
            List.of(),
            row -> row.text(0) + " r" + row.integer(1) + " " + row.integerOrNull(2)));
  }

  long notes() throws Exception {
    return await(database.read("SELECT count(*) FROM note", List.of(), row -> row.integer(0)))
        .get(0);
  }

  @Test
  void aReadAnswersTheRowsInTheOrderOfTheQuery() throws Exception {
    await(database.commit(List.of(note(1, "b"), note(2, "a"), note(3, "c"))));
    assertEquals(
        List.of("c", "b", "a"),
        await(
            database.read(
                "SELECT text FROM note WHERE id < ? ORDER BY text DESC",
                List.of(9L),
                row -> row.text(0))));
  }

  @Test
  void aReadSubmittedAfterACommitCompletedSeesIt() throws Exception {
    for (long i = 1; i <= 200; i++) {
      await(database.commit(List.of(note(i, "n"))));
      assertEquals(i, notes());
    }
  }

  @Test
  void aReadWithFaultySqlFailsWithTheEnginesOwnException() throws Exception {
    Throwable failure =
        failureOf(database.read("SELECT nothing FROM nowhere", List.of(), row -> row.text(0)));
    assertFalse(failure instanceof StoreUnavailable, () -> "not " + failure);
    assertEquals(0, notes());
  }

  @Test
  void aMappersFailureIsTheReadsFailureAndEndsNothingElse() throws Exception {
    await(database.commit(List.of(note(1, "n"))));
    IllegalStateException thrown = new IllegalStateException("mapper");
    for (int i = 0; i < 10; i++) {
      assertSame(
          thrown,
          failureOf(
              database.read(
                  "SELECT id FROM note",
                  List.of(),
                  row -> {
                    throw thrown;
                  })));
    }
    assertEquals(1, notes());
  }

  @Test
  void aReadCannotWrite() throws Exception {
    failureOf(
        database.read(
            "INSERT INTO note (id) VALUES (1) RETURNING id", List.of(), row -> row.integer(0)));
    assertEquals(0, notes());
  }

  @Test
  void textIntegersTruthBytesAndNullsComeBackAsTheyWereStored() throws Exception {
    byte[] bytes = {0, 1, -1, 127, -128};
    String text = "Größe 容量 🚀 '\"; --";
    await(
        database.commit(
            List.of(
                Statement.of(INSERT_NOTE, 1L, text, bytes, Long.MIN_VALUE),
                Statement.of(INSERT_NOTE, 2, "", new byte[0], true),
                Statement.of(INSERT_NOTE, 3, null, null, null),
                Statement.of(INSERT_NOTE, 4, "x", null, false))));
    List<Boolean> seen =
        await(
            database.read(
                "SELECT text, bytes, number FROM note ORDER BY id",
                List.of(),
                new RowMapper<Boolean>() {
                  private int id;

                  @Override
                  public Boolean map(Row row) {
                    id++;
                    if (id == 1) {
                      assertEquals(text, row.text(0));
                      assertArrayEquals(bytes, row.bytes(1));
                      assertEquals(Long.MIN_VALUE, row.integer(2));
                    } else if (id == 2) {
                      assertEquals("", row.text(0));
                      assertArrayEquals(new byte[0], row.bytes(1));
                      assertTrue(row.truth(2));
                    } else if (id == 3) {
                      assertNull(row.textOrNull(0));
                      assertNull(row.integerOrNull(2));
                      assertThrows(IllegalStateException.class, () -> row.text(0));
                      assertThrows(IllegalStateException.class, () -> row.bytes(1));
                      assertThrows(IllegalStateException.class, () -> row.integer(2));
                    } else {
                      assertFalse(row.truth(2));
                      assertEquals(0L, row.integerOrNull(2));
                    }
                    return true;
                  }
                }));
    assertEquals(4, seen.size());
  }

  @Test
  void parametersOfOneExecutionDoNotLeakIntoTheNext() throws Exception {
    await(database.commit(List.of(Statement.of(INSERT_NOTE, 1L, "first", new byte[] {1}, 7L))));
    failureOf(database.commit(List.of(Statement.of(INSERT_NOTE, 2L, "second"))));
    assertEquals(1, notes());
  }

  @Test
  void aParameterNoColumnCanHoldFailsItsCommit() throws Exception {
    failureOf(database.commit(List.of(note(1, "n"), Statement.of(INSERT_NOTE, 2L, 1.5, null, 1))));
    assertEquals(0, notes());
  }

  @Test
  void statementsOfACommitSeeTheOnesBefore() throws Exception {
    await(database.commit(List.of(account("a", 5L), setBalance("a", 0, 6), setBalance("a", 1, 7))));
    assertEquals(List.of("a r2 7"), accounts());
  }

  @Test
  void anEmptyCommitSucceeds() throws Exception {
    await(database.commit(List.of()));
    assertEquals(0, notes());
  }

  @Test
  void commitsOfOneCallerAreStoredInTheOrderOfTheCalls() throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    all.add(database.commit(List.of(account("a", 0L))));
    for (long i = 0; i < 500; i++) {
      all.add(database.commit(List.of(setBalance("a", i, i))));
    }
    await(Future.all(all));
    assertEquals(List.of("a r500 499"), accounts());
  }

  @Test
  void aFailedGuardUndoesTheWholeCommit() throws Exception {
    failureOf(database.commit(List.of(account("a", 1L), note(1, "n"), setBalance("a", 41, 2))));
    assertEquals(List.of(), accounts());
    assertEquals(0, notes());
  }

  @Test
  void aFailedGuardIsNamed() throws Exception {
    GuardFailed failure =
        assertInstanceOf(
            GuardFailed.class, failureOf(database.commit(List.of(setBalance("nobody", 0, 1)))));
    assertEquals("revision", failure.guard());
    assertEquals("guard 'revision' demands 1 row(s), 0 matched", failure.getMessage());
  }

  @Test
  void aGuardMayDemandAnyNumberOfRowsAndFailsOnMoreToo() throws Exception {
    await(database.commit(List.of(note(1, "n"), note(2, "n"), note(3, "n"))));
    String sql = "UPDATE note SET text = ? WHERE text = ?";
    GuardFailed failure =
        assertInstanceOf(
            GuardFailed.class,
            failureOf(database.commit(List.of(Statement.guarded("one", sql, "m", "n")))));
    assertEquals("guard 'one' demands 1 row(s), 3 matched", failure.getMessage());
    await(database.commit(List.of(new Statement(sql, List.of("m", "n"), "three", 3))));
    await(database.commit(List.of(new Statement(sql, List.of("x", "n"), "none", 0))));
  }

  @Test
  void aStatementThatBreaksAConstraintUndoesTheWholeCommit() throws Exception {
    await(database.commit(List.of(note(1, "old"))));
    Throwable failure =
        failureOf(database.commit(List.of(account("a", 1L), note(2, "new"), note(1, "again"))));
    assertFalse(failure instanceof StoreUnavailable, () -> "not " + failure);
    assertEquals(List.of(), accounts());
    assertEquals(1, notes());
  }

  @Test
  void aFailingCommitUndoesOnlyItselfAmongThoseStoredTogether() throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    for (long i = 0; i < 300; i++) {
      all.add(
          switch ((int) i % 5) {
            case 1 -> // fails at once
                database.commit(List.of(setBalance("nobody", 0, 1), note(i, "n")));
            case 2 -> // fails after a change
                database.commit(List.of(note(i, "n"), setBalance("nobody", 0, 1)));
            case 3 -> // fails by the engine's judgement
                database.commit(List.of(note(i, "n"), note(i, "n")));
            default -> database.commit(List.of(note(i, "n"), account("a" + i, i)));
          });
    }
    await(Future.join(all).otherwiseEmpty());
    for (int i = 0; i < 300; i++) {
      Throwable failure = all.get(i).cause();
      if (i % 5 == 1 || i % 5 == 2) {
        assertInstanceOf(GuardFailed.class, failure, "commit " + i);
      } else if (i % 5 == 3) {
        assertNotNull(failure, "commit " + i);
      } else {
        assertNull(failure, "commit " + i);
      }
    }
    assertEquals(120, notes());
    assertEquals(120, accounts().size());
  }

  @Test
  void aCommitThatFailsLateDoesNotSpoilALaterOneThatBuildsOnAnEarlierOne() throws Exception {
    Future<Void> first = database.commit(List.of(account("a", 0L)));
    Future<Void> spoiled =
        database.commit(List.of(setBalance("a", 0, 99), note(1, "n"), setBalance("a", 0, 98)));
    Future<Void> last = database.commit(List.of(setBalance("a", 0, 1)));
    await(first);
    assertInstanceOf(GuardFailed.class, failureOf(spoiled));
    await(last);
    assertEquals(List.of("a r1 1"), accounts());
    assertEquals(0, notes());
  }

  @Test
  void ofCommitsRacingForAVersionExactlyOneWins() throws Exception {
    await(database.commit(List.of(account("a", 0L))));
    for (long version = 0; version < 50; version++) {
      List<Future<Void>> racers = Collections.synchronizedList(new ArrayList<>());
      CountDownLatch done = new CountDownLatch(4);
      CountDownLatch start = new CountDownLatch(1);
      long expected = version;
      for (int thread = 0; thread < 4; thread++) {
        long value = thread;
        new Thread(
                () -> {
                  try {
                    start.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  for (int i = 0; i < 4; i++) {
                    racers.add(database.commit(List.of(setBalance("a", expected, value))));
                  }
                  done.countDown();
                })
            .start();
      }
      start.countDown();
      assertTrue(done.await(30, TimeUnit.SECONDS));
      await(Future.join(racers).otherwiseEmpty());
      assertEquals(1, racers.stream().filter(Future::succeeded).count(), "version " + version);
      assertTrue(
          racers.stream()
              .filter(Future::failed)
              .allMatch(lost -> lost.cause() instanceof GuardFailed));
    }
    assertTrue(accounts().get(0).startsWith("a r50 "));
  }

  @Test
  void aFullQueueOfCommitsRefusesAndStoresExactlyWhatItAccepted() throws Exception {
    await(database.close());
    database = await(open(4));
    List<Future<Void>> all = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    do {
      all.add(database.commit(List.of(note(all.size(), "n"), note(-1L - all.size(), "n"))));
    } while (all.get(all.size() - 1).cause() == null && System.nanoTime() < deadline);
    assertInstanceOf(StoreUnavailable.class, all.get(all.size() - 1).cause());
    await(Future.join(all).otherwiseEmpty());
    assertEquals(2 * all.stream().filter(Future::succeeded).count(), notes());
  }

  @Test
  void aFullQueueOfReadsRefuses() throws Exception {
    await(database.close());
    database = await(open(4));
    await(database.commit(List.of(note(1, "n"))));
    List<Future<List<Long>>> all = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    do {
      all.add(database.read("SELECT id FROM note", List.of(), row -> row.integer(0)));
    } while (all.get(all.size() - 1).cause() == null && System.nanoTime() < deadline);
    assertInstanceOf(StoreUnavailable.class, all.get(all.size() - 1).cause());
    await(Future.join(all).otherwiseEmpty());
    assertEquals(1, notes());
  }

  @Test
  void futuresCompleteOnTheCallersContextInTheOrderOfTheCommits() throws Exception {
    Promise<List<Long>> seen = Promise.promise();
    Context caller = ((ContextInternal) vertx.getOrCreateContext()).duplicate();
    List<Long> order = new ArrayList<>();
    caller.runOnContext(
        v -> {
          for (long i = 0; i < 100; i++) {
            long id = i;
            database
                .commit(List.of(note(i, "n")))
                .onComplete(
                    ignored -> {
                      if (Vertx.currentContext() != caller) {
                        seen.tryFail("on " + Vertx.currentContext());
                      }
                      order.add(id);
                      if (order.size() == 100) {
                        seen.tryComplete(order);
                      }
                    });
          }
        });
    List<Long> completed = await(seen.future());
    assertEquals(100, completed.size());
    assertEquals(completed.stream().sorted().toList(), completed);
  }

  @Test
  void aReadAndAFailureCompleteOnTheCallersContextToo() throws Exception {
    Promise<List<Context>> seen = Promise.promise();
    Context caller = vertx.getOrCreateContext();
    caller.runOnContext(
        v ->
            database
                .read("SELECT 1", List.of(), row -> row.integer(0))
                .map(rows -> Vertx.currentContext())
                .compose(
                    first ->
                        database
                            .commit(List.of(setBalance("nobody", 0, 1)))
                            .recover(e -> Future.succeededFuture())
                            .map(x -> Arrays.asList(first, Vertx.currentContext())))
                .onComplete(seen));
    assertEquals(List.of(caller, caller), await(seen.future()));
  }

  @Test
  void closeCompletesWhatIsQueued() throws Exception {
    List<Future<Void>> commits = new ArrayList<>();
    for (long i = 0; i < 1_000; i++) {
      commits.add(database.commit(List.of(note(i, "n"))));
    }
    Future<List<Long>> read =
        database.read("SELECT count(*) FROM note", List.of(), row -> row.integer(0));
    await(database.close());
    await(Future.all(commits));
    assertEquals(1, await(read).size());
  }

  @Test
  void afterCloseCommitsAndReadsFail() throws Exception {
    await(database.close());
    assertInstanceOf(StoreUnavailable.class, failureOf(database.commit(List.of(note(1, "n")))));
    assertInstanceOf(
        StoreUnavailable.class,
        failureOf(database.read("SELECT 1", List.of(), row -> row.integer(0))));
    await(database.close());
  }

  @Test
  void commitsFromManyThreadsWhileClosingAreStoredOrRefusedButNeverForgotten() throws Exception {
    AtomicLong ids = new AtomicLong();
    List<Future<Void>> all = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 500; i++) {
                  all.add(database.commit(List.of(note(ids.incrementAndGet(), "n"))));
                }
              });
      threads.add(thread);
      thread.start();
    }
    await(database.close());
    for (Thread thread : threads) {
      thread.join();
    }
    await(Future.join(all).otherwiseEmpty());
    assertTrue(all.stream().allMatch(f -> f.succeeded() || f.cause() instanceof StoreUnavailable));
  }
}
