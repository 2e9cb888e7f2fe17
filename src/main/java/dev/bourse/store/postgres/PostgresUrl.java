package dev.bourse.store.postgres;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The address of a PostgreSQL database in libpq's form: {@code
 * postgres://user[:password]@host[:port][,host[:port]…]/database[?sslmode=…&sslrootcert=…]},
 * percent-encoded. Of several hosts, the one that accepts writes is used.
 *
 * @param hosts in the given order, 1 to {@value #MOST_HOSTS}
 * @param password empty if the address has none
 * @param rootCertificate a PEM file of the authorities that verify the server's certificate
 */
public record PostgresUrl(
    List<Host> hosts,
    String database,
    String user,
    String password,
    Tls tls,
    Optional<Path> rootCertificate) {

  private static final int USUAL_PORT = 5432;

  /** A primary and its standbys; each connection attempt may contact all of them. */
  private static final int MOST_HOSTS = 8;

  /** Splits an address into its scheme, its user, its hosts and the rest. */
  private static final Pattern PARTS = Pattern.compile("([^:]+://)([^/?#]*@)?([^/?#]*)(.*)");

  private static final Pattern SCHEME = Pattern.compile("postgres(ql)?://.*");
  private static final Pattern PASSWORD = Pattern.compile("(://[^/@]*?):[^/]*@");

  public record Host(String name, int port) {
    @Override
    public String toString() {
      return name + ":" + port;
    }
  }

  public PostgresUrl {
    hosts = List.copyOf(hosts);
  }

  /** The protection of a connection, with the values of PostgreSQL's {@code sslmode}. */
  public enum Tls {
    /** Never encrypted. */
    DISABLE,
    /** Encrypted if the server supports it; the certificate is not checked. */
    PREFER,
    /** Always encrypted; the certificate is checked only if {@code sslrootcert} is given. */
    REQUIRE,
    /** Always encrypted, with a certificate of a known authority. */
    VERIFY_CA,
    /** Always encrypted, with a certificate of a known authority for this host. */
    VERIFY_FULL;

    String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Returns whether the text is an address of a PostgreSQL database. */
  public static boolean isOne(String text) {
    return SCHEME.matcher(text).matches();
  }

  /** Returns the text without the password, for messages. */
  static String withoutPassword(String text) {
    return PASSWORD.matcher(text).replaceAll("$1:***@");
  }

  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException if it is malformed; the message states the fault and never
   *     contains the password
   */
  public static PostgresUrl parse(String text) {
    Matcher parts = PARTS.matcher(text);
    if (!isOne(text) || !parts.matches()) {
      throw new IllegalArgumentException("no host");
    }
    List<Host> hosts = new ArrayList<>();
    URI uri = URI.create("postgres:/");
    for (String host : parts.group(3).split(",", -1)) {
      // One host at a time, because a URI has only one.
      uri =
          uri(
              parts.group(1)
                  + (parts.group(2) == null ? "" : parts.group(2))
                  + host
                  + parts.group(4));
      hosts.add(host(uri));
    }
    if (hosts.size() > MOST_HOSTS) {
      throw new IllegalArgumentException(hosts.size() + " hosts; at most " + MOST_HOSTS);
    }
    String path = uri.getRawPath() == null ? "" : uri.getRawPath();
    String[] login =
        uri.getRawUserInfo() == null ? new String[0] : uri.getRawUserInfo().split(":", 2);
    if (login.length == 0 || login[0].isEmpty()) {
      throw new IllegalArgumentException("no user");
    }
    if (path.length() < 2 || path.indexOf('/', 1) >= 0) {
      throw new IllegalArgumentException("no database");
    }
    Tls tls = Tls.PREFER;
    Optional<Path> rootCertificate = Optional.empty();
    String query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
    for (String parameter : query.isEmpty() ? new String[0] : query.split("&", -1)) {
      String[] pair = parameter.split("=", 2);
      String value = pair.length == 2 ? decode(pair[1]) : "";
      switch (pair[0]) {
        case "sslmode" -> tls = tls(value);
        case "sslrootcert" -> rootCertificate = Optional.of(readable(value));
        case "target_session_attrs" -> checkTarget(value);
        default ->
            throw new IllegalArgumentException(
                "unknown parameter '"
                    + pair[0]
                    + "'; choose sslmode, sslrootcert or target_session_attrs");
      }
    }
    if (tls.compareTo(Tls.REQUIRE) > 0 && rootCertificate.isEmpty()) {
      throw new IllegalArgumentException("sslmode=" + tls.label() + " needs sslrootcert=FILE");
    }
    // A given authority implies verification, as in PostgreSQL's own client.
    if (tls == Tls.REQUIRE && rootCertificate.isPresent()) {
      tls = Tls.VERIFY_CA;
    }
    return new PostgresUrl(
        hosts,
        decode(path.substring(1)),
        decode(login[0]),
        login.length == 2 ? decode(login[1]) : "",
        tls,
        rootCertificate);
  }

  private static URI uri(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          e.getReason() + " at character " + (e.getIndex() + 1), null);
    }
  }

  private static Host host(URI uri) {
    if (uri.getHost() == null) {
      throw new IllegalArgumentException("no host");
    }
    return new Host(
        uri.getHost().replaceAll("[\\[\\]]", ""), uri.getPort() < 0 ? USUAL_PORT : uri.getPort());
  }

  private static void checkTarget(String value) {
    if (!value.equals("read-write")) {
      throw new IllegalArgumentException(
          "target_session_attrs '" + value + "' is not read-write, which the store needs");
    }
  }

  private static Tls tls(String value) {
    return Arrays.stream(Tls.values())
        .filter(tls -> tls.label().equals(value))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "sslmode '%s' is not valid; choose one of %s"
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

  /** Decodes percent-encoding; a plus sign stays a plus sign. */
  private static String decode(String encoded) {
    return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** Returns the address without the password. */
  @Override
  public String toString() {
    return "postgres://"
        + user
        + "@"
        + hosts.stream().map(Host::toString).collect(Collectors.joining(","))
        + "/"
        + database;
  }
}
