package dev.bourse.org;

import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.access.TokenLimits;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The visible part of an API token: everything but its secret.
 *
 * @param tokenId its public part
 * @param name a label for people
 * @param scopes its scopes, as recorded when it was minted
 * @param cluster the one cluster it is bound to, null for all of the organization's
 * @param createdBy the actor who minted it
 * @param createdAtMillis when it was minted
 * @param expiresAtMillis when it expires, null for never
 * @param lastUsedAtMillis when it was last used, to the minute; null for never
 * @param revokedAtMillis when it was revoked, null when it was not
 * @param limits the limits of its declarations
 */
public record TokenView(
    String tokenId,
    String name,
    List<String> scopes,
    @Nullable String cluster,
    String createdBy,
    long createdAtMillis,
    @Nullable Long expiresAtMillis,
    @Nullable Long lastUsedAtMillis,
    @Nullable Long revokedAtMillis,
    TokenLimits limits) {
  public TokenView {
    scopes = List.copyOf(scopes);
  }

  /** A newly minted token. */
  public static TokenView of(Token token) {
    return new TokenView(
        token.tokenId(),
        token.name(),
        Scope.labels(token.scopes()),
        token.cluster(),
        token.createdBy(),
        token.createdAtMillis(),
        token.expiresAtMillis(),
        null,
        null,
        token.limits());
  }

  /** The token in JSON, for answers. */
  public JsonObject json() {
    return new JsonObject()
        .put("token_id", tokenId())
        .put("name", name())
        .put("scopes", new JsonArray(scopes()))
        .put("cluster", cluster())
        .put("created_by", createdBy())
        .put("created_at", Times.rfc3339(createdAtMillis()))
        .put("expires_at", Times.rfc3339OrNull(expiresAtMillis()))
        .put("last_used_at", Times.rfc3339OrNull(lastUsedAtMillis()))
        .put("revoked_at", Times.rfc3339OrNull(revokedAtMillis()))
        .put("limits", limits().json());
  }
}
