package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A migration while another session keeps its tables locked, as pg_dump does. */
class PostgresSchemaSessionTest {
  private static final List<Statement> STEP =
      List.of(
          Statement.of("ALTER TABLE free ADD COLUMN b INTEGER"),
          Statement.of("ALTER TABLE dumped ADD COLUMN b INTEGER"));

  private final Vertx vertx = Vertx.vertx();
  private String url = "";
  private PgConnection connection;

  @BeforeEach
  void openSession() throws Exception {
    url = SharedPostgres.server().newDatabase();
    SharedPostgres.server()
        .execute(url, "CREATE TABLE free (a INTEGER); CREATE TABLE dumped (a INTEGER)");
    connection =
        await(
            PostgresGuard.open(
                ((VertxInternal) vertx).createEventLoopContext(),
                PostgresConfig.defaults(PostgresUrl.parse(url), ""),
                PostgresLink.Needs.WRITABLE));
  }

  @AfterEach
  void closeVertx() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private Connection dump() throws Exception {
    Connection dumping = SharedPostgres.server().connect(url);
    dumping.setAutoCommit(false);
    dumping.createStatement().execute("LOCK TABLE dumped IN ACCESS SHARE MODE");
    return dumping;
  }

  @Test
  void aStepWaitsForADumpWhileQueriesAreAnswered() throws Exception {
    Future<Void> migrated;
    try (Connection dumping = dump();
        Connection client = SharedPostgres.server().connect(url)) {
      migrated = new PostgresSchemaSession(connection, vertx, 10, 60_000).commit(STEP);
      client.createStatement().execute("SET statement_timeout = '10s'");
      for (int i = 0; i < 10; i++) {
        // Each fails if it waits behind a migration for longer than that.
        client.createStatement().execute("SELECT a FROM dumped; SELECT a FROM free");
      }
      assertFalse(migrated.isComplete());
      dumping.rollback();
    }
    await(migrated);
    SharedPostgres.server().execute(url, "SELECT b FROM dumped; SELECT b FROM free");
  }

  @Test
  void aStepGivesUpInTheEndAndLeavesNothing() throws Exception {
    try (Connection dumping = dump()) {
      StoreUnavailableException failure =
          assertInstanceOf(
              StoreUnavailableException.class,
              assertThrows(
                      Exception.class,
                      () -> await(new PostgresSchemaSession(connection, vertx, 10, 0).commit(STEP)))
                  .getCause());
      assertTrue(
          String.valueOf(failure.getMessage()).startsWith("a table of the migration was in use"),
          failure.getMessage());
      dumping.rollback();
    }
    assertEquals(
        0,
        await(
                connection
                    .query(
                        "SELECT 1 FROM pg_attribute WHERE attrelid = 'free'::regclass"
                            + " AND attname = 'b'")
                    .execute())
            .size());
  }
}
