package dev.bourse.oauth;

import dev.bourse.core.Text;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Rules for redirect addresses, and their comparison. */
final class RedirectUris {
  /** Fits into one of Bourse's own request lines. */
  private static final int MAX_LENGTH = 1_024;

  /**
   * Schemes that run or read something in the browser, or make the system's own programs send or
   * open something, rather than call an application. All schemes with the prefixes of system
   * settings and searches are excluded too ({@link #OF_SYSTEMS}).
   */
  private static final Set<String> DANGEROUS =
      Set.of(
          "javascript",
          "data",
          "vbscript",
          "file",
          "blob",
          "about",
          "filesystem",
          "view-source",
          "ws",
          "wss",
          "ftp",
          "sftp",
          "jar",
          "resource",
          "intent",
          "mailto",
          "tel",
          "sms",
          "ssh",
          "telnet",
          "smb",
          "nfs",
          "ldap",
          "ldaps",
          "shell");

  private static final Pattern OF_SYSTEMS =
      Pattern.compile("(chrome|edge|moz|safari|ms|search|android|x-apple)(-.*)?");

  private static final Pattern LOOPBACK =
      Pattern.compile("http://(127\\.0\\.0\\.1|\\[::1]|localhost)(:\\d{1,5})?(/[^#]*)?");

  private static final Pattern PLAIN = Pattern.compile("[!-~&&[^\"<>\\\\^`{|}#]]+");

  private RedirectUris() {}

  /** The reason why an address cannot be registered; empty if it can. */
  static Optional<String> fault(String uri) {
    if (uri.length() > MAX_LENGTH || !PLAIN.matcher(uri).matches()) {
      return Optional.of(
          "expected an absolute URI of at most " + MAX_LENGTH + " characters, without a fragment");
    }
    URI parsed;
    try {
      parsed = new URI(uri);
    } catch (URISyntaxException e) {
      return Optional.of("not a URI");
    }
    String scheme = parsed.getScheme();
    String small = scheme == null ? "" : Text.folded(scheme);
    if (scheme == null || DANGEROUS.contains(small) || OF_SYSTEMS.matcher(small).matches()) {
      return Optional.of(
          "expected https, http with a loopback address, or a scheme of the application's own");
    }
    if (scheme.equals("http")) {
      return LOOPBACK.matcher(uri).matches()
          ? Optional.empty()
          : Optional.of("http is allowed only for 127.0.0.1, [::1] and localhost");
    }
    if (scheme.equals("https")) {
      return parsed.getHost() == null || parsed.getRawUserInfo() != null
          ? Optional.of("expected an https address with a host and without a user")
          : Optional.empty();
    }
    // A private-use scheme identifies the application, so its case must not vary.
    return scheme.equals(Text.folded(scheme)) && !scheme.startsWith("http")
        ? Optional.empty()
        : Optional.of("expected a scheme in lower case that does not begin with http");
  }

  /**
   * Whether an address is registered. It must equal a registered one exactly, except that a
   * loopback address may have any port (RFC 8252, section 7.3), because programs use a free one.
   */
  static boolean isRegistered(List<String> registered, String asked) {
    return registered.contains(asked)
        || (LOOPBACK.matcher(asked).matches()
            && hasPort(asked)
            && registered.stream()
                .filter(uri -> LOOPBACK.matcher(uri).matches())
                .anyMatch(uri -> withoutPort(uri).equals(withoutPort(asked))));
  }

  private static boolean hasPort(String loopback) {
    Matcher matcher = LOOPBACK.matcher(loopback);
    if (!matcher.matches() || matcher.group(2) == null) {
      return true;
    }
    int port = Integer.parseInt(matcher.group(2).substring(1));
    return port > 0 && port <= 65_535;
  }

  private static String withoutPort(String loopback) {
    Matcher matcher = LOOPBACK.matcher(loopback);
    return matcher.matches() ? matcher.group(1) + ' ' + matcher.group(3) : loopback;
  }

  /** The address with further parameters, whose values are encoded. */
  static String with(String uri, List<String> namesAndValues) {
    StringBuilder out = new StringBuilder(uri);
    char separator = uri.indexOf('?') < 0 ? '?' : '&';
    for (int i = 0; i + 1 < namesAndValues.size(); i += 2) {
      out.append(separator)
          .append(namesAndValues.get(i))
          .append('=')
          .append(
              java.net.URLEncoder.encode(
                  namesAndValues.get(i + 1), java.nio.charset.StandardCharsets.UTF_8));
      separator = '&';
    }
    return out.toString();
  }
}
