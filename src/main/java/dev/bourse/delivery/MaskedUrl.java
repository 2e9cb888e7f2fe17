package dev.bourse.delivery;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Masks the secrets of an address for trails: receivers such as chat services put credentials into
 * their addresses, and a trail has more readers than the endpoint has owners.
 */
public final class MaskedUrl {
  private static final String MASK = "***";

  /** Parameters whose values are secret at any length. */
  private static final Set<String> SECRET =
      Set.of(
          """
          access_token api-key api_key apikey auth code key pass password pwd secret sig signature \
          token\
          """
              .split(" "));

  /** Shorter texts are names and numbers. */
  private static final int TOKEN = 16;

  private static final Pattern LETTER = Pattern.compile("[A-Za-z]");
  private static final Pattern DIGIT = Pattern.compile("[0-9]");

  private MaskedUrl() {}

  /** Returns the address without its user, with token-like parts of its path and query masked. */
  public static String of(String url) {
    int scheme = url.indexOf("://");
    int start = scheme < 0 ? 0 : scheme + 3;
    int query = indexOr(url, '?', start);
    int path = Math.min(indexOr(url, '/', start), query);
    String authority = url.substring(start, path);
    int user = authority.lastIndexOf('@');
    StringBuilder masked = new StringBuilder(url.substring(0, start));
    masked.append(user < 0 ? authority : MASK + authority.substring(user));
    String[] segments = url.substring(path, query).split("/", -1);
    for (int i = 0; i < segments.length; i++) {
      masked.append(i == 0 ? "" : "/").append(isToken(segments[i]) ? MASK : segments[i]);
    }
    if (query < url.length()) {
      char before = '?';
      for (String parameter : url.substring(query + 1).split("&", -1)) {
        masked.append(before).append(parameter(parameter));
        before = '&';
      }
    }
    return masked.toString();
  }

  private static int indexOr(String url, char character, int from) {
    int at = url.indexOf(character, from);
    return at < 0 ? url.length() : at;
  }

  private static String parameter(String parameter) {
    int equals = parameter.indexOf('=');
    if (equals < 0) {
      return isToken(parameter) ? MASK : parameter;
    }
    String name = parameter.substring(0, equals);
    boolean isSecret =
        SECRET.contains(name.toLowerCase(Locale.ROOT)) || isToken(parameter.substring(equals + 1));
    return isSecret ? name + '=' + MASK : parameter;
  }

  /** Returns true for a long text of letters and digits, such as a machine generates. */
  private static boolean isToken(String text) {
    return text.length() >= TOKEN && LETTER.matcher(text).find() && DIGIT.matcher(text).find();
  }
}
