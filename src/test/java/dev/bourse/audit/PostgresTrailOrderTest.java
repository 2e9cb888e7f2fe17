package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What readers of a trail are shown while other processes write to it. */
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
    return await(
        PostgresDatabase.open(
            vertx,
            PostgresConfig.defaults(PostgresUrl.parse(url), ""),
            "db/postgres",
            new FakeClock(1),
            new Random()));
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
    // It has its id and stays in the middle of its commit for a while.
    Future<Void> slow =
        there.commit(
            statements(
                row("slow"),
                "UPDATE org SET display = 'z' WHERE org_id = 'globex' AND pg_sleep(3) IS NOT"
                    + " NULL"));
    try (Connection observer = SharedPostgres.server().connect(url)) {
      awaitAsleep(observer);
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

  private static void awaitAsleep(Connection observer) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    boolean isAsleep = false;
    while (!isAsleep) {
      assertTrue(System.nanoTime() < deadline, "the slow commit is under way");
      try (var rows =
          observer
              .createStatement()
              .executeQuery("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")) {
        isAsleep = rows.next() && rows.getLong(1) > 0;
      }
    }
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
