package dev.bourse.app;

import dev.bourse.core.IpAddress;
import java.net.URI;
import java.net.URISyntaxException;

/** Checks of addresses in settings and world files; none of them asks a name server. */
final class Address {
  private Address() {}

  /** Whether a text is an IPv4 address in four decimal parts or an IPv6 address. */
  static boolean isIp(String text) {
    return IpAddress.canonical(text).isPresent();
  }

  /** Whether a text is {@code http(s)://host[:port]} and nothing more. */
  static boolean isBaseUrl(String text) {
    try {
      URI uri = new URI(text);
      return uri.getHost() != null
          && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
          && text.equals(
              uri.getScheme()
                  + "://"
                  + uri.getHost()
                  + (uri.getPort() < 0 ? "" : ":" + uri.getPort()));
    } catch (URISyntaxException malformed) {
      return false;
    }
  }
}
