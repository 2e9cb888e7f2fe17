package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * The contract of {@link Database} for commits (see {@link CommitContract}), reads, queues and
 * closing. Engines plug in by subclassing.
 */
public abstract class DatabaseContractTest extends CommitContract {
  @Test
  protected void aReadAnswersTheRowsInTheOrderOfTheQuery() throws Exception {
    await(database.commit(List.of(note(1, "b"), note(2, "a"), note(3, "c"))));
    assertEquals(
        List.of("c", "b", "a"),
        await(
            database.read(
                "SELECT text FROM note WHERE id < ? ORDER BY text DESC",
                List.of(9L),
                row -> row.text("text"))));
  }

  @Test
  protected void aReadSubmittedAfterACommitCompletedSeesIt() throws Exception {
    for (long i = 1; i <= 200; i++) {
      await(database.commit(List.of(note(i, "n"))));
      assertEquals(i, notes());
    }
  }

  @Test
  protected void aReadWithFaultySqlFailsWithTheEnginesOwnException() throws Exception {
    Throwable failure =
        failureOf(
            database.read("SELECT nothing FROM nowhere", List.of(), row -> row.text("nothing")));
    assertFalse(failure instanceof StoreUnavailableException, () -> "not " + failure);
    assertEquals(0, notes());
  }

  @Test
  protected void aMappersFailureIsTheReadsFailureAndEndsNothingElse() throws Exception {
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
  protected void aReadCannotWrite() throws Exception {
    failureOf(
        database.read(
            "INSERT INTO note (id) VALUES (1) RETURNING id", List.of(), row -> row.integer("id")));
    assertEquals(0, notes());
  }

  @Test
  protected void textIntegersTruthBytesAndNullsComeBackAsTheyWereStored() throws Exception {
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
                      assertEquals(text, row.text("text"));
                      assertArrayEquals(bytes, row.bytes("bytes"));
                      assertEquals(Long.MIN_VALUE, row.integer("number"));
                    } else if (id == 2) {
                      assertEquals("", row.text("text"));
                      assertArrayEquals(new byte[0], row.bytes("bytes"));
                      assertTrue(row.truth("number"));
                    } else if (id == 3) {
                      assertNull(row.textOrNull("text"));
                      assertNull(row.integerOrNull("number"));
                      assertThrows(IllegalStateException.class, () -> row.text("text"));
                      assertThrows(IllegalStateException.class, () -> row.bytes("bytes"));
                      assertThrows(IllegalStateException.class, () -> row.integer("number"));
                    } else {
                      assertFalse(row.truth("number"));
                      assertEquals(0L, row.integerOrNull("number"));
                    }
                    return true;
                  }
                }));
    assertEquals(4, seen.size());
  }

  @Test
  protected void parametersOfOneExecutionDoNotLeakIntoTheNext() throws Exception {
    await(database.commit(List.of(Statement.of(INSERT_NOTE, 1L, "first", new byte[] {1}, 7L))));
    failureOf(database.commit(List.of(Statement.of(INSERT_NOTE, 2L, "second"))));
    assertEquals(1, notes());
  }

  @Test
  protected void aParameterNoColumnCanHoldFailsItsCommit() throws Exception {
    failureOf(database.commit(List.of(note(1, "n"), Statement.of(INSERT_NOTE, 2L, 1.5, null, 1))));
    assertEquals(0, notes());
  }

  @Test
  protected void aFullQueueOfCommitsRefusesAndStoresExactlyWhatItAccepted() throws Exception {
    await(database.close());
    database = await(open(4));
    List<Future<Void>> all = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    do {
      all.add(database.commit(List.of(note(all.size(), "n"), note(-1L - all.size(), "n"))));
    } while (all.get(all.size() - 1).cause() == null && System.nanoTime() < deadline);
    assertInstanceOf(StoreUnavailableException.class, all.get(all.size() - 1).cause());
    await(Future.join(all).otherwiseEmpty());
    assertEquals(2 * all.stream().filter(Future::succeeded).count(), notes());
  }

  @Test
  protected void aFullQueueOfReadsRefuses() throws Exception {
    await(database.close());
    database = await(open(4));
    await(database.commit(List.of(note(1, "n"))));
    List<Future<List<Long>>> all = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    do {
      all.add(database.read("SELECT id FROM note", List.of(), row -> row.integer("id")));
    } while (all.get(all.size() - 1).cause() == null && System.nanoTime() < deadline);
    assertInstanceOf(StoreUnavailableException.class, all.get(all.size() - 1).cause());
    await(Future.join(all).otherwiseEmpty());
    assertEquals(1, notes());
  }

  @Test
  protected void futuresCompleteOnTheCallersContextInTheOrderOfTheCommits() throws Exception {
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
  protected void aReadAndAFailureCompleteOnTheCallersContextToo() throws Exception {
    Promise<List<Context>> seen = Promise.promise();
    Context caller = vertx.getOrCreateContext();
    caller.runOnContext(
        v ->
            database
                .read("SELECT 1 AS one", List.of(), row -> row.integer("one"))
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
  protected void closeCompletesWhatIsQueued() throws Exception {
    List<Future<Void>> commits = new ArrayList<>();
    for (long i = 0; i < 1_000; i++) {
      commits.add(database.commit(List.of(note(i, "n"))));
    }
    Future<List<Long>> read =
        database.read(
            "SELECT count(*) AS counted FROM note", List.of(), row -> row.integer("counted"));
    await(database.close());
    await(Future.all(commits));
    assertEquals(1, await(read).size());
  }

  @Test
  protected void afterCloseCommitsAndReadsFail() throws Exception {
    await(database.close());
    assertInstanceOf(
        StoreUnavailableException.class, failureOf(database.commit(List.of(note(1, "n")))));
    assertInstanceOf(
        StoreUnavailableException.class,
        failureOf(database.read("SELECT 1 AS one", List.of(), row -> row.integer("one"))));
    await(database.close());
  }

  @Test
  protected void commitsFromManyThreadsWhileClosingAreStoredOrRefusedButNeverForgotten()
      throws Exception {
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
    assertTrue(
        all.stream()
            .allMatch(f -> f.succeeded() || f.cause() instanceof StoreUnavailableException));
  }
}
