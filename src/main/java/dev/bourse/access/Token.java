package dev.bourse.access;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The stored part of an API token.
 *
 * @param tokenId its public part
 * @param orgId the organization it acts for
 * @param name a label for people
 * @param secretSha256 SHA-256 of the secret, in hex
 * @param scopes the granted scopes
 * @param cluster the cluster it is bound to, null for the whole organization
 * @param createdBy the actor who minted it
 * @param createdAtMillis when it was minted
 * @param expiresAtMillis when it expires, null for never
 * @param limits the limits of its declarations
 */
public record Token(
    String tokenId,
    String orgId,
    String name,
    String secretSha256,
    Set<Scope> scopes,
    @Nullable String cluster,
    String createdBy,
    long createdAtMillis,
    @Nullable Long expiresAtMillis,
    TokenLimits limits) {
  public Token {
    scopes = Set.copyOf(scopes);
    if (tokenId.isEmpty() || orgId.isEmpty()) {
      throw new IllegalArgumentException(
          "a token has an id and an organization, not '%s' and '%s'".formatted(tokenId, orgId));
    }
  }

  /** Creates a token without limits. */
  public Token(
      String tokenId,
      String orgId,
      String name,
      String secretSha256,
      Set<Scope> scopes,
      @Nullable String cluster,
      String createdBy,
      long createdAtMillis,
      @Nullable Long expiresAtMillis) {
    this(
        tokenId,
        orgId,
        name,
        secretSha256,
        scopes,
        cluster,
        createdBy,
        createdAtMillis,
        expiresAtMillis,
        TokenLimits.NONE);
  }
}
