package dev.bourse.edge;

import dev.bourse.contract.OperationContract;
import dev.bourse.core.SecretPrefix;
import dev.bourse.traces.TraceParent;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses the request headers that affect a response, RFC 9110. */
final class Headers {
  private static final Pattern REQUEST_ID = Pattern.compile("[A-Za-z0-9._:/=+-]{1,128}");

  static final CharSequence REQUEST_ID_NAME = HttpHeaders.createOptimized("x-request-id");
  private static final CharSequence TRACE_NAME = HttpHeaders.createOptimized("traceparent");

  static final CharSequence FORWARDED_FOR = HttpHeaders.createOptimized("x-forwarded-for");

  private static final String HTML = "text/html";

  private Headers() {}

  /**
   * Joins all X-Forwarded-For lines, because each proxy may add its own; null if there are none.
   */
  static @Nullable String forwardedFor(MultiMap headers) {
    return headers.contains(FORWARDED_FOR) ? String.join(",", headers.getAll(FORWARDED_FOR)) : null;
  }

  /**
   * Returns whether all servers on the way agree on the end of the body (RFC 9112, section 6.3): by
   * chunks or by a length, not both. The decoder treats an unknown encoding as no body, and the
   * body's bytes as the next request.
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

  /** Returns whether the request has one valid Host header (RFC 9112, section 3.2). */
  static boolean hasOneHost(HttpServerRequest request) {
    return request.authority() != null && request.headers().getAll(HttpHeaders.HOST).size() == 1;
  }

  /**
   * Returns whether a Content-Length exceeds a limit. The decoder has checked that it is a number.
   */
  static boolean isLonger(@Nullable String contentLength, int maxBytes) {
    return contentLength != null
        && (contentLength.length() > 18 || Long.parseLong(contentLength) > maxBytes);
  }

  /** Returns whether an If-None-Match (section 13.1.2) contains this strong validator. */
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

  /**
   * Returns the offered media type that an Accept header (section 12.5.1) prefers; null if it
   * excludes all. The most specific range decides about a type; of equal ones the first offered
   * wins.
   */
  static @Nullable String preferred(@Nullable String accept, List<String> offered) {
    if (accept == null || accept.isBlank() || accept.equals("*/*")) {
      return offered.get(0);
    }
    String[] ranges = accept.toLowerCase(Locale.ROOT).split(",", -1);
    String best = null;
    double bestWeight = 0;
    for (String type : offered) {
      double weight = weight(ranges, type);
      if (weight > bestWeight) {
        best = type;
        bestWeight = weight;
      }
    }
    return best;
  }

  /**
   * Returns the request id of the client or of a proxy, its {@code X-Request-Id}. Null if there is
   * none, or if it has characters or a length that ids do not have, so that nobody can write
   * arbitrary text into the log, or if it contains a secret of this service.
   */
  static @Nullable String requestId(HttpServerRequest request) {
    String sent = request.getHeader(REQUEST_ID_NAME);
    return sent != null && REQUEST_ID.matcher(sent).matches() && !isSecret(sent) ? sent : null;
  }

  private static boolean isSecret(String id) {
    for (SecretPrefix prefix : SecretPrefix.values()) {
      if (id.contains(prefix.text())) {
        return true;
      }
    }
    return false;
  }

  /** Returns the client's trace context, its {@code traceparent}; null if there is none. */
  static @Nullable TraceParent traceParent(HttpServerRequest request) {
    String sent = request.getHeader(TRACE_NAME);
    return sent == null ? null : TraceParent.of(sent);
  }

  /** Returns whether the client prefers a page to JSON, as browsers do. */
  static boolean prefersHtml(HttpServerRequest request) {
    String accept = request.getHeader(HttpHeaders.ACCEPT);
    return HTML.equals(preferred(accept, List.of(OperationContract.JSON, HTML)));
  }

  private static double weight(String[] ranges, String type) {
    String family = type.substring(0, type.indexOf('/') + 1) + '*';
    int specific = -1;
    double weight = 0;
    for (String range : ranges) {
      String[] parts = range.split(";", -1);
      String named = parts[0].trim();
      int rank = named.equals(type) ? 2 : named.equals(family) ? 1 : named.equals("*/*") ? 0 : -1;
      if (rank > specific) {
        specific = rank;
        weight = quality(parts);
      }
    }
    return weight;
  }

  /** Returns the weight of a range; a malformed one counts as 1, as if it were absent. */
  private static double quality(String[] parts) {
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].trim();
      if (parameter.startsWith("q=") && parameter.substring(2).matches("[01](\\.[0-9]{0,3})?")) {
        return Double.parseDouble(parameter.substring(2));
      }
    }
    return 1;
  }

  /** Returns whether an Accept-Encoding (section 12.5.3) accepts a content coding by name. */
  static boolean accepts(@Nullable String acceptEncoding, String coding) {
    if (acceptEncoding == null) {
      return false;
    }
    for (String named : acceptEncoding.toLowerCase(Locale.ROOT).split(",", -1)) {
      String[] parts = named.split(";", -1);
      if (parts[0].trim().equals(coding)) {
        return quality(parts) > 0;
      }
    }
    return false;
  }

  /** Returns whether a Content-Type is this media type in UTF-8. */
  static boolean isInUtf8(@Nullable String contentType, String mediaType) {
    if (contentType == null) {
      return false;
    }
    String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
    if (!parts[0].trim().equals(mediaType)) {
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
