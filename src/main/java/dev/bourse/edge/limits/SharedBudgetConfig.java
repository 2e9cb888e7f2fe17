package dev.bourse.edge.limits;

import dev.bourse.core.Settings;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The Redis or Valkey server through which processes share token budgets.
 *
 * @param host its name or address
 * @param port its port, 1 to 65535
 * @param tls whether the connection is encrypted; the certificate is then verified against the
 *     JVM's authorities and the host name
 * @param database the number of its database, 0 or more
 * @param user the user; empty for the server's default user
 * @param password empty if the server requires none
 * @param timeoutMillis how long a request may wait for the server before it is counted in this
 *     process, 5 to 60,000; the setting accepts at most 1,000, and tests use more because a busy
 *     machine answers late
 */
public record SharedBudgetConfig(
    String host,
    int port,
    boolean tls,
    int database,
    String user,
    String password,
    long timeoutMillis) {

  /**
   * A server in the same network answers within a millisecond or two, and within some twenty after
   * a garbage collection in either process; clients hardly notice fifty.
   */
  static final long USUAL_TIMEOUT_MILLIS = 50;

  private static final int USUAL_PORT = 6379;
  private static final Pattern DATABASE = Pattern.compile("\\d{1,5}");
  private static final Pattern PASSWORD = Pattern.compile("(://[^/@]*?):[^/]*@");

  public SharedBudgetConfig {
    if (host.isEmpty() || port < 1 || port > 65_535 || database < 0) {
      throw new IllegalArgumentException("no server at " + host + ":" + port + "/" + database);
    }
    if (timeoutMillis < 5 || timeoutMillis > 60_000) {
      throw new IllegalArgumentException(
          "timeoutMillis: " + timeoutMillis + " is not within 5 to 60000");
    }
  }

  /**
   * Reads settings {@code limits.shared-url}, {@code limits.shared-password} (preferably given as
   * {@code BOURSE_LIMITS_SHARED_PASSWORD}) or {@code limits.shared-password-file}, and {@code
   * limits.shared-timeout}. Reads the password file. Records faults in the settings.
   *
   * @return empty if no server is set or a setting is faulty
   */
  public static Optional<SharedBudgetConfig> from(Settings settings) {
    String text = settings.text("limits.shared-url", "");
    String password = settings.text("limits.shared-password", "");
    String passwordFile = settings.text("limits.shared-password-file", "");
    long timeout =
        settings.millis(
            "limits.shared-timeout",
            Duration.ofMillis(USUAL_TIMEOUT_MILLIS),
            Duration.ofMillis(5),
            Duration.ofSeconds(1));
    if (text.isEmpty()) {
      return Optional.empty();
    }
    if (!passwordFile.isEmpty()) {
      try {
        password = Files.readString(Path.of(passwordFile)).strip();
      } catch (IOException | IllegalArgumentException unreadable) {
        settings.fault(
            "limits.shared-password-file", passwordFile, "a file of text: " + unreadable);
      }
    }
    try {
      return Optional.of(parse(text, password, timeout));
    } catch (IllegalArgumentException faulty) {
      settings.fault(
          "limits.shared-url",
          PASSWORD.matcher(text).replaceAll("$1:***@"),
          "redis://[user@]host[:port][/database] or rediss://… (" + faulty.getMessage() + ")");
      return Optional.empty();
    }
  }

  /**
   * Parses a percent-encoded address.
   *
   * @param password overrides the address's own unless it is empty
   * @throws IllegalArgumentException if it is malformed; the message states the fault and never
   *     contains the password
   */
  public static SharedBudgetConfig parse(String text, String password, long timeoutMillis) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          e.getReason() + " at character " + (e.getIndex() + 1), null);
    }
    boolean tls = "rediss".equals(uri.getScheme());
    if (!tls && !"redis".equals(uri.getScheme())) {
      throw new IllegalArgumentException("neither redis:// nor rediss://");
    }
    if (uri.getHost() == null) {
      throw new IllegalArgumentException("no host");
    }
    if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
      throw new IllegalArgumentException("it takes no parameters");
    }
    int port = uri.getPort() < 0 ? USUAL_PORT : uri.getPort();
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("port " + port + " is not within 1 and 65535");
    }
    String database = uri.getRawPath().replaceFirst("^/", "");
    if (!database.isEmpty() && !DATABASE.matcher(database).matches()) {
      throw new IllegalArgumentException("the database is not a number");
    }
    String[] login =
        uri.getRawUserInfo() == null ? new String[0] : uri.getRawUserInfo().split(":", 2);
    return new SharedBudgetConfig(
        uri.getHost().replaceAll("[\\[\\]]", ""),
        port,
        tls,
        database.isEmpty() ? 0 : Integer.parseInt(database),
        login.length == 0 ? "" : decode(login[0]),
        password.isEmpty() && login.length == 2 ? decode(login[1]) : password,
        timeoutMillis);
  }

  /** Decodes percent-encoding; a plus sign stays a plus sign. */
  private static String decode(String encoded) {
    return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** Returns the address without the user and the password. */
  @Override
  public String toString() {
    return (tls ? "rediss://" : "redis://") + host + ":" + port + "/" + database;
  }
}
