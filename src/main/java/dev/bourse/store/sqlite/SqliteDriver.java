package dev.bourse.store.sqlite;

import dev.bourse.store.StoreRefusedException;
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
 * The engine's native library, which is unpacked into a file to load it: into the folder for
 * temporary files, or, if that is not writable or not executable, beside the store. The file is
 * deleted after loading.
 *
 * <p>The driver can unpack it too, but then reads both copies again, byte by byte, to compare them,
 * which takes a tenth of a start.
 */
final class SqliteDriver {
  private static final Logger LOG = LoggerFactory.getLogger(SqliteDriver.class);

  /** The driver's setting for the folder to unpack into; an operator may set it. */
  private static final String FOLDER = "org.sqlite.tmpdir";

  /** The driver's setting for the folder of an unpacked library; an operator may set it. */
  private static final String UNPACKED = "org.sqlite.lib.path";

  private static volatile boolean isLoaded;

  private SqliteDriver() {}

  /**
   * Loads the library once.
   *
   * @param beside another folder for unpacking it
   * @throws StoreRefusedException if no folder works; the message names the setting to change
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
          "cannot unpack the store's library into the temporary folder {}; using {}",
          temporary,
          beside);
      refusal = tryFrom(beside);
    }
    if (refusal != null) {
      throw new StoreRefusedException(
          """
          cannot unpack and load the store's library in the temporary folder or the data folder; \
          start java with -D%s=FOLDER, a writable folder that is not mounted noexec (%s)\
          """
              .formatted(FOLDER, refusal.getMessage()),
          refusal);
    }
    isLoaded = true;
  }

  /** Returns null if the library was loaded, otherwise the failure. */
  private static @Nullable Throwable tryFrom(Path folder) {
    String name = LibraryLoaderUtil.getNativeLibName();
    String resource = LibraryLoaderUtil.getNativeLibResourcePath() + '/' + name;
    try (InputStream packed = SQLiteJDBCLoader.class.getResourceAsStream(resource)) {
      if (packed == null) {
        // The driver has no library for this system; its own message says so.
        return tryLoading();
      }
      // Only this user may write, so that nobody can replace the library.
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
      return SQLiteJDBCLoader.initialize()
          ? null
          : new IllegalStateException("the library does not load");
    } catch (Exception | LinkageError refused) {
      return refused;
    }
  }
}
