package dev.bourse.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Where the services of this run keep their rows. With the system property {@code
 * bourse.test.store} at {@code postgres} each data folder has a database of its own, on one server
 * for the whole run; else it has the embedded store. Either way whatever is started anew on a
 * folder finds the rows of before.
 */
public final class TestStore implements LauncherSessionListener {
  private static final boolean ON_POSTGRES =
      "postgres".equals(System.getProperty("bourse.test.store"));

  private static final Map<Path, String> DATABASES = new HashMap<>();
  private static @Nullable Path folder;
  private static @Nullable PostgresServer server;

  /** The value of {@code store.url} for a service on this data folder. */
  public static synchronized String url(Path data) {
    return ON_POSTGRES ? DATABASES.computeIfAbsent(data, fresh -> newDatabase()) : "sqlite";
  }

  private static String newDatabase() {
    try {
      PostgresServer running = server;
      if (running == null) {
        folder = Files.createTempDirectory("bourse-test-postgres");
        // Nothing here outlives the run, so nothing need reach the disk.
        running = PostgresServer.start(folder.resolve("pg"), Map.of());
        server = running;
      }
      return running.newDatabase();
    } catch (IOException | SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** A folder's rows are of no more use; whoever still uses them is cut off. */
  public static synchronized void drop(Path data) {
    String url = DATABASES.remove(data);
    PostgresServer running = server;
    if (url != null && running != null) {
      try {
        running.drop(url);
      } catch (SQLException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** All tests of this process are over. */
  @Override
  public void launcherSessionClosed(LauncherSession session) {
    stopServer();
  }

  private static synchronized void stopServer() {
    if (server == null || folder == null) {
      return;
    }
    try {
      server.close();
      server = null;
      delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes a folder and all in it. */
  public static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
