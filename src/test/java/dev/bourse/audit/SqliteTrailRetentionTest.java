package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.testing.TestStore;
import io.vertx.core.Future;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Retention in the embedded store. */
@SuppressWarnings("NullAway.Init") // JUnit makes the folder before each test.
class SqliteTrailRetentionTest extends TrailRetentionTest {
  @TempDir Path folder;

  @Override
  Future<? extends Database> open() {
    return TestStore.openEmbedded(vertx, folder.resolve("bourse.db"), clock);
  }
}
