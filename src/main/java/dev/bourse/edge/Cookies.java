package dev.bourse.edge;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.Optional;

/** Parses the Cookie header, RFC 6265 section 4.2. */
final class Cookies {
  private Cookies() {}

  /**
   * Returns the value of a cookie. If a name is repeated, another host of the same site may have
   * set one of the cookies, and they cannot be distinguished, so it returns empty.
   */
  static Optional<String> find(MultiMap headers, String name) {
    String found = null;
    for (String line : headers.getAll(HttpHeaders.COOKIE)) {
      for (String pair : line.split(";", -1)) {
        int equals = pair.indexOf('=');
        if (equals > 0 && pair.substring(0, equals).trim().equals(name)) {
          if (found != null) {
            return Optional.empty();
          }
          found = pair.substring(equals + 1).trim();
        }
      }
    }
    return Optional.ofNullable(found);
  }
}
