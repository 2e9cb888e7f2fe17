package dev.bourse.edge;

import io.vertx.core.http.HttpHeaders;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reading the request headers that decide about an answer, RFC 9110. */
final class Headers {
  static final CharSequence FORWARDED_FOR = HttpHeaders.createOptimized("x-forwarded-for");

  private Headers() {}

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
