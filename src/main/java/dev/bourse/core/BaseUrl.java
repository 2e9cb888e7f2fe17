package dev.bourse.core;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * The address of a server to which paths are appended: {@code http(s)://host[:port]} and nothing
 * more.
 */
public final class BaseUrl {
  /** The accepted form, for error messages. */
  public static final String ACCEPTED = "http(s)://host[:port], with no slash or path after it";

  private BaseUrl() {}

  /** Whether a text is a base URL. */
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

  /** The host of a base URL, normalized by {@link #host(String)}. */
  public static String hostOf(String baseUrl) {
    return host(URI.create(baseUrl).getHost());
  }

  /** A host name in the form used for comparison: lower case, without the trailing dot. */
  public static String host(String name) {
    String small = name.toLowerCase(Locale.ROOT);
    return small.endsWith(".") ? small.substring(0, small.length() - 1) : small;
  }
}
