package dev.bourse.access;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is stored of an API token.
 *
 * @param tokenId its public part
 * @param orgId the organization it acts for
 * @param name a label for people
 * @param secretSha256 SHA-256 of the secret, in hex
 * @param scopes what it may do
 * @param cluster the one cluster it is bound to, null for org-wide
 * @param createdBy who minted it
 * @param createdAtMillis when
 * @param expiresAtMillis when it stops working, null for never
 * @param limits how far its declarations may go
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

  /** One whose declarations may go as far as anybody's. */
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
