package dev.bourse.testing;

import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * The PostgreSQL server of all tests of this process, started by the first that asks and stopped
 * after the last. Each takes databases of its own from it; whoever stops a server, or sets it up in
 * another way, starts {@link PostgresServer#start one of its own}.
 */
public final class SharedPostgres implements LauncherSessionListener {
  private static final long PATIENCE_MILLIS = 60_000;

  private static @Nullable Path folder;
  private static @Nullable PostgresServer server;
  private static @Nullable Vertx vertx;

  public static synchronized PostgresServer server() {
    PostgresServer running = server;
    if (running == null) {
      try {
        folder = Files.createTempDirectory("bourse-test-postgres");
        // Nothing here outlives the run, so nothing need reach the disk.
        running = PostgresServer.start(folder.resolve("pg"), Map.of());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      server = running;
    }
    return running;
  }

  /**
   * Returns event loops for stores that are opened beside a service, closed after the last test.
   */
  static synchronized Vertx vertx() {
    Vertx running = vertx;
    if (running == null) {
      running = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
      vertx = running;
    }
    return running;
  }

  @Override
  public void launcherSessionClosed(LauncherSession session) {
    stop();
  }

  private static synchronized void stop() {
    try {
      PostgresReplay.close();
      if (vertx != null) {
        RunningBourse.await(vertx.close());
        vertx = null;
      }
      if (server != null && folder != null) {
        server.close();
        server = null;
        TestStore.delete(folder);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An empty store of the product's, for tests of stores that hold on PostgreSQL too. */
  public static Future<PostgresDatabase> openStore(Vertx vertx, Clock clock) throws SQLException {
    return openStore(vertx, server().newStore(), clock);
  }

  /**
   * A store that somebody else may have open, too. Its time limits are those of a test's own
   * patience: with the usual ones, a machine that stands still for seconds would have statements
   * refused.
   */
  public static Future<PostgresDatabase> openStore(Vertx vertx, String url, Clock clock) {
    PostgresConfig usual = PostgresConfig.defaults(PostgresUrl.parse(url), "");
    PostgresConfig patient =
        new PostgresConfig(
            usual.url(),
            usual.password(),
            usual.readers(),
            usual.queuedStatements(),
            usual.queuedReads(),
            PATIENCE_MILLIS,
            PATIENCE_MILLIS,
            PATIENCE_MILLIS);
    return PostgresDatabase.open(vertx, patient, "db/schema", clock, new Random());
  }
}
