package dev.bourse.edge;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.Optional;

/** Reading the Cookie header, RFC 6265 section 4.2. */
final class Cookies {
  private Cookies() {}

  /**
   * The value of a cookie. Where a name stands more than once, another place of the same site may
   * have set one of them, and nothing says which is ours: then there is none.
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
