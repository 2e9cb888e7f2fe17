package dev.bourse.testing;

import dev.bourse.core.Ports;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.store.postgres.PostgresWholeStore;
import dev.bourse.store.transfer.WholeStore;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A PostgreSQL server of the tests' own, on a free port of this machine, in a folder. */
public final class PostgresServer implements AutoCloseable {
  private static final long STOP_SECONDS = 120;

  private static final AtomicInteger DATABASES = new AtomicInteger();

  private final Path folder;
  private final Map<String, String> settings;
  private EmbeddedPostgres running;

  /** The database that {@link #newStore} copies, once there is one. */
  private @Nullable String withSchema;

  private PostgresServer(Path folder, Map<String, String> settings) throws IOException {
    this.folder = folder;
    this.settings = settings;
    running = start(Ports.free());
  }

  /** Starts a server that keeps its data in a folder, made when it is not there. */
  public static PostgresServer start(Path folder, Map<String, String> settings) throws IOException {
    return new PostgresServer(folder, settings);
  }

  private EmbeddedPostgres start(int port) throws IOException {
    EmbeddedPostgres.Builder builder =
        EmbeddedPostgres.builder()
            .setDataDirectory(folder)
            .setCleanDataDirectory(false)
            .setPGStartupWait(Duration.ofMinutes(2))
            // Into a file beside the folder: the library would log each line of the server in this
            // process, and a checkpoint would appear in the log of a test that counts lines.
            .setOutputRedirector(
                ProcessBuilder.Redirect.appendTo(
                    folder.resolveSibling(folder.getFileName() + ".log").toFile()));
    builder.setPort(port);
    // Autovacuum changes query plans during a test. Its ANALYZE also locks catalog rows in another
    // order than StatementPlans, which causes deadlocks.
    builder.setServerConfig("autovacuum", "off");
    settings.forEach(builder::setServerConfig);
    return builder.start();
  }

  public int port() {
    return running.getPort();
  }

  public Path folder() {
    return folder;
  }

  /** A new, empty database; its address. */
  public String newDatabase() throws SQLException {
    return newDatabase("");
  }

  /**
   * A new database with the schema of this program; its address. It is copied: all steps of the
   * schema, taken anew for each test, took a third of what the tests took.
   */
  public synchronized String newStore() throws SQLException {
    String original = withSchema;
    if (original == null) {
      original = newDatabase();
      takeSteps(original);
      withSchema = original;
    }
    return newDatabase(" TEMPLATE " + nameOf(original));
  }

  private String newDatabase(String options) throws SQLException {
    String name = "test_" + DATABASES.incrementAndGet();
    execute("CREATE DATABASE " + name + options);
    return "postgres://postgres@localhost:" + port() + "/" + name;
  }

  private static String nameOf(String url) {
    return url.substring(url.lastIndexOf('/') + 1);
  }

  private static void takeSteps(String url) {
    PostgresConfig config = PostgresConfig.defaults(PostgresUrl.parse(url), "");
    try (WholeStore store =
        PostgresWholeStore.open(
            config, "db/schema", Clock.systemUTC(), WholeStore.Purpose.MIGRATE)) {
      store.migrate();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Drops a database of {@link #newDatabase}, with the sessions that are left in it. */
  public void drop(String url) throws SQLException {
    awaitSessionsEnd(nameOf(url));
    execute("DROP DATABASE " + nameOf(url) + " WITH (FORCE)");
  }

  /**
   * Waits up to two seconds until a database has no session: the server ends one some milliseconds
   * after its client has closed it, and would tell it of the drop.
   */
  private void awaitSessionsEnd(String database) throws SQLException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    String sessions = "SELECT 1 FROM pg_stat_activity WHERE datname = '" + database + "'";
    try (Connection connection = connect("/postgres");
        java.sql.Statement statement = connection.createStatement()) {
      while (System.nanoTime() < deadline) {
        try (ResultSet rows = statement.executeQuery(sessions)) {
          if (!rows.next()) {
            return;
          }
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
      }
    }
  }

  /** A session of one's own in a database of {@link #newDatabase}. */
  public Connection connect(String url) throws SQLException {
    return running.getDatabase("postgres", nameOf(url)).getConnection();
  }

  /** Carries out one or more statements in a database of {@link #newDatabase}. */
  public void execute(String url, String sql) throws SQLException {
    try (Connection connection = connect(url);
        java.sql.Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  public void execute(String sql) throws SQLException {
    execute("/postgres", sql);
  }

  /** Ends every session the store has. */
  public void terminateSessions() throws SQLException {
    execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'bourse %'");
  }

  /**
   * Stops it and waits until it has ended. It is asked to for five seconds, and a busy disk takes
   * longer for what has to be written; until then it can neither start again nor be deleted.
   */
  public void stop() throws IOException {
    running.close();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
    while (Files.exists(folder.resolve("postmaster.pid"))) {
      if (System.nanoTime() > deadline) {
        throw new IOException("the server has not ended in " + STOP_SECONDS + " s");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  /** Starts again where it was stopped, on the same port. */
  public void startAgain() throws IOException {
    running = start(running.getPort());
  }

  /** Starts this server, which was stopped, again as a standby of another on its data. */
  public void follow(PostgresServer primary) throws IOException {
    markAsStandby(folder, primary.port());
    startAgain();
  }

  private static void markAsStandby(Path folder, int primaryPort) throws IOException {
    Files.createFile(folder.resolve("standby.signal"));
    Files.writeString(
        folder.resolve("postgresql.auto.conf"),
        "primary_conninfo = 'host=localhost user=postgres port=" + primaryPort + "'\n",
        StandardOpenOption.APPEND);
  }

  /** Starts a standby that streams from this server, on a copy of its data; both run afterwards. */
  public PostgresServer startStandby(Path copy) throws IOException {
    stop();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(
            file,
            copy.resolve(folder.relativize(file).toString()),
            StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    startAgain();
    markAsStandby(copy, port());
    return new PostgresServer(copy, settings);
  }

  @Override
  public void close() throws IOException {
    stop();
  }
}
