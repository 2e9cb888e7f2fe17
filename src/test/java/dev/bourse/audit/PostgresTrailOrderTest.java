package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.testing.Polls;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rows that readers of a trail see while other processes write to it. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class PostgresTrailOrderTest {
  private final Vertx vertx = Vertx.vertx();
  private String url;
  private Database here;
  private Database there;

  @BeforeEach
  void open() throws Exception {
    url = SharedPostgres.server().newStore();
    here = openStore();
    there = openStore();
    for (String org : List.of("acme", "globex")) {
      commit(
          here,
          "INSERT INTO org (org_id, display, kind, created_at) VALUES ('"
              + org
              + "', 'x', 'standard', 0)");
    }
  }

  private Database openStore() throws Exception {
    return await(SharedPostgres.openStore(vertx, url, new FakeClock(1)));
  }

  @AfterEach
  void close() throws Exception {
    await(here.close());
    await(there.close());
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static void commit(Database store, String... sql) throws Exception {
    await(store.commit(statements(sql)));
  }

  private static List<Statement> statements(String... sql) {
    return List.of(sql).stream().map(Statement::of).toList();
  }

  private static String row(String detail) {
    return "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
        + " VALUES (1, 'acme', 'token:a', 'vm_capacity_put', 'c', '"
        + detail
        + "', 0)";
  }

  private List<String> head() throws Exception {
    return page(Long.MAX_VALUE).items().stream().map(TrailEntry::detail).toList();
  }

  private Page<TrailEntry> page(long before) throws Exception {
    return await(
        new TrailStore(here)
            .listEntries(
                "acme", Optional.empty(), new TrailQuery(false, OptionalInt.of(2), before)));
  }

  @Test
  void noRowAppearsBelowOneThatWasShown() throws Exception {
    commit(here, row("first"));
    // It has its id and pauses in the middle of its commit.
    Future<Void> slow =
        there.commit(
            statements(
                row("slow"),
                "UPDATE org SET display = 'z' WHERE org_id = 'globex' AND pg_sleep(3) IS NOT"
                    + " NULL"));
    try (Connection observer = SharedPostgres.server().connect(url)) {
      awaitAsleep(observer, slow);
    }
    commit(here, row("quick"));

    List<String> shown = head();
    assertTrue(shown.equals(List.of("first")) || slow.isComplete(), shown::toString);

    await(slow);
    assertEquals(List.of("quick", "slow"), head());
    assertEquals(List.of("first"), below("slow"));
  }

  private List<String> below(String detail) throws Exception {
    long id =
        await(
                here.read(
                    "SELECT id FROM audit WHERE detail = ?",
                    List.of(detail),
                    row -> row.integer("id")))
            .get(0);
    return page(id).items().stream().map(TrailEntry::detail).toList();
  }

  /** Waits until the commit pauses; on a machine that stood still it may have ended before. */
  private static void awaitAsleep(Connection observer, Future<Void> slow) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    boolean isAsleep = false;
    while (!isAsleep && !slow.isComplete()) {
      assertTrue(System.nanoTime() < deadline, "the slow commit is under way");
      try (var rows =
          observer
              .createStatement()
              .executeQuery("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")) {
        isAsleep = rows.next() && rows.getLong(1) > 0;
      }
    }
  }

  /** Simulates a fail-over to a server that is behind. */
  @Test
  void whatIsSettledIsAskedForAgainOfADatabaseThatWasSetBack() throws Exception {
    await(here.commit(List.of()));
    try (Connection server = SharedPostgres.server().connect(url);
        java.sql.Statement sql = server.createStatement()) {
      sql.execute("SELECT setval('audit_id_seq', 1000)");
      assertEquals(1_000L, await(here.settledTrail(1_000)));
      sql.execute("SELECT setval('audit_id_seq', 900)");
      assertEquals(1_000L, await(here.settledTrail(950)), "what is known is not asked for");
      sql.execute("DELETE FROM commit_log");
    }
    Polls.until("it is asked for", () -> settled(950) == 900);
  }

  /** -1 while the server is unreachable. */
  private long settled(long enough) {
    try {
      return await(here.settledTrail(enough));
    } catch (Exception away) {
      return -1;
    }
  }

  /** Simulates the promotion of a standby that lacks rows which were shown. */
  @Test
  void idsOfAnotherTimelineAreAboveAllThatWereShown() throws Exception {
    commit(here, row("shown"));
    long shown = idOf("shown");
    SharedPostgres.server()
        .execute(
            url,
            "DELETE FROM audit; DELETE FROM commit_log; SELECT setval('audit_id_seq', 1, false),"
                + " setval('audit_timeline', 4711)");
    commitOverNewSessions("raised");
    long raised = idOf("raised");
    assertTrue(raised - shown > 1_000_000_000_000L, raised + " follows " + shown);

    commitOverNewSessions("as ever");
    assertTrue(idOf("as ever") - raised < 1_000, "they are raised once for a timeline");
    assertEquals("as ever", head().get(0));
  }

  private void commitOverNewSessions(String detail) throws Exception {
    SharedPostgres.server().terminateSessions();
    Polls.until(
        "a commit of each process",
        () -> isStored(here.commit(statements(row(detail)))) && isStored(there.commit(List.of())));
  }

  private static boolean isStored(Future<Void> commit) {
    try {
      await(commit);
      return true;
    } catch (Exception away) {
      return false;
    }
  }

  private long idOf(String detail) throws Exception {
    return await(
        here.readOne(
            "SELECT MAX(id) AS id FROM audit WHERE detail = ?",
            List.of(detail),
            row -> row.integer("id")));
  }

  /** Sessions end within commits, as when a process crashes. */
  @Test
  void aReaderThatFollowsMissesNothingOfTwoWriters() throws Exception {
    List<Future<Void>> commits = new ArrayList<>();
    List<Long> followed = new ArrayList<>();
    TrailStore trails = new TrailStore(here);
    for (int i = 0; i < 120; i++) {
      // A pause between the ids of a commit and its end lets commits overtake each other.
      commits.add(here.commit(statements(row("here"), nap(2))));
      commits.add(there.commit(statements(row("there"), nap(5))));
      if (i == 60) {
        SharedPostgres.server().terminateSessions();
      }
      follow(trails, followed);
    }
    await(Future.join(commits).otherwiseEmpty());
    Polls.until("the store takes rows again", () -> isStored(here.commit(statements(row("last")))));
    // A read may fail while its session is replaced.
    Polls.until(
        "the reader has followed to the end",
        () -> {
          try {
            follow(trails, followed);
            return followed.size() >= ids().size();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    assertEquals(ids(), followed);
  }

  private List<Long> ids() throws Exception {
    return await(here.read("SELECT id FROM audit ORDER BY id", List.of(), r -> r.integer("id")));
  }

  private static String nap(int millis) {
    return "UPDATE org SET display = 'z' WHERE org_id = 'none' AND pg_sleep(0.00%d) IS NOT NULL"
        .formatted(millis);
  }

  /** Adds the ids after the last one. */
  private static void follow(TrailStore trails, List<Long> followed) throws Exception {
    long last = followed.isEmpty() ? 0 : followed.get(followed.size() - 1);
    List<TrailEntry> more = await(trails.listWritesAfter("acme", last, 100).otherwise(List.of()));
    more.forEach(entry -> followed.add(entry.id()));
  }

  @Test
  void whatOneWroteIsThereWhileOthersWrite() throws Exception {
    List<Future<Void>> others = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      others.add(there.commit(statements(row("other"))));
      commit(here, row("mine" + i));
      List<String> mine =
          await(
                  new TrailStore(here)
                      .listEntries(
                          "acme",
                          Optional.empty(),
                          new TrailQuery(false, OptionalInt.of(500), Long.MAX_VALUE)))
              .items()
              .stream()
              .map(TrailEntry::detail)
              .toList();
      assertTrue(mine.contains("mine" + i), "row " + i);
    }
    await(Future.all(others));
  }
}
