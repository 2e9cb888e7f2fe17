package dev.bourse.core;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/** An address that paths are put behind: {@code http(s)://host[:port]} and nothing more. */
public final class BaseUrl {
  /** What one looks like, for whoever wrote another. */
  public static final String ACCEPTED = "http(s)://host[:port], with no slash or path after it";

  private BaseUrl() {}

  /** Whether a text is one. */
  public static boolean isOne(String text) {
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

  /** The host of one, as {@link #host(String)} has it. */
  public static String hostOf(String baseUrl) {
    return host(URI.create(baseUrl).getHost());
  }

  /** A host's name as names are compared: small letters, without the root's dot. */
  public static String host(String name) {
    String small = name.toLowerCase(Locale.ROOT);
    return small.endsWith(".") ? small.substring(0, small.length() - 1) : small;
  }
}
