package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import java.util.Random;

/** Long lists on a server that several processes share. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class PostgresLongListsTest extends LongListsTest {
  @Override
  Future<? extends Database> open() throws Exception {
    return PostgresDatabase.open(
        vertx,
        PostgresConfig.defaults(PostgresUrl.parse(SharedPostgres.server().newStore()), ""),
        "db/postgres",
        clock,
        new Random());
  }
}
