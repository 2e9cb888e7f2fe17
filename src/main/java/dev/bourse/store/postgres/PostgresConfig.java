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
 * How to reach PostgreSQL, and the bounds of its use.
 *
 * @param url the server, the database and the user
 * @param password empty when the server asks for none
 * @param readers connections that answer queries, 1 to 256; two more write and listen
 * @param queuedStatements statements that may wait for the writing connection, 1 to 1,000,000
 * @param queuedReads queries that may wait for a connection, 1 to 1,000,000
 * @param connectMillis how long making a connection may take, TLS and log-in included
 * @param acquireMillis how long a query may wait for a connection
 * @param queryMillis how long a query, or a group of commits, may take; past it the connection is
 *     given up
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

  /** Parsed statements a connection keeps: more than the product has texts. */
  private static final int PREPARED_STATEMENTS = 512;

  private static final int NAME_BYTES = 63;

  /** Sent but unanswered commands: a whole group of commits goes out without waiting. */
  private static final int PIPELINED_COMMANDS = 4_096;

  public PostgresConfig {
    check("readers", readers, 1, 256);
    check("queuedStatements", queuedStatements, 1, 1_000_000);
    check("queuedReads", queuedReads, 1, 1_000_000);
    check("connectMillis", connectMillis, 1, 600_000);
    check("acquireMillis", acquireMillis, 1, 600_000);
    check("queryMillis", queryMillis, 1, 600_000);
  }

  /** The usual bounds: 4 readers, 65,536 statements, 4,096 queries, 5 s, 5 s and 10 s. */
  public static PostgresConfig defaults(PostgresUrl url, String password) {
    return new PostgresConfig(url, password, 4, 65_536, 4_096, 5_000, 5_000, 10_000);
  }

  /**
   * Maps settings {@code store.url}, {@code store.password} (best given as {@code
   * BOURSE_STORE_PASSWORD}) or {@code store.password-file}, {@code store.readers} and {@code
   * store.*-timeout}. Reads the password file. Faults are recorded in the settings.
   *
   * @return empty when the store is another engine, or faulty
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

  /** When a connection is given up: the server, if it lives, has ended the statement before. */
  long watchdogMillis() {
    return queryMillis + 1_000;
  }

  /**
   * Returns the name by which an operator of the server recognizes a session: this program, this
   * process and what the connection is for. The server cuts names at {@value #NAME_BYTES} bytes, so
   * a long host name loses its beginning.
   */
  static String applicationName(String process, String purpose) {
    int room = NAME_BYTES - "bourse  ".length() - purpose.length();
    return "bourse " + process.substring(Math.max(0, process.length() - room)) + ' ' + purpose;
  }

  /**
   * @param purpose what the connection is for, in ASCII
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
            // Audit rows come 64 to an INSERT, past the client's usual limit of text.
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

  /** Without the password. */
  @Override
  public String toString() {
    return "PostgresConfig[" + url + "]";
  }
}
