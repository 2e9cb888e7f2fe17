package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of {@link Database} for commits. */
public abstract class CommitContract {
  /** The meaning of the statements' demands. */
  public static final class StaleRevisionException extends RuntimeException {}

  public static final String INSERT_ACCOUNT =
      "INSERT INTO account (name, revision, balance) VALUES (?, 0, ?)";
  public static final String SET_BALANCE =
      "UPDATE account SET balance = ?, revision = revision + 1 WHERE name = ? AND revision = ?";
  public static final String INSERT_NOTE =
      "INSERT INTO note (id, text, bytes, number) VALUES (?, ?, ?, ?)";

  protected Vertx vertx;
  protected Database database;

  /**
   * Opens an empty store whose schema is tables {@code account} and {@code note}, as in the test
   * resources {@code db/*-contract}.
   *
   * @param queued how many statements, and how many reads, may wait
   */
  protected abstract Future<? extends Database> open(int queued) throws Exception;

  @BeforeEach
  protected void openStore() throws Exception {
    vertx = Vertx.vertx();
    database = await(open(4_096));
  }

  @AfterEach
  protected void closeStore() throws Exception {
    await(database.close());
    await(vertx.close());
  }

  public static <T> T await(Future<T> future) throws Exception {
    try {
      return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }

  public static <T> Throwable failureOf(Future<T> future) throws Exception {
    CompletableFuture<T> settled = future.toCompletionStage().toCompletableFuture();
    return Objects.requireNonNull(
        assertThrows(ExecutionException.class, () -> settled.get(60, TimeUnit.SECONDS)).getCause());
  }

  public static Statement account(String name, @Nullable Long balance) {
    return Statement.of(INSERT_ACCOUNT, name, balance);
  }

  public static Statement note(long id, String text) {
    return Statement.of(INSERT_NOTE, id, text, null, null);
  }

  public static Statement setBalance(String name, long revision, long balance) {
    return Statement.guarded(StaleRevisionException::new, SET_BALANCE, balance, name, revision);
  }

  protected List<String> accounts() throws Exception {
    return await(
        database.read(
            "SELECT name, revision, balance FROM account ORDER BY name",
            List.of(),
            row ->
                row.text("name")
                    + " r"
                    + row.integer("revision")
                    + " "
                    + row.integerOrNull("balance")));
  }

  protected long notes() throws Exception {
    return await(
            database.read(
                "SELECT count(*) AS counted FROM note", List.of(), row -> row.integer("counted")))
        .get(0);
  }

  @Test
  protected void statementsOfACommitSeeTheOnesBefore() throws Exception {
    await(database.commit(List.of(account("a", 5L), setBalance("a", 0, 6), setBalance("a", 1, 7))));
    assertEquals(List.of("a r2 7"), accounts());
  }

  @Test
  protected void anEmptyCommitSucceeds() throws Exception {
    await(database.commit(List.of()));
    assertEquals(0, notes());
  }

  @Test
  protected void commitsOfOneCallerAreStoredInTheOrderOfTheCalls() throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    all.add(database.commit(List.of(account("a", 0L))));
    for (long i = 0; i < 500; i++) {
      all.add(database.commit(List.of(setBalance("a", i, i))));
    }
    await(Future.all(all));
    assertEquals(List.of("a r500 499"), accounts());
  }

  @Test
  protected void aFailedGuardUndoesTheWholeCommit() throws Exception {
    failureOf(database.commit(List.of(account("a", 1L), note(1, "n"), setBalance("a", 41, 2))));
    assertEquals(List.of(), accounts());
    assertEquals(0, notes());
  }

  @Test
  protected void aCommitFailsWithTheRefusalOfItsFailedGuard() throws Exception {
    RuntimeException refusal = new StaleRevisionException();
    assertSame(
        refusal,
        failureOf(
            database.commit(
                List.of(Statement.guarded(() -> refusal, SET_BALANCE, 1L, "nobody", 0L)))));
  }

  @Test
  protected void aGuardMayDemandAnyNumberOfRowsAndFailsOnMoreToo() throws Exception {
    await(database.commit(List.of(note(1, "n"), note(2, "n"), note(3, "n"))));
    String sql = "UPDATE note SET text = ? WHERE text = ?";
    assertInstanceOf(
        StaleRevisionException.class,
        failureOf(
            database.commit(
                List.of(Statement.guarded(StaleRevisionException::new, sql, "m", "n")))));
    await(
        database.commit(
            List.of(Statement.of(sql, "m", "n").demanding(3, StaleRevisionException::new))));
    await(
        database.commit(
            List.of(Statement.of(sql, "x", "n").demanding(0, StaleRevisionException::new))));
  }

