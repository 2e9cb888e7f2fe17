package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.bourse.core.FakeClock;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.testing.Polls;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The settled part of the trail while commits are in progress. */
class PostgresOrderTest {
  private static final String ROW =
      "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
          + " VALUES (1, 'acme', 'token:a', 'vm_capacity_put', 'c', 'd', 0)";

  private static final String HANG =
      "UPDATE org SET display = 'x' WHERE pg_sleep(60) IS NOT NULL AND org_id = 'acme'";

  private static final String HANGING = "wait_event = 'PgSleep' AND datname = current_database()";

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @Test
  void aReaderDoesNotWaitForCommitsAboveWhatIsStored() throws Exception {
    Vertx vertx = Vertx.vertx();
    String url = SharedPostgres.server().newStore();
    Database store = await(SharedPostgres.openStore(vertx, url, new FakeClock(1)));
    try (Connection observer = SharedPostgres.server().connect(url)) {
      await(
          store.commit(
              List.of(
                  Statement.of(
                      "INSERT INTO org (org_id, display, kind, created_at)"
                          + " VALUES ('acme', 'x', 'standard', 0)"),
                  Statement.of(ROW))));
      // It has an id above the stored row's.
      Future<Void> hanging = store.commit(List.of(Statement.of(ROW), Statement.of(HANG)));
      Polls.until("the commit hangs", () -> count(observer, HANGING) == 1);

      AtomicInteger queries = new AtomicInteger();
      PostgresOrder order = new PostgresOrder(vertx, counting(store, queries));
      assertEquals(1L, await(order.settled(Long.MAX_VALUE)));
      assertEquals(1, queries.get(), "it is asked for again while a reader waits");
      assertFalse(hanging.isComplete());

      execute(observer, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE " + HANGING);
      await(hanging.otherwiseEmpty());
    } finally {
      await(store.close());
      await(vertx.close());
    }
  }

  private static Database counting(Database store, AtomicInteger queries) {
    return new ForwardingDatabase(store) {
      @Override
      public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
        queries.incrementAndGet();
        return super.read(sql, parameters, mapper);
      }
    };
  }

  private static long count(Connection observer, String where) {
    try (var statement = observer.createStatement();
        var rows = statement.executeQuery("SELECT COUNT(*) FROM pg_stat_activity WHERE " + where)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void execute(Connection observer, String sql) throws SQLException {
    try (var statement = observer.createStatement()) {
      statement.execute(sql);
    }
  }
}
