package dev.bourse.oauth;

import java.util.List;
import java.util.Set;

/**
 * An application that may ask members for permission.
 *
 * @param clientId its id
 * @param name its own, unverified name
 * @param redirectUris the registered redirect addresses
 * @param grantTypes the permitted ways to get tokens
 */
record Client(String clientId, String name, List<String> redirectUris, Set<String> grantTypes) {
  static final String CODE = "authorization_code";
  static final String REFRESH = "refresh_token";
  static final String DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

  /**
   * {@code bourse login}: known to every service without registration. Answers go only to the
   * member's own machine, to any port (RFC 8252, section 7.3).
   */
  static final Client COMMAND_LINE =
      new Client(
          "bourse-cli",
          "Bourse command line",
          List.of("http://127.0.0.1/callback"),
          Set.of(CODE, DEVICE, REFRESH));

  Client {
    redirectUris = List.copyOf(redirectUris);
    grantTypes = Set.copyOf(grantTypes);
  }

  void require(String grantType) {
    if (!grantTypes.contains(grantType)) {
      throw new OAuthException(
          OAuthException.UNAUTHORIZED_CLIENT, "this client did not register for " + grantType);
    }
  }

  boolean isRefreshing() {
    return grantTypes.contains(REFRESH);
  }
}
