package dev.bourse.backup;

import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteWholeStore;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;

/**
 * How a service calls what is in its data folder.
 *
 * @param rows the file of the embedded store
 * @param schema the class-path folder of its schema
 * @param checkpoints the folder of published bytes
 */
public record Embedded(String rows, String schema, String checkpoints) {
  /** Looks at a store without disturbing who serves it. */
  WholeStore look(Path file) throws IOException {
    return SqliteWholeStore.open(
        file, SqliteConfig.defaults(), schema, Clock.systemUTC(), WholeStore.Purpose.LOOK);
  }

  /** The version of its schema. */
  static int version(WholeStore store) {
    return store.programVersion() - store.pending().size();
  }
}
