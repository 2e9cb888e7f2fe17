package dev.bourse.oauth;

import java.util.List;
import java.util.Set;

/**
 * An application that may ask members for permission.
 *
 * @param clientId by which it asks
 * @param name what it calls itself; nobody has checked it
 * @param redirectUris where answers may be sent
 * @param grantTypes how it may get tokens
 */
record Client(String clientId, String name, List<String> redirectUris, Set<String> grantTypes) {
  static final String CODE = "authorization_code";
  static final String REFRESH = "refresh_token";
  static final String DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

  /**
   * {@code bourse login}: known to every service, so that it need not register at each. Its answers
   * go to the member's own machine alone, to whichever port it took there (RFC 8252, section 7.3).
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
      throw new OAuthError(
          OAuthError.UNAUTHORIZED_CLIENT, "this client did not register for " + grantType);
    }
  }

  boolean isRefreshing() {
    return grantTypes.contains(REFRESH);
  }
}
