package dev.bourse.edge;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The header {@code WWW-Authenticate}: how to authenticate (RFC 9110, section 11.6.1). */
final class Challenge {
  private static final CharSequence BEARER = HttpHeaders.createOptimized("Bearer");

  private Challenge() {}

  /**
   * The challenge of a refusal; null when it has none. Members' tokens are found by way of RFC
   * 9728.
   *
   * @param missing the scope that the caller lacks; null when that is not what is wrong
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
    // The scheme that the contract names first is the one to come back with.
    return !schemes.isEmpty() && schemes.get(0).equals(Principal.MEMBER_SCHEME)
        ? "Bearer resource_metadata=\"%s\"".formatted(metadata)
        : BEARER;
  }

  /** What is wrong with the credential, as RFC 6750 has it; empty when there is none. */
  private static String fault(@Nullable Scope missing, ReceivedRequest received) {
    if (missing == null) {
      return received.header("Authorization").orElse("").isEmpty()
          ? ""
          : "error=\"invalid_token\", ";
    }
    // With those it has: a client that asks for these anew must not lose others by it.
    TreeSet<String> scopes = new TreeSet<>(Set.of(missing.label()));
    received.principal().scopes().forEach(scope -> scopes.add(scope.label()));
    return "error=\"insufficient_scope\", scope=\"%s\", ".formatted(String.join(" ", scopes));
  }
}
