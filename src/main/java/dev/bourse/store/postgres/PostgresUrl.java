package dev.bourse.store.postgres;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Where a PostgreSQL database is, written as its users write it: {@code
 * postgres://user[:password]@host[:port]/database[?sslmode=…&sslrootcert=…]}, percent-encoded where
 * need be.
 *
 * @param password empty when the address has none
 * @param rootCertificate the PEM file of the authorities the server's certificate is checked with
 */
public record PostgresUrl(
    String host,
    int port,
    String database,
    String user,
    String password,
    Tls tls,
    Optional<Path> rootCertificate) {

  private static final int USUAL_PORT = 5432;
  private static final Pattern SCHEME = Pattern.compile("postgres(ql)?://.*");
  private static final Pattern PASSWORD = Pattern.compile("(://[^/@]*?):[^/]*@");

  /** How a connection is protected; the words are PostgreSQL's {@code sslmode}. */
  public enum Tls {
    /** Never. */
    DISABLE,
    /** When the server has it; the certificate is not looked at. */
    PREFER,
    /** Always; the certificate is checked only when {@code sslrootcert} is given. */
    REQUIRE,
    /** Always, with a certificate of a known authority. */
    VERIFY_CA,
    /** Always, with a certificate of a known authority for this very host. */
    VERIFY_FULL;

    String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Whether a text means a PostgreSQL database at all. */
  public static boolean isOne(String text) {
    return SCHEME.matcher(text).matches();
  }

  /** The text fit for a message. */
  static String withoutPassword(String text) {
    return PASSWORD.matcher(text).replaceAll("$1:***@");
  }

  /**
   * Reads an address.
   *
   * @throws IllegalArgumentException saying what is wrong with it; never shows the password
   */
  public static PostgresUrl parse(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          e.getReason() + " at character " + (e.getIndex() + 1), null);
    }
    String path = uri.getRawPath() == null ? "" : uri.getRawPath();
    String[] login =
        uri.getRawUserInfo() == null ? new String[0] : uri.getRawUserInfo().split(":", 2);
    if (!isOne(text) || uri.getHost() == null) {
      throw new IllegalArgumentException("no host");
    }
    if (login.length == 0 || login[0].isEmpty()) {
      throw new IllegalArgumentException("no user");
    }
    if (path.length() < 2 || path.indexOf('/', 1) >= 0) {
      throw new IllegalArgumentException("no database");
    }
    Tls tls = Tls.PREFER;
    Optional<Path> rootCertificate = Optional.empty();
    String query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
    for (String pair : query.isEmpty() ? new String[0] : query.split("&", -1)) {
      String[] parts = pair.split("=", 2);
      String value = parts.length == 2 ? decode(parts[1]) : "";
      switch (parts[0]) {
        case "sslmode" -> tls = tls(value);
        case "sslrootcert" -> rootCertificate = Optional.of(readable(value));
        default ->
            throw new IllegalArgumentException(
                "no parameter '" + parts[0] + "', only sslmode and sslrootcert");
      }
    }
    if (tls.compareTo(Tls.REQUIRE) > 0 && rootCertificate.isEmpty()) {
      throw new IllegalArgumentException("sslmode=" + tls.label() + " needs sslrootcert=FILE");
    }
    // As PostgreSQL's own client has it: who names an authority means it to be checked.
    if (tls == Tls.REQUIRE && rootCertificate.isPresent()) {
      tls = Tls.VERIFY_CA;
    }
    return new PostgresUrl(
        uri.getHost().replaceAll("[\\[\\]]", ""),
        uri.getPort() < 0 ? USUAL_PORT : uri.getPort(),
        decode(path.substring(1)),
        decode(login[0]),
        login.length == 2 ? decode(login[1]) : "",
        tls,
        rootCertificate);
  }

  private static Tls tls(String value) {
    return Arrays.stream(Tls.values())
        .filter(tls -> tls.label().equals(value))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "sslmode '%s' is none of %s"
                        .formatted(
                            value,
                            Arrays.stream(Tls.values())
                                .map(Tls::label)
                                .collect(Collectors.joining(", ")))));
  }

  private static Path readable(String value) {
    Path file = Path.of(value);
    if (!Files.isReadable(file)) {
      throw new IllegalArgumentException("sslrootcert '" + value + "' cannot be read");
    }
    return file;
  }

  /** A plus sign is itself here, not a space. */
  private static String decode(String encoded) {
    return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "postgres://" + user + "@" + host + ":" + port + "/" + database;
  }
}
