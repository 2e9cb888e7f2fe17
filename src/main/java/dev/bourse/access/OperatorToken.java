package dev.bourse.access;

import org.jspecify.annotations.Nullable;

/**
 * What is stored of an operator's token.
 *
 * @param tokenId its public part
 * @param name whose it is, as audit rows show it; up to 63 characters, and no other token's
 * @param reach how far it reaches
 * @param secretSha256 SHA-256 of the secret, in hex
 * @param createdBy the actor who minted it
 * @param createdAtMillis when
 * @param expiresAtMillis when it stops working, null for never
 */
public record OperatorToken(
    String tokenId,
    String name,
    OperatorReach reach,
    String secretSha256,
    String createdBy,
    long createdAtMillis,
    @Nullable Long expiresAtMillis) {
  public OperatorToken {
    if (tokenId.isEmpty() || name.isEmpty()) {
      throw new IllegalArgumentException(
          "an operator's token has an id and a name, not '%s' and '%s'".formatted(tokenId, name));
    }
  }
}
