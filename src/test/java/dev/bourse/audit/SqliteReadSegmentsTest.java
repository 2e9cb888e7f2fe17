package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import io.vertx.core.Future;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Segments in a file of this process alone. */
@SuppressWarnings("NullAway.Init") // JUnit sets the folder before each test.
class SqliteReadSegmentsTest extends ReadSegmentsTest {
  @TempDir private Path folder;

  @Override
  Future<? extends Database> open() {
    return SqliteDatabase.open(
        vertx, folder.resolve("bourse.db"), SqliteConfig.defaults(), "db/schema", clock);
  }
}
