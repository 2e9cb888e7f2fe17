package dev.bourse.access;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;

/** The same on PostgreSQL. */
class PostgresOperatorNamesTest extends OperatorNamesTest {
  @Override
  protected Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }

  @Override
  String steps() {
    return "db/postgres";
  }
}
