package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.logs.RequestContext;
import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.CuttingProxy;
import dev.bourse.store.Database;
import dev.bourse.store.DatabaseContractTest;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.testing.PostgresServer;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.Slow;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on PostgreSQL, and tests of a remote server. */
class PostgresDatabaseTest extends DatabaseContractTest {
  /** A poll without a pause would take CPU time from the awaited work. */
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(12_345), ZoneOffset.UTC);

  @Override
  protected Future<PostgresDatabase> open(int queued) throws Exception {
    return PostgresDatabase.open(
        vertx,
        new PostgresConfig(
            PostgresUrl.parse(SharedPostgres.server().newDatabase()),
            "",
            2,
            queued,
            queued,
            60_000,
            60_000,
            60_000),
        "db/postgres-contract",
        CLOCK,
        new Random());
  }

  /** One without deadlines. */
  private static PostgresConfig config(String url) {
    PostgresUrl parsed = PostgresUrl.parse(url);
    return new PostgresConfig(parsed, parsed.password(), 2, 4_096, 4_096, 60_000, 60_000, 60_000);
  }

  private Future<PostgresDatabase> openAt(String url) {
    return PostgresDatabase.open(vertx, config(url), "db/postgres-contract", CLOCK, new Random());
  }

  /** One that drops a server soon. */
  private Future<PostgresDatabase> openHastily(String url) {
    PostgresConfig hasty =
        new PostgresConfig(PostgresUrl.parse(url), "", 2, 4_096, 4_096, 5_000, 5_000, 4_000);
    return PostgresDatabase.open(vertx, hasty, "db/postgres-contract", CLOCK, new Random());
  }

  private static void poll(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < deadline, () -> what + " did not come to pass");
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Records what it receives. */
  private static final class Heard implements ChangeListener {
    final List<Change> changes = new CopyOnWriteArrayList<>();
    final AtomicInteger missed = new AtomicInteger();

    @Override
    public void changed(Change change) {
      changes.add(change);
    }

    @Override
    public void missed() {
      missed.incrementAndGet();
    }
  }

  /** A missing row, whatever happened to the previous one. */
  private static List<Statement> oneMore(AtomicLong ids) {
    return List.of(note(ids.incrementAndGet(), "n"));
  }

  @Test
  void theStoreIsShared() {
    assertTrue(database.isShared());
  }

  @Test
  void processesThatMigrateAtOnceAllSucceed() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    List<Future<PostgresDatabase>> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(openAt(url));
    }
    await(Future.all(all));
    for (Future<PostgresDatabase> opened : all) {
      await(opened.result().commit(List.of(note(all.indexOf(opened), "n"))));
      await(opened.result().close());
    }
  }

  @Test
  @Slow("a step takes longer than a query may, which a busy machine must be able to keep")
  void aMigrationLongerThanAQueryMayTakeIsNotCutShortAndOthersWaitForIt() throws Exception {
    PostgresConfig usual = config(SharedPostgres.server().newDatabase());
    // The step takes four seconds, every other query a moment.
    PostgresConfig hasty =
        new PostgresConfig(usual.url(), "", 2, 4_096, 4_096, 5_000, 5_000, 3_000);
    List<Future<PostgresDatabase>> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      all.add(PostgresDatabase.open(vertx, hasty, "db/postgres-slow", CLOCK, new Random()));
    }
    await(Future.all(all));
    for (Future<PostgresDatabase> opened : all) {
      await(opened.result().close());
    }
  }

  @Test
  void aNewerStoreIsRefused() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    await(await(openAt(url)).close());
    StoreRefusedException refusal =
        assertInstanceOf(
            StoreRefusedException.class,
            failureOf(
                PostgresDatabase.open(
                    vertx, config(url), "db/postgres-older", CLOCK, new Random())));
    assertEquals(
        "the store is newer than this program: it has migration 2 (notes), this program knows 1",
        refusal.getMessage());
  }

  @Test
  void aNewerStoreIsOpenedWhereAllThatIsUnknownServesTheProgram() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    Database newer = await(openAt(url));
    await(newer.commit(List.of(note(1, "n"))));
    for (int from = 2; from >= 1; from--) {
      await(
          newer.commit(
              List.of(
                  Statement.of("UPDATE migration SET serves_from = ? WHERE number > 1", from))));
      Future<PostgresDatabase> older =
          PostgresDatabase.open(vertx, config(url), "db/postgres-older", CLOCK, new Random());
      if (from == 2) {
        assertInstanceOf(StoreRefusedException.class, failureOf(older));
      } else {
        await(await(older).close());
      }
    }
    await(newer.commit(List.of(note(2, "n"))));
    await(newer.close());
  }

  @Test
  void changesAreHeardByOtherProcessesInTheOrderOfTheCommitsAndNotByTheirOwn() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    Database one = await(openAt(url));
    Database other = await(openAt(url));
    Heard own = new Heard();
    Heard heard = new Heard();
    one.listen(own);
    other.listen(heard);
    List<Change> told = new ArrayList<>();
    List<Future<Void>> commits = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      Change change = new Change("cluster", "größe-" + i + "x".repeat(i));
      told.add(change);
      commits.add(one.commit(List.of(note(i, "n")), List.of(change)));
    }
    await(Future.all(commits));
    failureOf(
        one.commit(List.of(setBalance("nobody", 0, 1)), List.of(new Change("cluster", "failed"))));
    Change last = new Change("cluster", "last");
    told.add(last);
    await(one.commit(List.of(), List.of(last)));
    poll("the last change", () -> heard.changes.contains(last));
    assertEquals(told, heard.changes);
    await(other.commit(List.of(), List.of(last)));
    poll("a change back", () -> own.changes.equals(List.of(last)));
    assertEquals(0, heard.missed.get());
    await(one.close());
    await(other.close());
  }

  @Test
  void aLostConnectionMissesNothing() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    Database one = await(openAt(url));
    Database other = await(openAt(url));
    Heard heard = new Heard();
    other.listen(heard);
    SharedPostgres.server().terminateSessions();
    Change change = new Change("cluster", "a");
    poll(
        "a change after the loss",
        () -> {
          await(one.commit(List.of(), List.of(change)).otherwiseEmpty());
          return heard.changes.contains(change);
        });
    assertEquals(0, heard.missed.get());
    await(one.close());
    await(other.close());
  }

  @Test
  void endedSessionsComeBackByThemselvesAndNothingAcknowledgedIsLost() throws Exception {
    long id = 0;
    List<Future<Void>> all = new ArrayList<>();
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < 50; i++) {
        all.add(database.commit(List.of(note(++id, "n"))));
      }
      if (round % 5 == 4) {
        SharedPostgres.server().terminateSessions();
      }
      await(Future.join(all).otherwiseEmpty());
    }
    assertTrue(
        all.stream()
            .allMatch(f -> f.succeeded() || f.cause() instanceof StoreUnavailableException));
    assertEquals(all.stream().filter(Future::succeeded).count(), notes());
  }

  @Test
  void aServerThatRestartsIsRefusedToMeanwhileAndThenServedFromAgain(@TempDir Path folder)
      throws Exception {
    try (PostgresServer own = PostgresServer.start(folder.resolve("pg"), Map.of())) {
      Database store = await(openHastily(own.newDatabase()));
      List<Long> acknowledged = new CopyOnWriteArrayList<>();
      for (long id = 1; id <= 100; id++) {
        long stored = id;
        store.commit(List.of(note(id, "n"))).onSuccess(v -> acknowledged.add(stored));
      }
      own.stop();
      poll(
          "a refusal",
          () ->
              failureOf(
                      store
                          .commit(List.of(note(1_000, "n")))
                          .compose(v -> Future.failedFuture("stored")))
                  instanceof StoreUnavailableException);
      poll(
          "a refused read",
          () ->
              store.read("SELECT 1 AS one", List.of(), row -> row.integer("one")).cause()
                  instanceof StoreUnavailableException);
      own.startAgain();
      AtomicLong ids = new AtomicLong(2_000);
      poll(
          "a commit after the restart",
          () -> await(store.commit(oneMore(ids)).map(true).otherwise(false)));
      poll(
          "a read of all that was acknowledged",
          () ->
              await(
                      store
                          .read("SELECT id FROM note", List.of(), row -> row.integer("id"))
                          .otherwise(List.of()))
                  .containsAll(acknowledged));
      await(store.close());
    }
  }

  @Test
  void aCommitWhoseAnswerWasLostIsLookedUp() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    String url =
        SharedPostgres.server()
            .newDatabase()
            .replace(":" + SharedPostgres.server().port(), ":" + proxy.port());
    Database store = await(openAt(url));
    proxy.plan = CuttingProxy.Plan.LOSE_ANSWER;
    await(store.commit(List.of(note(1, "stored"))));
    proxy.plan = CuttingProxy.Plan.LOSE_COMMIT;
    StoreUnavailableException lost =
        assertInstanceOf(
            StoreUnavailableException.class,
            failureOf(store.commit(List.of(note(2, "not stored")))));
    assertFalse(lost.mayBeStored());
    assertEquals(
        List.of(1L), await(store.read("SELECT id FROM note", List.of(), row -> row.integer("id"))));
    await(store.close());
  }

  @Test
  void aCommitThatCannotBeLookedUpInTimeMayBeStored() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    String url =
        SharedPostgres.server()
            .newDatabase()
            .replace(":" + SharedPostgres.server().port(), ":" + proxy.port());
    Database store = await(openHastily(url));
    proxy.plan = CuttingProxy.Plan.LOSE_ANSWER;
    proxy.isDown = true;
    StoreUnavailableException lost =
        assertInstanceOf(
            StoreUnavailableException.class, failureOf(store.commit(List.of(note(1, "n")))));
    assertTrue(lost.mayBeStored());
    await(store.close());
  }

  @Test
  void aCommitThatMeetsALockedRowHoldsNoOtherUpAndIsStoredOnceTheRowIsFree() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    Database store = await(openAt(url));
    await(store.commit(List.of(account("locked", 0L), account("free", 0L))));
    try (Connection holder = SharedPostgres.server().connect(url)) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("UPDATE account SET balance = 9 WHERE name = 'locked'");
      Future<Void> waiting = store.commit(List.of(setBalance("locked", 0, 1)));
      for (int i = 0; i < 5; i++) {
        await(store.commit(List.of(setBalance("free", i, 1))));
      }
      assertFalse(waiting.isComplete());
      holder.rollback();
      await(waiting);
    }
    await(store.close());
  }

  @Test
  void aRowThatStaysLockedRefusesItsCommitInTimeAndNothingIsWritten() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    Database store = await(openHastily(url));
    await(store.commit(List.of(account("locked", 0L))));
    try (Connection holder = SharedPostgres.server().connect(url)) {
      holder.setAutoCommit(false);
      holder.createStatement().execute("UPDATE account SET balance = 9 WHERE name = 'locked'");
      StoreUnavailableException refusal =
          assertInstanceOf(
              StoreUnavailableException.class,
              failureOf(store.commit(List.of(setBalance("locked", 0, 1)))));
      assertFalse(refusal.mayBeStored());
      holder.rollback();
    }
    await(store.commit(List.of(setBalance("locked", 0, 1))));
    await(store.close());
  }

  /**
   * COMMIT is not answered while the standby is unreachable, and no time-out may make the server
   * answer it as if the standby had confirmed.
   */
  @Test
  void whatNoSynchronousStandbyConfirmedIsNotAcknowledged(@TempDir Path folder) throws Exception {
    try (PostgresServer own =
        PostgresServer.start(folder.resolve("pg"), Map.of("synchronous_commit", "on"))) {
      String url = own.newDatabase();
      Database store = await(openHastily(url));
      Heard heard = new Heard();
      store.listen(heard);
      await(store.commit(List.of(note(1, "before"))));
      own.execute("ALTER SYSTEM SET synchronous_standby_names = 'away'");
      own.execute("SELECT pg_reload_conf()");
      AtomicLong ids = new AtomicLong(1);
      AtomicReference<Throwable> hung = new AtomicReference<>();
      // The server takes a moment to read its settings.
      poll(
          "a commit that hangs",
          () -> {
            Change change = new Change("cluster", "note-" + (ids.get() + 1));
            hung.set(
                await(
                    store
                        .commit(oneMore(ids), List.of(change))
                        .<Throwable>map(v -> null)
                        .recover(Future::succeededFuture)));
            return hung.get() != null;
          });
      StoreUnavailableException unknown =
          assertInstanceOf(StoreUnavailableException.class, hung.get());
      Change late = new Change("cluster", "note-" + ids.get());
      assertTrue(unknown.mayBeStored());
      for (int i = 0; i < 3; i++) {
        StoreUnavailableException refused =
            assertInstanceOf(
                StoreUnavailableException.class,
                failureOf(store.commit(oneMore(new AtomicLong(99)))));
        assertFalse(refused.mayBeStored(), "it is not sent while the outcome before is unknown");
      }
      try (Connection asking = own.connect(url);
          ResultSet sessions =
              asking
                  .createStatement()
                  .executeQuery(
                      "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name LIKE"
                          + " 'bourse %'")) {
        assertTrue(sessions.next());
        assertTrue(sessions.getInt(1) <= 6, "the sessions given up are ended");
      }
      own.execute("ALTER SYSTEM RESET synchronous_standby_names");
      own.execute("SELECT pg_reload_conf()");
      poll("it is told that it is stored", () -> heard.changes.equals(List.of(late)));
      await(store.commit(oneMore(ids)));
      assertEquals(
          LongStream.rangeClosed(1, ids.get()).boxed().toList(),
          await(
              store.read("SELECT id FROM note ORDER BY id", List.of(), row -> row.integer("id"))));
      await(store.close());
    }
  }

  /**
   * An operator ends the wait for a standby while the next group is in progress over the same
   * connection: settling the first must not commit half of the second.
   */
  @Test
  void aDoubtfulCommitStoresNothingOfAGroupBehindItThatIsRefused(@TempDir Path folder)
      throws Exception {
    try (PostgresServer own =
        PostgresServer.start(folder.resolve("pg"), Map.of("synchronous_commit", "on"))) {
      String url = own.newDatabase();
      Database store = await(openAt(url));
      own.execute("ALTER SYSTEM SET synchronous_standby_names = 'away'");
      own.execute("SELECT pg_reload_conf()");
      AtomicLong ids = new AtomicLong(1_000);
      try (Connection operator = own.connect(url)) {
        List<Future<Void>> first = new ArrayList<>();
        poll(
            "a commit that waits for the standby",
            () -> {
              if (first.stream().allMatch(Future::isComplete)) {
                first.add(store.commit(oneMore(ids)));
              }
              return count(operator, "wait_event = 'SyncRep'") == 1;
            });
        List<Future<Void>> behind =
            List.of(
                store.commit(List.of(note(10, "n"))),
                store.commit(List.of(note(20, "n"), setBalance("nobody", 0, 1))),
                store.commit(List.of(note(30, "n"))));
        String waiting = "CASE WHEN wait_event = 'SyncRep' THEN pg_cancel_backend(pid) END";
        poll("its waiting is ended", () -> count(operator, waiting) == 1);
        own.execute("ALTER SYSTEM RESET synchronous_standby_names");
        own.execute("SELECT pg_reload_conf()");
        await(Future.join(behind).otherwiseEmpty());
        await(first.get(first.size() - 1));
        List<Long> stored = new ArrayList<>();
        for (int n = 0; n < 3; n++) {
          if (behind.get(n).succeeded()) {
            stored.add(10L * (n + 1));
          }
        }
        assertEquals(
            stored,
            await(
                store.read(
                    "SELECT id FROM note WHERE id < 1000 ORDER BY id",
                    List.of(),
                    row -> row.integer("id"))));
        assertTrue(behind.get(1).failed());
      }
      await(store.commit(oneMore(ids)));
      await(store.close());
    }
  }

  private static int count(Connection asking, String condition) throws SQLException {
    try (ResultSet found =
        asking
            .createStatement()
            .executeQuery(
                "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                    + condition)) {
      assertTrue(found.next());
      return found.getInt(1);
    }
  }

  @Test
  void aServerThatFallsSilentIsGivenUp() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    String url =
        SharedPostgres.server()
            .newDatabase()
            .replace(":" + SharedPostgres.server().port(), ":" + proxy.port());
    Database store = await(openHastily(url));
    proxy.plan = CuttingProxy.Plan.FALL_SILENT;
    Future<Void> commit = store.commit(List.of(note(1, "n")));
    assertInstanceOf(StoreUnavailableException.class, failureOf(commit));
    proxy.plan = CuttingProxy.Plan.NOTHING;
    AtomicLong ids = new AtomicLong(1);
    poll(
        "a commit after the silence",
        () -> await(store.commit(oneMore(ids)).map(true).otherwise(false)));
    await(store.close());
  }

  /** However long a commit takes: the server is asked whether it works on it. */
  @Test
  void aCommitThatNeverReachedTheServerIsSettledSoon() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    String url =
        SharedPostgres.server()
            .newDatabase()
            .replace(":" + SharedPostgres.server().port(), ":" + proxy.port());
    PostgresConfig patient =
        new PostgresConfig(PostgresUrl.parse(url), "", 2, 4_096, 4_096, 5_000, 600_000, 600_000);
    Database store =
        await(PostgresDatabase.open(vertx, patient, "db/postgres-contract", CLOCK, new Random()));
    await(store.commit(List.of(note(1, "n"))));
    proxy.plan = CuttingProxy.Plan.SWALLOW_COMMIT;
    Future<Void> commit = store.commit(List.of(note(2, "lost")));
    StoreUnavailableException lost =
        assertInstanceOf(StoreUnavailableException.class, failureOf(commit));
    assertFalse(lost.mayBeStored());
    await(store.commit(List.of(note(3, "n"))));
    await(store.close());
  }

  @Test
  void whatWaitsOnConnectionsThatWereLostUnseenIsDoneOnceTheServerAnswersOnANewOne()
      throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    PostgresUrl url =
        PostgresUrl.parse(
            SharedPostgres.server()
                .newDatabase()
                .replace(":" + SharedPostgres.server().port(), ":" + proxy.port()));
    // Nothing is dropped for being late here.
    PostgresConfig patient = new PostgresConfig(url, "", 2, 4_096, 4_096, 5_000, 600_000, 600_000);
    Database store =
        await(PostgresDatabase.open(vertx, patient, "db/postgres-contract", CLOCK, new Random()));
    await(store.commit(List.of(note(1, "n"))));
    proxy.lose();
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      waiting.add(
          store.read(
              "SELECT COUNT(*) AS counted FROM note", List.of(), row -> row.integer("counted")));
    }
    Future<Void> commit = store.commit(List.of(note(2, "n")));
    for (Future<?> read : waiting) {
      assertEquals(List.of(1L), await(read));
    }
    assertInstanceOf(StoreUnavailableException.class, failureOf(commit));
    await(store.commit(List.of(note(3, "n"))));
    await(store.close());
  }

  @Test
  void processesThatRaceCrosswiseLoseNoUpdateAndStoreNoneTwice() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    List<Database> processes = List.of(await(openAt(url)), await(openAt(url)));
    List<Statement> made = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      made.add(account("a" + i, 0L));
    }
    await(processes.get(0).commit(made));
    long stored = 0;
    for (long round = 0; round < 30; round++) {
      List<Future<Void>> racers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        for (int process = 0; process < 2; process++) {
          Database racer = processes.get(process);
          int which = process == 0 ? i : 7 - i;
          Statement unguarded =
              Statement.of("UPDATE account SET balance = ? WHERE name = ?", 2, "a" + (7 - which));
          racers.add(
              racer
                  .read(
                      "SELECT revision FROM account WHERE name = ?",
                      List.of("a" + which),
                      row -> row.integer("revision"))
                  .compose(
                      found ->
                          racer.commit(
                              List.of(setBalance("a" + which, found.get(0), 1), unguarded))));
        }
      }
      await(Future.join(racers).otherwiseEmpty());
      assertTrue(
          racers.stream()
              .allMatch(
                  f ->
                      f.succeeded()
                          || f.cause() instanceof StaleRevisionException
                          || f.cause() instanceof StoreUnavailableException));
      stored += racers.stream().filter(Future::succeeded).count();
    }
    assertEquals(
        List.of(stored),
        await(
            processes
                .get(0)
                .read(
                    "SELECT SUM(revision) AS total FROM account",
                    List.of(),
                    row -> row.integer("total"))));
    for (Database process : processes) {
      await(process.close());
    }
  }

  /**
   * Information about a caller from before the connection was made does not count, as after a
   * suspension of the machine: the caller is checked again when the commit is sent.
   */
  @Test
  void aCommitIsNotSentOverANewConnectionBeforeItsCallerIsJudgedAgain() throws Exception {
    AtomicInteger judged = new AtomicInteger();
    RequestContext request = new RequestContext("r", "", System::nanoTime);
    request.setStanding(
        new RequestContext.Standing() {
          @Override
          public String actor() {
            return "token:gone";
          }

          @Override
          public Future<Void> confirm(long sinceNanos) {
            judged.incrementAndGet();
            return Future.failedFuture(new IllegalStateException("revoked"));
          }
        });
    ContextInternal context = ((VertxInternal) vertx).createEventLoopContext().duplicate();
    request.enter(context);
    AtomicLong ids = new AtomicLong();
    // On a slow machine a commit may come so late that the connection is no longer new.
    poll(
        "a refusal",
        () -> {
          SharedPostgres.server().terminateSessions();
          Statement act = note(ids.incrementAndGet(), "n").recording("token:gone");
          Promise<Void> answer = Promise.promise();
          context.runOnContext(v -> database.commit(List.of(act)).onComplete(answer));
          return await(answer.future().map("stored").otherwise(e -> e.getMessage()))
              .equals("revoked");
        });
    assertTrue(judged.get() > 0);
    assertFalse(await(database.exists("SELECT id FROM note WHERE id = ?", List.of(ids.get()))));
  }

  @Test
  void encryptionThatIsRequiredButNotOfferedIsNotDoneWithout() throws Exception {
    StoreUnavailableException failure =
        assertInstanceOf(
            StoreUnavailableException.class,
            failureOf(openAt(SharedPostgres.server().newDatabase() + "?sslmode=require")));
    assertTrue(String.valueOf(failure.getMessage()).contains("SSL"), failure.getMessage());
  }

  @Test
  void aPasswordIsAskedForAndAWrongOneRefused(@TempDir Path folder) throws Exception {
    try (PostgresServer own = PostgresServer.start(folder.resolve("pg"), Map.of())) {
      String url = own.newDatabase().replace("postgres@", "keeper@");
      own.execute("CREATE ROLE keeper LOGIN SUPERUSER PASSWORD 'right'");
      Path rules = own.folder().resolve("pg_hba.conf");
      Files.writeString(rules, "host all keeper all scram-sha-256\n" + Files.readString(rules));
      own.execute("SELECT pg_reload_conf()");
      await(await(openAt(url.replace("keeper@", "keeper:right@"))).close());
      StoreRefusedException refusal =
          assertInstanceOf(
              StoreRefusedException.class,
              failureOf(openAt(url.replace("keeper@", "keeper:wrong@"))));
      assertFalse(String.valueOf(refusal.getMessage()).contains("wrong"), refusal.getMessage());
    }
  }

  @Test
  void aMissingDatabaseIsRefused() throws Exception {
    assertInstanceOf(
        StoreRefusedException.class,
        failureOf(openAt(SharedPostgres.server().newDatabase() + "_not")));
  }
}
