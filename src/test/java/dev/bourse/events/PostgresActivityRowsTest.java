package dev.bourse.events;

import dev.bourse.store.Database;
import dev.bourse.store.PostgresConfig;
import dev.bourse.store.PostgresDatabase;
import dev.bourse.store.PostgresOfClass;
import dev.bourse.store.PostgresUrl;
import io.vertx.core.Future;
import java.util.Random;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The same on PostgreSQL, whose functions on text are others. */
class PostgresActivityRowsTest extends ActivityRowsTest {
  @RegisterExtension static final PostgresOfClass POSTGRES = new PostgresOfClass();

  @Override
  protected Future<? extends Database> open() throws Exception {
    return PostgresDatabase.open(
        vertx,
        PostgresConfig.defaults(PostgresUrl.parse(POSTGRES.server().newDatabase()), ""),
        "db/postgres",
        clock,
        new Random());
  }

  @Override
  String steps() {
    return "db/postgres";
  }
}
