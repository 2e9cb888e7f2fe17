package dev.bourse.store.sqlite;

import dev.bourse.store.StoreRefused;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.util.LibraryLoaderUtil;

/**
 * The engine's native library, which is unpacked into a file to load it from: into the folder for
 * temporary files, or, where that cannot be written or run from, beside the store. The file is gone
 * once it is loaded.
 *
 * <p>The driver can unpack it as well, but then reads both copies again, byte by byte, to compare
 * them, which takes a tenth of a start.
 */
final class SqliteDriver {
  private static final Logger LOG = LoggerFactory.getLogger(SqliteDriver.class);

  /** Where to unpack to, as the driver calls it; an operator may set it. */
  private static final String FOLDER = "org.sqlite.tmpdir";

  /** The folder in which the driver looks for an unpacked library; an operator may set it. */
  private static final String UNPACKED = "org.sqlite.lib.path";

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
    String temporary = System.getProperty(FOLDER, System.getProperty("java.io.tmpdir"));
    Throwable refusal =
        System.getProperty(UNPACKED) == null ? tryFrom(Path.of(temporary)) : tryLoading();
    if (refusal != null && beside != null && System.getProperty(FOLDER) == null) {
      LOG.info(
          "the folder for temporary files, {}, cannot hold the store's library; it goes into {}",
          temporary,
          beside);
      refusal = tryFrom(beside);
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

  /** Null when it is loaded. */
  private static @Nullable Throwable tryFrom(Path folder) {
    String name = LibraryLoaderUtil.getNativeLibName();
    String resource = LibraryLoaderUtil.getNativeLibResourcePath() + '/' + name;
    try (InputStream packed = SQLiteJDBCLoader.class.getResourceAsStream(resource)) {
      if (packed == null) {
        // A system that the driver has no library for: its own words say so.
        return tryLoading();
      }
      // Of this user alone, so that nobody puts another library in its place.
      Path own = Files.createTempDirectory(folder, "bourse-sqlite");
      try {
        Files.copy(packed, own.resolve(name));
        System.setProperty(UNPACKED, own.toString());
        return tryLoading();
      } finally {
        System.clearProperty(UNPACKED);
        Files.deleteIfExists(own.resolve(name));
        Files.delete(own);
      }
    } catch (IOException refused) {
      return refused;
    }
  }

  private static @Nullable Throwable tryLoading() {
    try {
      return SQLiteJDBCLoader.initialize() ? null : new IllegalStateException("it does not load");
    } catch (Exception | LinkageError refused) {
      return refused;
    }
  }
}
