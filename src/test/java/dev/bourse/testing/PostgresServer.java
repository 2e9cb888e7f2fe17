package dev.bourse.testing;

import dev.bourse.core.Ports;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A PostgreSQL server of the tests' own, on a free port of this machine, in a folder. */
public final class PostgresServer implements AutoCloseable {
  private static final long STOP_SECONDS = 120;

  private static final AtomicInteger DATABASES = new AtomicInteger();

  private final Path folder;
  private final Map<String, String> settings;
  private EmbeddedPostgres running;

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
            .setPGStartupWait(Duration.ofMinutes(2));
    builder.setPort(port);
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
    String name = "test_" + DATABASES.incrementAndGet();
    execute("CREATE DATABASE " + name);
    return "postgres://postgres@localhost:" + port() + "/" + name;
  }

  /** Drops a database of {@link #newDatabase} and ends the sessions it has. */
  public void drop(String url) throws SQLException {
    execute("DROP DATABASE " + url.substring(url.lastIndexOf('/') + 1) + " WITH (FORCE)");
  }

  /** A session of one's own in a database of {@link #newDatabase}. */
  public Connection connect(String url) throws SQLException {
    return running.getDatabase("postgres", url.substring(url.lastIndexOf('/') + 1)).getConnection();
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

  @Override
  public void close() throws IOException {
    stop();
  }
}
