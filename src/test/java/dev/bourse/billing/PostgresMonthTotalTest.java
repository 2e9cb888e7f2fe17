package dev.bourse.billing;

import dev.bourse.store.Database;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.testing.PostgresOfClass;
import io.vertx.core.Future;
import java.util.Random;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Totals on a server that several processes share. */
class PostgresMonthTotalTest extends MonthTotalTest {
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
}
