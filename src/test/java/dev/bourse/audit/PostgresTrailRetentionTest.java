package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.store.PostgresConfig;
import dev.bourse.store.PostgresDatabase;
import dev.bourse.store.PostgresServer;
import dev.bourse.store.PostgresUrl;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Retention on a server that several processes share. */
class PostgresTrailRetentionTest extends TrailRetentionTest {
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
