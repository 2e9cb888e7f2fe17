package dev.bourse.events;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;

/** The same on PostgreSQL, whose functions on text are others. */
class PostgresActivityRowsTest extends ActivityRowsTest {
  @Override
  protected Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }

  @Override
  String steps() {
    return "db/postgres";
  }
}
