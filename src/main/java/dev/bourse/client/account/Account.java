package dev.bourse.client.account;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stored sign-in.
 *
 * @param url the service's address; null if the account is stored under that address
 * @param clientId the client id of the sign-in
 * @param tokenEndpoint where tokens are renewed
 * @param revocationEndpoint where tokens are revoked
 * @param accessToken null when nobody is signed in
 * @param expiresAt when the access token expires
 * @param refreshToken can be used once; null when there is none
 */
record Account(
    @Nullable String url,
    String clientId,
    String tokenEndpoint,
    String revocationEndpoint,
    @Nullable String accessToken,
    Instant expiresAt,
    @Nullable String refreshToken) {

  static Account of(JsonObject json) {
    return new Account(
        json.getString("url"),
        json.getString("client_id", ""),
        json.getString("token_endpoint", ""),
        json.getString("revocation_endpoint", ""),
        json.getString("access_token"),
        json.getInstant("expires_at", Instant.EPOCH),
        json.getString("refresh_token"));
  }

  JsonObject toJson() {
    JsonObject json =
        new JsonObject()
            .put("client_id", clientId)
            .put("token_endpoint", tokenEndpoint)
            .put("revocation_endpoint", revocationEndpoint);
    if (url != null) {
      json.put("url", url);
    }
    if (accessToken != null) {
      json.put("access_token", accessToken).put("expires_at", expiresAt);
    }
    if (refreshToken != null) {
      json.put("refresh_token", refreshToken);
    }
    return json;
  }

  boolean isSignedIn() {
    return accessToken != null;
  }

  /** The account without its tokens. */
  Account signedOut() {
    return new Account(url, clientId, tokenEndpoint, revocationEndpoint, null, Instant.EPOCH, null);
  }

  /** The account with the tokens of a token endpoint's answer. */
  Account with(JsonObject tokens, Instant now) {
    String renewed = tokens.getString("refresh_token", refreshToken);
    return new Account(
        url,
        clientId,
        tokenEndpoint,
        revocationEndpoint,
        tokens.getString("access_token"),
        now.plusSeconds(tokens.getLong("expires_in", 60L)),
        renewed);
  }

  /** Omits the tokens, so that they cannot be printed by accident. */
  @Override
  public String toString() {
    return "Account[clientId=" + clientId + ", isSignedIn=" + isSignedIn() + ']';
  }
}
