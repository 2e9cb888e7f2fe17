package dev.bourse.org;

import dev.bourse.core.Settings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The connection settings of a SCIM 2.0 directory.
 *
 * @param url the service's base, without a slash at its end: {@code /Users} is added
 * @param token sent as a bearer token; empty for none
 * @param timeoutMillis the longest wait of one answer for the directory, in milliseconds
 * @param lastLogin the attribute with the last sign-in, prefixed with its schema's URN if it is not
 *     a core one; empty when the directory has none
 */
public record ScimConfig(String url, String token, long timeoutMillis, String lastLogin) {
  private static final Pattern ATTRIBUTE = Pattern.compile("([A-Za-z0-9:._-]*:)?[A-Za-z$_-]\\w*");
  private static final Pattern LOOPBACK = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]");

  /**
   * Maps settings {@code directory.*}. Reads the token's file. Faults are recorded in the settings.
   *
   * @return empty when the service uses its own rows as the directory, or the settings are faulty
   */
  public static Optional<ScimConfig> from(Settings settings) {
    String kind = settings.text("directory.kind", "local");
    long timeout =
        settings.millis(
            "directory.timeout",
            Duration.ofSeconds(2),
            Duration.ofMillis(50),
            Duration.ofSeconds(30));
    String url = settings.text("directory.scim.url", "");
    String token = settings.text("directory.scim.token", "");
    String tokenFile = settings.text("directory.scim.token-file", "");
    String lastLogin = settings.text("directory.scim.last-login", "");
    if (!kind.equals("scim")) {
      if (!kind.equals("local")) {
        settings.fault("directory.kind", kind, "local or scim");
      }
      return Optional.empty();
    }
    if (!isBase(url)) {
      settings.fault(
          "directory.scim.url",
          url,
          "https://host[:port][/path] without a slash at its end; http only on this machine");
    }
    if (!lastLogin.isEmpty() && !ATTRIBUTE.matcher(lastLogin).matches()) {
      settings.fault("directory.scim.last-login", lastLogin, "the name of an attribute");
    }
    if (!tokenFile.isEmpty()) {
      try {
        token = Files.readString(Path.of(tokenFile)).strip();
      } catch (IOException | IllegalArgumentException unreadable) {
        settings.fault("directory.scim.token-file", tokenFile, "a file of text: " + unreadable);
      }
    }
    if (!token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      settings.fault("directory.scim.token", "(not shown)", "visible ASCII characters");
    }
    return Optional.of(new ScimConfig(url, token, timeout, lastLogin));
  }

  /** Whether the address protects the token, which travels in each request, on the network. */
  private static boolean isBase(String url) {
    try {
      URI uri = new URI(url);
      return uri.getHost() != null
          && ("https".equals(uri.getScheme())
              || ("http".equals(uri.getScheme()) && LOOPBACK.matcher(uri.getHost()).matches()))
          && uri.getUserInfo() == null
          && uri.getQuery() == null
          && uri.getFragment() == null
          && !url.endsWith("/");
    } catch (java.net.URISyntaxException malformed) {
      return false;
    }
  }

  /** Omits the token. */
  @Override
  public String toString() {
    return "ScimConfig[" + url + "]";
  }
}
