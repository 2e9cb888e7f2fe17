package dev.bourse.store.postgres;

import dev.bourse.core.Settings;
import dev.bourse.core.ThisProcess;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.SslMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The connection settings for PostgreSQL and the limits of its use.
 *
 * @param url the server, the database and the user
 * @param password empty if the server requires none
 * @param readers connections that answer queries, 1 to 256; two more write and listen
 * @param queuedStatements statements that may wait for the writing connection, 1 to 1,000,000
 * @param queuedReads queries that may wait for a connection, 1 to 1,000,000
 * @param connectMillis the time limit for a connection, including TLS and log-in
 * @param acquireMillis the time limit of a query's wait for a connection
 * @param queryMillis the time limit of a query or a group of commits; after it the connection is
 *     dropped
 */
public record PostgresConfig(
    PostgresUrl url,
    String password,
    int readers,
    int queuedStatements,
    int queuedReads,
    long connectMillis,
    long acquireMillis,
    long queryMillis) {

  /** Prepared statements per connection: more than the product's number of distinct texts. */
  private static final int PREPARED_STATEMENTS = 512;

  private static final int NAME_BYTES = 63;

  /**
   * The factor by which the first connection may take longer than later ones, because its process
   * is still loading the client's code and everything else that starts at the same time.
   */
  private static final int COLD = 4;

  private static final long MOST_MILLIS = 600_000;

  /** Commands sent without an answer yet: a whole group of commits goes out without waiting. */
  private static final int PIPELINED_COMMANDS = 4_096;

  public PostgresConfig {
    check("readers", readers, 1, 256);
    check("queuedStatements", queuedStatements, 1, 1_000_000);
    check("queuedReads", queuedReads, 1, 1_000_000);
    check("connectMillis", connectMillis, 1, MOST_MILLIS);
    check("acquireMillis", acquireMillis, 1, MOST_MILLIS);
    check("queryMillis", queryMillis, 1, MOST_MILLIS);
  }

  /** Returns the default bounds: 4 readers, 65,536 statements, 4,096 queries, 5 s, 5 s and 10 s. */
  public static PostgresConfig defaults(PostgresUrl url, String password) {
    return new PostgresConfig(url, password, 4, 65_536, 4_096, 5_000, 5_000, 10_000);
  }

  /**
   * Reads settings {@code store.url}, {@code store.password} (preferably given as {@code
   * BOURSE_STORE_PASSWORD}) or {@code store.password-file}, {@code store.readers} and {@code
   * store.*-timeout}. Reads the password file. Records faults in the settings.
   *
   * @return empty if the store is another engine or a setting is faulty
   */
  public static Optional<PostgresConfig> from(Settings settings) {
    String text = settings.text("store.url", "sqlite");
    String password = settings.text("store.password", "");
    String passwordFile = settings.text("store.password-file", "");
    int readers = settings.integer("store.readers", 4, 1, 256);
    long connect = timeout(settings, "store.connect-timeout", 5);
    long acquire = timeout(settings, "store.acquire-timeout", 5);
    long query = timeout(settings, "store.query-timeout", 10);
    if (!PostgresUrl.isOne(text)) {
      return Optional.empty();
    }
    PostgresUrl url;
    try {
      url = PostgresUrl.parse(text);
    } catch (IllegalArgumentException faulty) {
      settings.fault(
          "store.url",
          PostgresUrl.withoutPassword(text),
          "postgres://user@host:port[,host:port]/database (" + faulty.getMessage() + ")");
      return Optional.empty();
    }
    if (!passwordFile.isEmpty()) {
      try {
        password = Files.readString(Path.of(passwordFile)).strip();
      } catch (IOException | IllegalArgumentException unreadable) {
        settings.fault("store.password-file", passwordFile, "a file of text: " + unreadable);
      }
    }
    PostgresConfig defaults = defaults(url, password.isEmpty() ? url.password() : password);
    return Optional.of(
        new PostgresConfig(
            url,
            defaults.password,
            readers,
            defaults.queuedStatements,
            defaults.queuedReads,
            connect,
            acquire,
            query));
  }

  private static long timeout(Settings settings, String key, int seconds) {
    return settings.millis(
        key, Duration.ofSeconds(seconds), Duration.ofMillis(100), Duration.ofMinutes(10));
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + ": " + value + " is not within " + least + " to " + most);
    }
  }

  /** Returns the settings for the first connection of a process. */
  PostgresConfig whileStarting() {
    return new PostgresConfig(
        url,
        password,
        readers,
        queuedStatements,
        queuedReads,
        Math.min(MOST_MILLIS, COLD * connectMillis),
        acquireMillis,
        queryMillis);
  }

  /** Returns when a connection is dropped; a live server has ended the statement before. */
  long watchdogMillis() {
    return queryMillis + 1_000;
  }

  /**
   * Returns the session's application name, which shows a server's operator this program, this
   * process and the connection's purpose. The server cuts names at {@value #NAME_BYTES} bytes, so a
   * long host name loses its beginning.
   */
  static String applicationName(String process, String purpose) {
    int room = NAME_BYTES - "bourse  ".length() - purpose.length();
    return "bourse " + process.substring(Math.max(0, process.length() - room)) + ' ' + purpose;
  }

  /**
   * @param purpose the connection's purpose, in ASCII
   */
  PgConnectOptions connectOptions(PostgresUrl.Host host, String purpose) {
    PgConnectOptions options =
        new PgConnectOptions()
            .setHost(host.name())
            .setPort(host.port())
            .setDatabase(url.database())
            .setUser(url.user())
            .setPassword(password)
            .addProperty("application_name", applicationName(ThisProcess.name(), purpose))
            .setSslMode(SslMode.of(url.tls().label()))
            .setPipeliningLimit(PIPELINED_COMMANDS)
            .setCachePreparedStatements(true)
            .setPreparedStatementCacheMaxSize(PREPARED_STATEMENTS)
            // Audit rows come 64 to an INSERT, which exceeds the client's default limit of text.
            .setPreparedStatementCacheSqlFilter(sql -> true);
    ClientSSLOptions tls =
        new ClientSSLOptions()
            .setHostnameVerificationAlgorithm(
                url.tls() == PostgresUrl.Tls.VERIFY_FULL ? "HTTPS" : "");
    if (url.rootCertificate().isPresent()) {
      tls.setTrustOptions(
          new PemTrustOptions().addCertPath(url.rootCertificate().get().toString()));
    } else {
      tls.setTrustAll(true);
    }
    options.setSslOptions(tls);
    return options;
  }

  /** Returns the address without the password. */
  @Override
  public String toString() {
    return "PostgresConfig[" + url + "]";
  }
}
