package dev.bourse.backup;

import dev.bourse.store.Migration;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteWholeStore;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;

/**
 * The layout of a data folder.
 *
 * @param rows the file of the embedded store
 * @param schema the class-path folder of its schema
 * @param checkpoints the folder of published bytes
 */
public record DataFolderLayout(String rows, String schema, String checkpoints) {
  /** Opens a store for inspection, without disturbing the service that uses it. */
  WholeStore look(Path file) throws IOException {
    return SqliteWholeStore.open(
        file, SqliteConfig.defaults(), schema, Clock.systemUTC(), WholeStore.Purpose.LOOK);
  }

  /** Returns the version of its schema. */
  static int version(WholeStore store) {
    List<Migration> pending = store.pending();
    return pending.isEmpty() ? store.programVersion() : pending.get(0).versionBefore();
  }
}
