package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;

/** Retention on a server that several processes share. */
class PostgresTrailRetentionTest extends TrailRetentionTest {
  @Override
  Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }
}
