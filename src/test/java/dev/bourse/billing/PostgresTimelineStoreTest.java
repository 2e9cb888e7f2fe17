package dev.bourse.billing;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;

/** Timelines on a server that several processes share. */
class PostgresTimelineStoreTest extends TimelineStoreTest {
  @Override
  protected Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }
}
