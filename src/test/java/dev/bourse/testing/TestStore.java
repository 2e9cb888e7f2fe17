package dev.bourse.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Where the services of this run keep their rows. With the system property {@code
 * bourse.test.store} at {@code postgres} each data folder has a database of its own, on one server
 * for the whole run; else it has the embedded store. Either way whatever is started anew on a
 * folder finds the rows of before.
 */
public final class TestStore {
  private static final boolean ON_POSTGRES =
      "postgres".equals(System.getProperty("bourse.test.store"));

  private static final Map<Path, String> DATABASES = new HashMap<>();

  /**
   * Settings for a server on a machine that may stand still for seconds, in which the usual limits
   * would have requests refused. Three times the last is a minute, and a minute is the least that
   * is waited for a commit that may be under way.
   */
  static List<String> patience() {
    return List.of(
        "store.connect-timeout=20s", "store.acquire-timeout=20s", "store.query-timeout=20s");
  }

  /** The value of {@code store.url} for a service on this data folder. */
  public static synchronized String url(Path data) {
    return ON_POSTGRES ? DATABASES.computeIfAbsent(data, fresh -> newStore()) : "sqlite";
  }

  private static String newStore() {
    try {
      return SharedPostgres.server().newStore();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** A folder's rows are of no more use; whoever still uses them is cut off. */
  public static synchronized void drop(Path data) {
    String url = DATABASES.remove(data);
    if (url != null) {
      try {
        SharedPostgres.server().drop(url);
      } catch (SQLException e) {
        throw new AssertionError(e);
      }
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
