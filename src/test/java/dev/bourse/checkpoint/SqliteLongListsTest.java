package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.SqliteDatabase;
import dev.bourse.store.StoreConfig;
import io.vertx.core.Future;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Long lists of the embedded store. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SqliteLongListsTest extends LongListsTest {
  @TempDir Path folder;

  @Override
  Future<? extends Database> open() {
    return SqliteDatabase.open(
        vertx, folder.resolve("bourse.db"), StoreConfig.defaults(), "db/sqlite", clock);
  }
}
