package dev.bourse.app;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/** Checks of addresses in settings and world files; none of them asks a name server. */
final class Address {
  private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");
  private static final Pattern IPV6_LIKE = Pattern.compile("[0-9a-fA-F.]*:[0-9a-fA-F:.]*");

  private Address() {}

  /** Whether a text is an IPv4 address in four decimal parts or an IPv6 address. */
  static boolean isIp(String text) {
    return IPV4.matcher(text).matches() || (IPV6_LIKE.matcher(text).matches() && isIpv6(text));
  }

  private static boolean isIpv6(String literal) {
    try {
      // With a colon in it the text is taken for a literal and never looked up.
      InetAddress.getByName(literal);
      return true;
    } catch (UnknownHostException malformed) {
      return false;
    }
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
