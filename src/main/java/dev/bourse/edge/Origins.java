package dev.bourse.edge;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which web pages may send messages: this service's own. A page of another site could otherwise
 * reach a service on the reader's machine by a name of its own (DNS rebinding). On a service that
 * is known by a loopback address, so are pages on any port there.
 */
final class Origins {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private Origins() {}

  /**
   * Accepts a request that no page, or one of this service, has made.
   *
   * @throws ApiError {@code forbidden} for any other
   */
  static void check(@Nullable String origin, String baseUrl) {
    if (origin != null && !isOwn(origin, baseUrl)) {
      throw foreign(origin, baseUrl);
    }
  }

  /** The refusal of a page of another origin. */
  static ApiError foreign(String origin, String baseUrl) {
    return ApiError.of(
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
