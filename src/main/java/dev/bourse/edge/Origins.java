package dev.bourse.edge;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Restricts messages from web pages to this service's own pages. Otherwise a page of another site
 * could reach a service on the reader's machine through a name of its own (DNS rebinding). If the
 * service's address is a loopback address, pages on any port of it are accepted.
 */
final class Origins {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private Origins() {}

  /**
   * Accepts a request without an origin or from a page of this service.
   *
   * @throws ApiException {@code forbidden} for other origins
   */
  static void check(@Nullable String origin, String baseUrl) {
    if (origin != null && !isOwn(origin, baseUrl)) {
      throw foreign(origin, baseUrl);
    }
  }

  /** Returns the error for a page of another origin. */
  static ApiException foreign(String origin, String baseUrl) {
    return ApiException.of(
        ErrorCode.FORBIDDEN,
        "Origin %s is not this service; expected %s",
        Text.shown(origin),
        baseUrl);
  }

  private static boolean isOwn(String origin, String baseUrl) {
    String own = Text.folded(baseUrl);
    String sent = Text.folded(origin);
    return sent.equals(own)
        || (host(own).filter(LOOPBACK::contains).isPresent()
            && host(sent).filter(LOOPBACK::contains).isPresent());
  }

  private static Optional<String> host(String origin) {
    try {
      return Optional.ofNullable(new URI(origin).getHost());
    } catch (URISyntaxException none) {
      return Optional.empty();
    }
  }
}
