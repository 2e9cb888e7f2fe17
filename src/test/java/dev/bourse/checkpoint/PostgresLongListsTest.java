package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.testing.PostgresServer;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Long lists on a server that several processes share. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class PostgresLongListsTest extends LongListsTest {
  private static PostgresServer server;

  @BeforeAll
  static void startServer(@TempDir Path folder) throws Exception {
    server = PostgresServer.start(folder.resolve("pg"), Map.of());
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
  }

  @Override
  Future<? extends Database> open() throws Exception {
    return PostgresDatabase.open(
        vertx,
        PostgresConfig.defaults(PostgresUrl.parse(server.newDatabase()), ""),
        "db/postgres",
        clock,
        new Random());
  }
}
