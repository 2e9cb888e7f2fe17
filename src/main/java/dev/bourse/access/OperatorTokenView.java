package dev.bourse.access;

import org.jspecify.annotations.Nullable;

/**
 * What is shown of an operator's token: everything but its secret.
 *
 * @param tokenId its public part
 * @param name whose it is
 * @param reach how far it reaches
 * @param createdBy the actor who minted it
 * @param createdAtMillis when it was minted
 * @param expiresAtMillis when it stops working, null for never
 * @param revokedAtMillis when it was revoked, null when it was not
 */
public record OperatorTokenView(
    String tokenId,
    String name,
    OperatorReach reach,
    String createdBy,
    long createdAtMillis,
    @Nullable Long expiresAtMillis,
    @Nullable Long revokedAtMillis) {
  /** A token that was minted just now. */
  public static OperatorTokenView of(OperatorToken token) {
    return new OperatorTokenView(
        token.tokenId(),
        token.name(),
        token.reach(),
        token.createdBy(),
        token.createdAtMillis(),
        token.expiresAtMillis(),
        null);
  }
}
