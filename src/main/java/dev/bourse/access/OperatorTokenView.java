package dev.bourse.access;

import org.jspecify.annotations.Nullable;

/**
 * The displayed part of an operator token: everything except its secret.
 *
 * @param tokenId its public part
 * @param name its unique name
 * @param reach its reach
 * @param createdBy the actor who minted it
 * @param createdAtMillis when it was minted
 * @param expiresAtMillis when it expires, null for never
 * @param revokedAtMillis when it was revoked, null if it was not
 */
public record OperatorTokenView(
    String tokenId,
    String name,
    OperatorReach reach,
    String createdBy,
    long createdAtMillis,
    @Nullable Long expiresAtMillis,
    @Nullable Long revokedAtMillis) {}
