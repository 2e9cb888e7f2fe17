package dev.bourse.edge;

import dev.bourse.core.Digests;
import dev.bourse.core.Settings;
import dev.bourse.edge.tls.TlsConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of the port for health and metrics.
 *
 * @param host the address to listen on
 * @param port 0 for a free one
 * @param digests the digests of the tokens that may read metrics; empty if it accepts no token
 * @param tls its TLS configuration and the authorities whose certificates may read metrics; empty
 *     for plain HTTP
 */
public record ManagementConfig(
    String host, int port, List<byte[]> digests, Optional<TlsConfig> tls) {
  private static final String HOST = "management.host";
  private static final String TOKEN_FILE = "management.token-file";
  private static final String LOOPBACK_ADDRESS = "127.0.0.1";
  private static final Pattern LOOPBACK = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|::1");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9.:-]{1,253}");

  /** Characters that fit a header; shorter tokens could be guessed. */
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/=-]{16,512}");

  /** Two during a rotation; more would mean that a rotation was never finished. */
  private static final int MOST_TOKENS = 4;

  private static final String SCHEME = "Bearer ";

  public ManagementConfig {
    digests = List.copyOf(digests);
  }

  /** Returns a configuration for this machine only, without authentication. */
  public static ManagementConfig onLoopback(int port) {
    return new ManagementConfig(LOOPBACK_ADDRESS, port, List.of(), Optional.empty());
  }

  /**
   * Reads settings {@code management.*} and the file of tokens. Records faults in the settings;
   * they never contain a token.
   *
   * @param usualPort the default port
   * @param api the TLS configuration of the API's port
   */
  public static ManagementConfig from(Settings settings, int usualPort, Optional<TlsConfig> api) {
    Optional<TlsConfig> tls = TlsConfig.ofManagement(settings, api);
    String host = settings.text(HOST, LOOPBACK_ADDRESS);
    int port = settings.integer("management.port", usualPort, 0, 65_535);
    String file = settings.text(TOKEN_FILE, "");
    if (!NAME.matcher(host).matches()) {
      settings.fault(HOST, host, "a host name or an IP address");
    } else if (file.isEmpty()
        && settings.text(TlsConfig.MANAGEMENT_AUTHORITIES, "").isEmpty()
        && !LOOPBACK.matcher(host).matches()) {
      settings.fault(
          HOST,
          host,
          "127.0.0.1, ::1 or localhost, or %s or %s beside it: where others reach /metrics, it asks"
                  .formatted(TOKEN_FILE, TlsConfig.MANAGEMENT_AUTHORITIES)
              + " for a token or a certificate");
    }
    return new ManagementConfig(host, port, file.isEmpty() ? List.of() : read(settings, file), tls);
  }

  private static List<byte[]> read(Settings settings, String file) {
    try {
      List<String> tokens =
          Pattern.compile("\\s+")
              .splitAsStream(Files.readString(Path.of(file)))
              .filter(token -> !token.isEmpty())
              .limit(MOST_TOKENS + 1L)
              .toList();
      if (tokens.isEmpty()
          || tokens.size() > MOST_TOKENS
          || !tokens.stream().allMatch(token -> TOKEN.matcher(token).matches())) {
        settings.fault(
            TOKEN_FILE,
            file,
            "a file with a token on a line, at most "
                + MOST_TOKENS
                + ", each of 16 to 512 letters, digits and ._~+/=-, such as `openssl rand -hex 32`"
                + " prints");
      }
      return tokens.stream().map(ManagementConfig::digest).toList();
    } catch (IOException | IllegalArgumentException unreadable) {
      settings.fault(TOKEN_FILE, file, "a file of text: " + unreadable);
      return List.of();
    }
  }

  private static byte[] digest(String token) {
    return Digests.sha256(token.getBytes(StandardCharsets.UTF_8));
  }

  /** Describes the credentials that may read metrics, for an error response. */
  String accepted() {
    String token = "Authorization: Bearer TOKEN of " + TOKEN_FILE;
    String certificate =
        "a client certificate of an authority in " + TlsConfig.MANAGEMENT_AUTHORITIES;
    return tls.isEmpty() ? token : digests.isEmpty() ? certificate : token + ", or " + certificate;
  }

  /**
   * Returns whether metrics may be read with this header. The duration does not depend on the
   * header, because all digests are compared to their end.
   *
   * @param hasCertificate whether the connection has a verified certificate
   */
  boolean mayRead(@Nullable String authorization, boolean hasCertificate) {
    if (hasCertificate || (digests.isEmpty() && tls.isEmpty())) {
      return true;
    }
    if (authorization == null
        || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return false;
    }
    byte[] sent = digest(authorization.substring(SCHEME.length()).strip());
    boolean isKnown = false;
    for (byte[] known : digests) {
      isKnown |= MessageDigest.isEqual(known, sent);
    }
    return isKnown;
  }
}
