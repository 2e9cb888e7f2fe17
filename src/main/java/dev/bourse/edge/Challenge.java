package dev.bourse.edge;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The header {@code WWW-Authenticate}, which lists the accepted ways to authenticate (RFC 9110,
 * section 11.6.1).
 */
final class Challenge {
  private static final CharSequence BEARER = HttpHeaders.createOptimized("Bearer");

  private Challenge() {}

  /**
   * Returns the challenge of an error response; null if it has none. Clients find members' tokens
   * through RFC 9728.
   *
   * @param missing the scope that the caller lacks; null for other errors
   */
  static @Nullable CharSequence of(
      int status,
      @Nullable Endpoint endpoint,
      @Nullable Scope missing,
      ReceivedRequest received,
      String baseUrl) {
    if (status != 401 && missing == null) {
      return null;
    }
    List<String> schemes = endpoint == null ? List.of() : endpoint.schemes();
    String metadata = baseUrl + "/.well-known/oauth-protected-resource";
    if (schemes.contains(Principal.MCP_SCHEME)) {
      return "Bearer %sresource_metadata=\"%s/mcp\"".formatted(fault(missing, received), metadata);
    }
    if (missing != null && received.isMembers()) {
      return "Bearer %sresource_metadata=\"%s\"".formatted(fault(missing, received), metadata);
    }
    if (status != 401) {
      return null;
    }
    // The contract's first scheme is the preferred one.
    return !schemes.isEmpty() && schemes.get(0).equals(Principal.MEMBER_SCHEME)
        ? "Bearer resource_metadata=\"%s\"".formatted(metadata)
        : BEARER;
  }

  /** Returns the fault of the credential (RFC 6750); empty if it has none. */
  private static String fault(@Nullable Scope missing, ReceivedRequest received) {
    if (missing == null) {
      return received.header("Authorization").orElse("").isEmpty()
          ? ""
          : "error=\"invalid_token\", ";
    }
    // Includes the scopes the client has, which a new token would otherwise lack.
    TreeSet<String> scopes = new TreeSet<>(Set.of(missing.label()));
    received.principal().scopes().forEach(scope -> scopes.add(scope.label()));
    return "error=\"insufficient_scope\", scope=\"%s\", ".formatted(String.join(" ", scopes));
  }
}
