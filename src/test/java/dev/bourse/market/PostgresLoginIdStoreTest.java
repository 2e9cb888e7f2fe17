package dev.bourse.market;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;

/** The tests of {@link LoginIdStoreTest} in PostgreSQL. */
class PostgresLoginIdStoreTest extends LoginIdStoreTest {
  @Override
  protected Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }
}
