package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.BatchedPromise;
import dev.bourse.store.CuttingProxy;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.testing.LogCapture;
import dev.bourse.testing.PostgresServer;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.sqlclient.Tuple;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The choice of the server, and the detection of dead connections. */
class PostgresHostsTest {
  private static final String PID = "SELECT CAST(pg_backend_pid() AS bigint) AS n";

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void closeVertx() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static void poll(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < deadline, () -> what + " did not happen");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
  }

  /** A configuration whose queries may take a minute, so that only a probe is fast. */
  private static PostgresConfig patient(String url) {
    return new PostgresConfig(PostgresUrl.parse(url), "", 2, 4_096, 4_096, 60_000, 60_000, 60_000);
  }

  private Future<PostgresDatabase> open(PostgresConfig config) {
    return PostgresDatabase.open(
        vertx, config, "db/postgres-contract", Clock.systemUTC(), new Random());
  }

  private static Statement note(long id) {
    return Statement.of("INSERT INTO note (id, text) VALUES (?, ?)", id, "n");
  }

  private static long askedPort(Database store) throws Exception {
    return await(
        store
            .readOne("SELECT inet_server_port() AS port", List.of(), row -> row.integer("port"))
            .otherwise(0L));
  }

  private static String hosts(String database, int... ports) {
    List<String> hosts = new ArrayList<>();
    for (int port : ports) {
      hosts.add("localhost:" + port);
    }
    return "postgres://postgres@"
        + String.join(",", hosts)
        + database.substring(database.lastIndexOf('/'));
  }

  private static long trailId(Database store) throws Exception {
    return await(
        store.readOne(
            "SELECT last_value AS n FROM audit_id_seq", List.of(), row -> row.integer("n")));
  }

  @Test
  void afterASwitchoverTheNewPrimaryIsUsedAndTheReturnedStandbyNever(@TempDir Path folder)
      throws Exception {
    try (PostgresServer one = PostgresServer.start(folder.resolve("one"), Map.of())) {
      String database = one.newDatabase();
      one.execute(
          database,
          "CREATE SEQUENCE audit_id_seq; CREATE SEQUENCE audit_timeline;"
              + " SELECT setval('audit_timeline', 1)");
      try (PostgresServer other = one.startStandby(folder.resolve("other"))) {
        PostgresConfig standbyOnly = patient(hosts(database, other.port()));
        StoreUnavailableException refusal =
            assertInstanceOf(
                StoreUnavailableException.class,
                assertThrows(Exception.class, () -> await(open(standbyOnly))).getCause());
        assertTrue(
            String.valueOf(refusal.getMessage())
                .endsWith("localhost:" + other.port() + " is a standby"),
            refusal.getMessage());

        Database store = await(open(patient(hosts(database, other.port(), one.port()))));
        assertEquals(one.port(), askedPort(store));
        await(store.commit(List.of(note(1))));
        String lineage = await(store.lineage());
        assertEquals(lineage, await(store.lineage()));
        one.stop();
        other.execute("SELECT pg_promote()");
        one.follow(other);
        AtomicLong ids = new AtomicLong(1);
        poll(
            "a commit to the new primary",
            () ->
                await(
                    store.commit(List.of(note(ids.incrementAndGet()))).map(true).otherwise(false)));
        poll("a read of the new primary", () -> askedPort(store) == other.port());
        long raised = trailId(store);
        assertTrue(raised > 1_000_000_000_000L, raised + " is not above all before");
        String promoted = await(store.lineage());
        assertNotEquals(lineage, promoted);
        String cluster = lineage.substring(0, lineage.indexOf('.') + 1);
        assertTrue(promoted.startsWith(cluster), promoted + " after " + lineage);
        assertEquals(0, store.setBacks());
        assertEquals(
            List.of(1L, ids.get()),
            await(
                store.read(
                    "SELECT id FROM note ORDER BY id", List.of(), row -> row.integer("id"))));

        // It returns, while every connection leads to the server that becomes a standby.
        other.stop();
        one.execute("SELECT pg_promote()");
        other.follow(one);
        poll(
            "a commit after the return",
            () ->
                await(
                    store.commit(List.of(note(ids.incrementAndGet()))).map(true).otherwise(false)));
        poll("a read after the return", () -> askedPort(store) == one.port());
        assertTrue(trailId(store) > raised, "ids that the standby may never have heard of");
        await(store.close());
      }
    }
  }

  /** The former primary was not stopped when the standby was promoted, and accepts writes. */
  @Test
  void ofTwoPrimariesTheOneThatWasPromotedLastIsUsedAndTheOtherNeverAgain(@TempDir Path folder)
      throws Exception {
    try (PostgresServer one = PostgresServer.start(folder.resolve("one"), Map.of())) {
      String database = one.newDatabase();
      try (PostgresServer other = one.startStandby(folder.resolve("other"))) {
        List<String> refusals = new ArrayList<>();
        Database store = await(open(patient(hosts(database, one.port(), other.port()))));
        await(store.commit(List.of(note(1))));
        poll(
            "a standby that has all",
            () ->
                await(
                    store.exists(
                        """
                        SELECT pid FROM pg_stat_replication
                        WHERE replay_lsn >= pg_current_wal_insert_lsn()\
                        """,
                        List.of())));
        // The connections to the former primary stay open.
        other.execute("SELECT pg_promote()");
        poll("a read of the promoted server", () -> askedPort(store) == other.port());
        // The first may fail, because the promoted server may lack the last commit.
        AtomicLong ids = new AtomicLong(1);
        poll(
            "a commit to the promoted server",
            () ->
                await(
                    store
                        .commit(List.of(note(ids.incrementAndGet())))
                        .map(true)
                        .otherwise(
                            e -> {
                              refusals.add(causes(e));
                              return false;
                            })));
        assertTrue(
            await(store.exists("SELECT id FROM note WHERE id = ?", List.of(ids.get()))),
            refusals::toString);

        other.stop();
        poll(
            "a refusal that names the former primary",
            () ->
                await(
                    store
                        .commit(List.of(note(ids.incrementAndGet())))
                        .map("stored")
                        .otherwise(e -> causes(e))
                        .map(text -> text.contains("is a former primary"))));
        await(store.close());
      }
    }
  }

  private static String causes(Throwable failure) {
    StringBuilder all = new StringBuilder();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      all.append(cause.getMessage()).append("; ");
    }
    return all.toString();
  }

  @Test
  void aSessionThatCannotWriteIsReplaced() throws Exception {
    Database store = await(open(patient(SharedPostgres.server().newDatabase())));
    await(store.commit(List.of(Statement.of("SET default_transaction_read_only = on"))));
    Throwable refusal =
        assertThrows(Exception.class, () -> await(store.commit(List.of(note(1))))).getCause();
    assertInstanceOf(StoreUnavailableException.class, refusal);
    poll("a commit", () -> await(store.commit(List.of(note(2))).map(true).otherwise(false)));
    await(store.close());
  }

  @Test
  void aServerThatIsReadOnlyIsNotWrittenTo() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    String name = url.substring(url.lastIndexOf('/') + 1);
    Database store = await(open(patient(url)));
    SharedPostgres.server()
        .execute("ALTER DATABASE " + name + " SET default_transaction_read_only = on");
    SharedPostgres.server().terminateSessions();
    poll(
        "a refusal that says why",
        () ->
            await(
                store
                    .commit(List.of(note(1)))
                    .map(false)
                    .recover(
                        failure ->
                            Future.succeededFuture(
                                String.valueOf(failure.getCause()).contains("is read-only")))));
    SharedPostgres.server()
        .execute("ALTER DATABASE " + name + " SET default_transaction_read_only = off");
    poll("a commit", () -> await(store.commit(List.of(note(2))).map(true).otherwise(false)));
    await(store.close());
  }

  /** As with some hosted services. */
  @Test
  void aServerThatTellsNoTimelineIsWarnedOfAtTheStart() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    SharedPostgres.server()
        .execute(
            url,
            """
            REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC;
            DO $$ BEGIN CREATE ROLE hosted LOGIN; EXCEPTION WHEN duplicate_object THEN END $$;
            GRANT CREATE ON SCHEMA public TO hosted\
            """);
    PostgresConfig config = patient(url.replace("postgres@", "hosted@"));
    try (LogCapture log = new LogCapture()) {
      Database store = await(open(config));
      assertTrue(
          "warn".equalsIgnoreCase(log.await("does not report its timeline").getString("level")));
      assertEquals("", await(store.lineage()));
      await(store.close());
    }
    PostgresProbe.Seen seen = PostgresProbe.look(config, Clock.systemUTC());
    assertTrue(seen.timelineFault().contains("pg_control_system"), seen.timelineFault());
  }

  @Test
  void aSilentHostCostsNoMoreThanAMoment() throws Exception {
    // The kernel accepts connections that are never answered.
    try (ServerSocket silent = new ServerSocket(0)) {
      String database = SharedPostgres.server().newDatabase();
      Database store =
          await(
              open(
                  patient(
                      hosts(database, silent.getLocalPort(), SharedPostgres.server().port())
                          + "?target_session_attrs=read-write")));
      await(store.commit(List.of(note(1))));
      await(store.close());
    }
  }

  /** Readers of a database, without the listener that would detect a loss too. */
  private PostgresReaders readers(int connections, String url) throws Exception {
    PostgresReaders readers =
        new PostgresReaders(
            (VertxInternal) vertx,
            new PostgresConfig(
                PostgresUrl.parse(url), "", connections, 4_096, 4_096, 60_000, 60_000, 60_000),
            new PrimaryHistory(),
            new Random(),
            new StoreSignals());
    await(readers.connect());
    return readers;
  }

  private static String behind(CuttingProxy proxy) throws Exception {
    return hosts(SharedPostgres.server().newDatabase(), proxy.port()) + "?sslmode=disable";
  }

  /** Waits until a connection that was just used counts as idle. */
  private static void rest() throws Exception {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(150);
    poll("idleness", () -> System.nanoTime() > until);
  }

  /** Asks so many queries at once. None may take nearly as long as a query's time limit. */
  private void requirePromptAnswers(PostgresReaders readers, int queries) throws Exception {
    long begun = System.nanoTime();
    List<Future<List<Long>>> asked = new ArrayList<>();
    for (int i = 0; i < queries; i++) {
      asked.add(ask(readers, "SELECT CAST(7 AS bigint) AS n"));
    }
    for (Future<List<Long>> one : asked) {
      assertEquals(List.of(7L), await(one));
    }
    long took = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
    assertTrue(took < 30, "it took " + took + " s, nearly what a query may take");
  }

  @Test
  void aQueryOverConnectionsThatWereLostWhileIdleIsAskedAgain() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    PostgresReaders readers = readers(2, behind(proxy));
    proxy.lose();
    rest();
    requirePromptAnswers(readers, 1);
    await(readers.close());
  }

  /** The connection used last is not probed; the other one's probe reveals the loss of both. */
  @Test
  void aQueryOverAConnectionThatWasLostJustAfterItsUseIsAskedAgain() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    PostgresReaders readers = readers(2, behind(proxy));
    rest();
    await(ask(readers, PID));
    proxy.lose();
    requirePromptAnswers(readers, 2);
    await(readers.close());
  }

  /** The answer to the first query's probe says nothing about the moment of the second query. */
  @Test
  void aQueryIsProbedThoughAnEarlierProbeWasAnsweredMomentsAgo() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    PostgresReaders readers = readers(1, behind(proxy));
    rest();
    await(ask(readers, PID));
    proxy.lose();
    rest();
    requirePromptAnswers(readers, 1);
    await(readers.close());
  }

  /** The server is there; the attempt was only cut off early. */
  @Test
  void aQueryOutlivesAFirstAttemptToReconnectThatIsNotAnswered() throws Exception {
    CuttingProxy proxy = await(CuttingProxy.start(vertx, SharedPostgres.server().port()));
    PostgresReaders readers = readers(1, behind(proxy));
    proxy.lose();
    proxy.unanswered.set(1);
    rest();
    requirePromptAnswers(readers, 1);
    assertEquals(0, proxy.unanswered.get());
    await(readers.close());
  }

  @Test
  void aLongQueryAfterAPauseIsNotTakenForALostConnection() throws Exception {
    PostgresReaders readers = readers(1, SharedPostgres.server().newDatabase());
    List<Long> session = await(ask(readers, PID + " FROM pg_sleep(0.2)"));
    assertEquals(session, await(ask(readers, PID + " FROM pg_sleep(2)")));
    assertEquals(session, await(ask(readers, PID)), "the connection was kept");
    await(readers.close());
  }

  private Future<List<Long>> ask(PostgresReaders readers, String sql) {
    BatchedPromise<List<Long>> reply =
        new BatchedPromise<>(((VertxInternal) vertx).createEventLoopContext());
    assertEquals(
        null,
        readers.offer(
            new PostgresReaders.Query<>(
                PostgresSql.of(sql), Tuple.tuple(), row -> row.integer("n"), reply)));
    return reply.future();
  }
}
