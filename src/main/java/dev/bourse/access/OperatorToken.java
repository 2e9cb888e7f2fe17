package dev.bourse.access;

import org.jspecify.annotations.Nullable;

/**
 * The stored part of an operator token.
 *
 * @param tokenId its public part
 * @param name its unique name in audit rows, usually a person's; up to 63 characters
 * @param reach its reach
 * @param secretSha256 SHA-256 of the secret, in hex
 * @param createdBy the actor who minted it
 * @param createdAtMillis when it was minted
 * @param expiresAtMillis when it expires, null for never
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
