package dev.bourse.store.sqlite;

import dev.bourse.store.StoreRefused;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteJDBCLoader;

/**
 * The engine's native library, which its driver unpacks into a file to load it from: into the
 * folder for temporary files, or, where that cannot be written or run from, beside the store.
 */
final class SqliteDriver {
  private static final Logger LOG = LoggerFactory.getLogger(SqliteDriver.class);

  /** Where the driver unpacks to; an operator may set it too. */
  private static final String FOLDER = "org.sqlite.tmpdir";

  private static volatile boolean isLoaded;

  private SqliteDriver() {}

  /**
   * Loads it once.
   *
   * @param beside where else it may be unpacked to
   * @throws StoreRefused saying what to set when it can be loaded from nowhere
   */
  static void load(@Nullable Path beside) {
    if (!isLoaded) {
      loadOnce(beside);
    }
  }

  private static synchronized void loadOnce(@Nullable Path beside) {
    if (isLoaded) {
      return;
    }
    Throwable refusal = tryLoading();
    if (refusal != null && beside != null && System.getProperty(FOLDER) == null) {
      LOG.info(
          "the folder for temporary files, {}, cannot hold the store's library; it goes into {}",
          System.getProperty("java.io.tmpdir"),
          beside);
      System.setProperty(FOLDER, beside.toString());
      refusal = tryLoading();
    }
    if (refusal != null) {
      throw new StoreRefused(
          """
          the store's library can be unpacked to, or run from, neither the folder for \
          temporary files nor the data folder; start java with -D%s=FOLDER, one that can be \
          written and is not mounted noexec (%s)\
          """
              .formatted(FOLDER, refusal.getMessage()),
          refusal);
    }
    isLoaded = true;
  }

  private static @Nullable Throwable tryLoading() {
    try {
      return SQLiteJDBCLoader.initialize() ? null : new IllegalStateException("it does not load");
    } catch (Exception | LinkageError refused) {
      return refused;
    }
  }
}
