package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.testing.TestStore;
import io.vertx.core.Future;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Long lists on the embedded store. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SqliteLongListsTest extends LongListsTest {
  @TempDir Path folder;

  @Override
  Future<? extends Database> open() {
    return TestStore.openEmbedded(vertx, folder.resolve("bourse.db"), clock);
  }
}
