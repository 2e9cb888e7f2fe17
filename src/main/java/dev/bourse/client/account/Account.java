package dev.bourse.client.account;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of one sign-in.
 *
 * @param url the service's address; null in what is kept by that address
 * @param clientId as what this command line signed in
 * @param tokenEndpoint where tokens are renewed
 * @param revocationEndpoint where they are given back
 * @param accessToken null when nobody is signed in
 * @param expiresAt until when the access token is good
 * @param refreshToken good once; null when there is none
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

  /** The same without its tokens. */
  Account signedOut() {
    return new Account(url, clientId, tokenEndpoint, revocationEndpoint, null, Instant.EPOCH, null);
  }

  /** The same with what a token endpoint answered. */
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

  /** Without its tokens: whatever prints this must not print them. */
  @Override
  public String toString() {
    return "Account[clientId=" + clientId + ", isSignedIn=" + isSignedIn() + ']';
  }
}
