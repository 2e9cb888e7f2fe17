package dev.bourse.billing;

import dev.bourse.store.Database;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import java.util.Random;

/** The same on a server that several processes share. */
class PostgresUsageStoreTest extends UsageStoreTest {
  @Override
  protected Future<? extends Database> open() throws Exception {
    return PostgresDatabase.open(
        vertx,
        PostgresConfig.defaults(PostgresUrl.parse(SharedPostgres.server().newStore()), ""),
        "db/postgres",
        clock,
        new Random());
  }
}
