package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import io.vertx.core.Future;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Long lists on the embedded store. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SqliteLongListsTest extends LongListsTest {
  @TempDir Path folder;

  @Override
  Future<? extends Database> open() {
    return SqliteDatabase.open(
        vertx, folder.resolve("bourse.db"), SqliteConfig.defaults(), "db/schema", clock);
  }
}
