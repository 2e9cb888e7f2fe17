package dev.bourse.edge;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reading the request headers that decide about an answer, RFC 9110. */
final class Headers {
  static final CharSequence FORWARDED_FOR = HttpHeaders.createOptimized("x-forwarded-for");

  private Headers() {}

  /** All X-Forwarded-For lines as one, for proxies may each add their own; null when none has. */
  static @Nullable String forwardedFor(MultiMap headers) {
    return headers.contains(FORWARDED_FOR) ? String.join(",", headers.getAll(FORWARDED_FOR)) : null;
  }

  /**
   * Whether all servers on the way agree where the body ends (RFC 9112, section 6.3): by chunks or
   * by a length, not both. The decoder takes an unknown encoding for no body, and the body's bytes
   * for the next request.
   */
  static boolean hasKnownFraming(MultiMap headers) {
    if (!headers.contains(HttpHeaders.TRANSFER_ENCODING)) {
      return true;
    }
    List<String> encodings = headers.getAll(HttpHeaders.TRANSFER_ENCODING);
    return encodings.size() == 1
        && encodings.get(0).equalsIgnoreCase("chunked")
        && !headers.contains(HttpHeaders.CONTENT_LENGTH);
  }

  /** Whether a Content-Length is over a bound. The decoder has seen that it is a number. */
  static boolean isLonger(@Nullable String contentLength, int maxBytes) {
    return contentLength != null
        && (contentLength.length() > 18 || Long.parseLong(contentLength) > maxBytes);
  }

  /** Whether an If-None-Match (section 13.1.2) names this strong validator. */
  static boolean matches(String ifNoneMatch, String etag) {
    if (ifNoneMatch.equals(etag) || ifNoneMatch.trim().equals("*")) {
      return true;
    }
    for (String candidate : ifNoneMatch.split(",", -1)) {
      String tag = candidate.trim();
      if ((tag.startsWith("W/") ? tag.substring(2) : tag).equals(etag)) {
        return true;
      }
    }
    return false;
  }

  /** Whether an Accept header (section 12.5.1) takes JSON; the most specific range decides. */
  static boolean acceptsJson(@Nullable String accept) {
    if (accept == null || accept.equals("*/*") || accept.equals(Endpoint.JSON)) {
      return true;
    }
    int specific = -1;
    boolean accepted = accept.isBlank();
    for (String range : accept.toLowerCase(Locale.ROOT).split(",", -1)) {
      String[] parts = range.split(";", -1);
      String type = parts[0].trim();
      int rank =
          type.equals(Endpoint.JSON)
              ? 2
              : type.equals("application/*") ? 1 : type.equals("*/*") ? 0 : -1;
      if (rank > specific) {
        specific = rank;
        accepted = !isZero(parts);
      }
    }
    return accepted;
  }

  private static boolean isZero(String[] parts) {
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].trim();
      if (parameter.startsWith("q=")) {
        return parameter.substring(2).matches("0(\\.0{0,3})?");
      }
    }
    return false;
  }

  /** Whether a Content-Type is JSON in UTF-8. */
  static boolean isJson(@Nullable String contentType) {
    if (contentType == null) {
      return false;
    }
    String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
    if (!parts[0].trim().equals(Endpoint.JSON)) {
      return false;
    }
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].trim().replace("\"", "");
      if (parameter.startsWith("charset=") && !parameter.equals("charset=utf-8")) {
        return false;
      }
    }
    return true;
  }
}
