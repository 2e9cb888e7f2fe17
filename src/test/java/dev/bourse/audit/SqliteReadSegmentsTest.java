package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.testing.TestStore;
import io.vertx.core.Future;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Segments in a file of this process alone. */
@SuppressWarnings("NullAway.Init") // JUnit sets the folder before each test.
class SqliteReadSegmentsTest extends ReadSegmentsTest {
  @TempDir private Path folder;

  @Override
  Future<? extends Database> open() {
    return TestStore.openEmbedded(vertx, folder.resolve("bourse.db"), clock);
  }
}
