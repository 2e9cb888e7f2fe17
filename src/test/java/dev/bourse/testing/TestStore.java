package dev.bourse.testing;

import dev.bourse.core.PrivateFile;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import dev.bourse.store.sqlite.SqliteWholeStore;
import dev.bourse.store.transfer.WholeStore;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where the services of this run keep their rows. With the system property {@code
 * bourse.test.store} at {@code postgres} each data folder has a database of its own, on one server
 * for the whole run; else it has the embedded store. Either way whatever is started anew on a
 * folder finds the rows of before.
 */
public final class TestStore {
  private static final boolean ON_POSTGRES =
      "postgres".equals(System.getProperty("bourse.test.store"));

  private static final String SCHEMA = "db/schema";

  private static final Map<Path, String> DATABASES = new HashMap<>();

  /** The embedded store's file with the schema of this program, once a test has needed one. */
  private static byte @Nullable [] withSchema;

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

  /** Opens an embedded store of the product's; a missing file is made by {@link #create}. */
  public static Future<SqliteDatabase> openEmbedded(Vertx vertx, Path file, Clock clock) {
    create(file);
    return SqliteDatabase.open(vertx, file, SqliteConfig.defaults(), SCHEMA, clock);
  }

  /**
   * Makes the file of an embedded store with the schema and no rows, unless there is one. The file
   * is a copy, because the schema's two hundred statements took more CPU time than most tests of a
   * store.
   */
  static synchronized void create(Path file) {
    // A service that is to make its folder makes the store, too.
    if (Files.exists(file) || Files.notExists(file.toAbsolutePath().getParent())) {
      return;
    }
    try {
      byte[] bytes = withSchema;
      if (bytes == null) {
        bytes = takeSteps();
        withSchema = bytes;
      }
      PrivateFile.create(file);
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] takeSteps() throws IOException {
    Path folder = RunningBourse.newFolder();
    Path file = folder.resolve("bourse.db");
    try (WholeStore store =
        SqliteWholeStore.open(
            file, SqliteConfig.defaults(), SCHEMA, Clock.systemUTC(), WholeStore.Purpose.MIGRATE)) {
      store.migrate();
    }
    byte[] bytes = Files.readAllBytes(file);
    delete(folder);
    return bytes;
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
