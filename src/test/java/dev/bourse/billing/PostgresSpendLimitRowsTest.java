package dev.bourse.billing;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;

/** Spend limits on a server that several processes share. */
class PostgresSpendLimitRowsTest extends SpendLimitRowsTest {
  @Override
  protected Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }
}
