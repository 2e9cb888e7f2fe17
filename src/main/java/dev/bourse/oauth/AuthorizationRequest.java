package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.core.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A validated authorization request of a client.
 *
 * @param resource the address the tokens are for
 * @param state the client's value to repeat in the answer; empty for none
 */
record AuthorizationRequest(
    Client client,
    String redirectUri,
    Set<Scope> scopes,
    String resource,
    String challenge,
    String state) {

  /** The known parameters, in the order in which a page's form repeats them. */
  static final List<String> PARAMETERS =
      List.of(
          "response_type",
          "client_id",
          "redirect_uri",
          "scope",
          "state",
          "resource",
          "code_challenge",
          "code_challenge_method");

  /**
   * Validates a request whose client id and redirect address are valid already.
   *
   * @throws OAuthException to be sent to the redirect address
   */
  static AuthorizationRequest read(
      Client client, String redirectUri, Map<String, String> parameters, String baseUrl) {
    if (!"code".equals(parameters.get("response_type"))) {
      throw new OAuthException(
          OAuthException.UNSUPPORTED_RESPONSE_TYPE, "response_type: expected code");
    }
    client.require(Client.CODE);
    String challenge = parameters.getOrDefault("code_challenge", "");
    if (!"S256".equals(parameters.get("code_challenge_method"))) {
      throw new OAuthException(
          OAuthException.INVALID_REQUEST, "code_challenge_method: expected S256");
    }
    if (!Pkce.isChallenge(challenge)) {
      throw new OAuthException(
          OAuthException.INVALID_REQUEST, "code_challenge: expected the base64url of a SHA-256");
    }
    return new AuthorizationRequest(
        client,
        redirectUri,
        Scopes.asked(parameters.get("scope")),
        resource(parameters.get("resource"), baseUrl),
        challenge,
        parameters.getOrDefault("state", ""));
  }

  /**
   * The requested resource (RFC 8707); the HTTP API if none is named.
   *
   * @throws OAuthException if it is not a resource of this service
   */
  static String resource(@Nullable String named, String baseUrl) {
    if (named == null || named.equals(baseUrl) || named.equals(baseUrl + '/')) {
      return baseUrl;
    }
    if (named.equals(baseUrl + "/mcp")) {
      return named;
    }
    throw new OAuthException(
        OAuthException.INVALID_TARGET,
        "resource: " + Text.shown(named) + " is not " + baseUrl + " or " + baseUrl + "/mcp");
  }

  /** The request's parameters for the consent form. */
  static Map<String, String> carried(Map<String, String> parameters) {
    Map<String, String> carried = new LinkedHashMap<>();
    for (String name : PARAMETERS) {
      String value = parameters.get(name);
      if (value != null) {
        carried.put(name, value);
      }
    }
    return carried;
  }
}
