package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.core.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a client asks a member for, checked.
 *
 * @param resource the address of what the tokens are to be for
 * @param state what the answer carries back; empty for none
 */
record AuthorizationRequest(
    Client client,
    String redirectUri,
    Set<Scope> scopes,
    String resource,
    String challenge,
    String state) {

  /** The parameters there are, in the order in which a page carries them on. */
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
   * Checks what may be told to the client, whose id and redirect address are checked already.
   *
   * @throws OAuthError to be sent to the redirect address
   */
  static AuthorizationRequest read(
      Client client, String redirectUri, Map<String, String> parameters, String baseUrl) {
    if (!"code".equals(parameters.get("response_type"))) {
      throw new OAuthError(OAuthError.UNSUPPORTED_RESPONSE_TYPE, "response_type: expected code");
    }
    client.require(Client.CODE);
    String challenge = parameters.getOrDefault("code_challenge", "");
    if (!"S256".equals(parameters.get("code_challenge_method"))) {
      throw new OAuthError(OAuthError.INVALID_REQUEST, "code_challenge_method: expected S256");
    }
    if (!Pkce.isChallenge(challenge)) {
      throw new OAuthError(
          OAuthError.INVALID_REQUEST, "code_challenge: expected the base64url of a SHA-256");
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
   * The resource meant (RFC 8707); the HTTP interface when none is named.
   *
   * @throws OAuthError when it is none of this service
   */
  static String resource(@Nullable String named, String baseUrl) {
    if (named == null || named.equals(baseUrl) || named.equals(baseUrl + '/')) {
      return baseUrl;
    }
    if (named.equals(baseUrl + "/mcp")) {
      return named;
    }
    throw new OAuthError(
        OAuthError.INVALID_TARGET,
        "resource: " + Text.shown(named) + " is not " + baseUrl + " or " + baseUrl + "/mcp");
  }

  /** What was asked, for the form that asks the member. */
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
