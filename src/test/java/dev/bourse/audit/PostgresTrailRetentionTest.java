package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.store.PostgresConfig;
import dev.bourse.store.PostgresDatabase;
import dev.bourse.store.PostgresOfClass;
import dev.bourse.store.PostgresUrl;
import io.vertx.core.Future;
import java.util.Random;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Retention on a server that several processes share. */
class PostgresTrailRetentionTest extends TrailRetentionTest {
  @RegisterExtension static final PostgresOfClass POSTGRES = new PostgresOfClass();

  @Override
  Future<? extends Database> open() throws Exception {
    return PostgresDatabase.open(
        vertx,
        PostgresConfig.defaults(PostgresUrl.parse(POSTGRES.server().newDatabase()), ""),
        "db/postgres",
        clock,
        new Random());
  }
}
