package dev.bourse.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on PostgreSQL. */
class PostgresDatabaseTest extends DatabaseContractTest {
  private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(12_345), ZoneOffset.UTC);

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
  Future<PostgresDatabase> open(int queued) throws Exception {
    return PostgresDatabase.open(
        vertx,
        new PostgresConfig(
            PostgresUrl.parse(server.newDatabase()), "", 2, queued, queued, 5_000, 5_000, 10_000),
        "db/postgres-contract",
        CLOCK,
        new Random());
  }

  @Test
  void theStoreIsShared() {
    assertTrue(database.isShared());
  }
}
