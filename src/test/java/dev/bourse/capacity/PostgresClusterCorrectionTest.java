package dev.bourse.capacity;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;

/** The same tests on PostgreSQL. */
class PostgresClusterCorrectionTest extends ClusterCorrectionTest {
  @Override
  protected Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }
}
