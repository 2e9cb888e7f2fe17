package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.store.Database;
import dev.bourse.testing.TestStore;
import io.vertx.core.Future;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seals in the embedded store. */
@SuppressWarnings("NullAway.Init") // JUnit makes the folder before each test.
class SqliteSealsTest extends SealsTest {
  @TempDir Path folder;

  @Override
  Future<? extends Database> open() {
    return TestStore.openEmbedded(vertx, folder.resolve("bourse.db"), clock);
  }

  @Test
  void idsAreStoredInOrderSoNothingWaits() throws Exception {
    row(1, "acme", false);
    round(sealer::step);

    assertEquals(1, verify("acme", false, 0).rows());
  }
}