  @Test
  protected void aStatementThatBreaksAConstraintUndoesTheWholeCommit() throws Exception {
    await(database.commit(List.of(note(1, "old"))));
    Throwable failure =
        failureOf(database.commit(List.of(account("a", 1L), note(2, "new"), note(1, "again"))));
    assertFalse(failure instanceof StoreUnavailableException, () -> "not " + failure);
    assertEquals(List.of(), accounts());
    assertEquals(1, notes());
  }

  @Test
  protected void aFailingCommitUndoesOnlyItselfAmongThoseStoredTogether() throws Exception {
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
        assertInstanceOf(StaleRevisionException.class, failure, "commit " + i);
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
  protected void aCommitThatFailsLateDoesNotSpoilALaterOneThatBuildsOnAnEarlierOne()
      throws Exception {
    Future<Void> first = database.commit(List.of(account("a", 0L)));
    Future<Void> spoiled =
        database.commit(List.of(setBalance("a", 0, 99), note(1, "n"), setBalance("a", 0, 98)));
    Future<Void> last = database.commit(List.of(setBalance("a", 0, 1)));
    await(first);
    assertInstanceOf(StaleRevisionException.class, failureOf(spoiled));
    await(last);
    assertEquals(List.of("a r1 1"), accounts());
    assertEquals(0, notes());
  }

  @Test
  protected void whatCommitsAppendIsStoredOnceAndInTheirOrder() throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (long i = 0; i < 300; i++) {
      List<Statement> statements = new ArrayList<>(List.of(account("a" + i, i)));
      for (int n = 0; n < i % 4; n++) {
        Long number = i % 3 == 0 ? null : Long.valueOf(10 * i + n);
        // Before or after the other statements of the commit.
        statements.add(i % 2 == 0 ? n : n + 1, entry("of " + i, number));
        expected.add("of %s: %s".formatted(i, number));
      }
      all.add(database.commit(statements));
    }
    await(Future.all(all));
    assertEquals(300, accounts().size());
    assertEquals(expected, entries());
  }

  @Test
  protected void whateverElseNamesALogComesAfterWhatWasAppendedBefore() throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (long i = 0; i < 40; i++) {
      String name = "a" + i;
      all.add(database.commit(List.of(entry("cause", i), account(name, i))));
      all.add(
          database.commit(
              List.of(
                  Statement.of(
                      "INSERT INTO entry (text, number) SELECT ?, 100 + balance FROM account"
                          + " WHERE name = ?",
                      "effect",
                      name))));
      expected.addAll(List.of("cause: " + i, "effect: " + (100 + i)));
    }
    await(Future.all(all));
    assertEquals(expected, entries());
  }

  @Test
  protected void aCommitThatFailsAppendsNothingAndSpoilsNothing() throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    for (long i = 0; i < 100; i++) {
      all.add(
          switch ((int) i % 4) {
            case 1 -> // appends what is there already
                database.commit(List.of(account("a" + i, i), entry("twice", 0L)));
            case 2 -> // its guard fails, after or before what it appends
                database.commit(List.of(entry("n", i), setBalance("nobody", 0, 1)));
            case 3 ->
                database.commit(
                    List.of(account("b" + i, i), setBalance("nobody", 0, 1), entry("n", i)));
            default -> database.commit(List.of(account("a" + i, i), entry("good", i)));
          });
    }
    await(Future.join(all).otherwiseEmpty());
    for (int i = 0; i < 100; i++) {
      assertEquals(i % 4 == 0, all.get(i).succeeded(), "commit " + i + ": " + all.get(i).cause());
      if (i % 4 > 1) {
        assertInstanceOf(StaleRevisionException.class, all.get(i).cause(), "commit " + i);
      }
    }
    assertEquals(25, accounts().size());
    assertEquals(25, entries().size());
    assertTrue(entries().stream().allMatch(entry -> entry.startsWith("good")), "no other");
  }

  private static Statement entry(String text, @Nullable Long number) {
    return Statement.of(
            "INSERT INTO entry (text, bytes, number) VALUES (?, ?, ?)", text, null, number)
        .appending();
  }

  private List<String> entries() throws Exception {
    return await(
        database.read(
            "SELECT text, number FROM entry ORDER BY id",
            List.of(),
            row -> row.text("text") + ": " + row.integerOrNull("number")));
  }

  @Test
  protected void ofCommitsRacingForAVersionExactlyOneWins() throws Exception {
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
      assertTrue(done.await(60, TimeUnit.SECONDS));
      await(Future.join(racers).otherwiseEmpty());
      assertEquals(1, racers.stream().filter(Future::succeeded).count(), "version " + version);
      assertTrue(
          racers.stream()
              .filter(Future::failed)
              .allMatch(lost -> lost.cause() instanceof StaleRevisionException));
    }
    assertTrue(accounts().get(0).startsWith("a r50 "));
  }
}
