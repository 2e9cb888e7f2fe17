package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;

/** Long lists on a server that several processes share. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class PostgresLongListsTest extends LongListsTest {
  @Override
  Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }
}
