package dev.bourse.org;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is shown of an API token: everything but its secret.
 *
 * @param scopes as recorded when it was minted
 * @param cluster the one it is bound to, null for all of the organization's
 */
record TokenView(
    String tokenId,
    String name,
    List<String> scopes,
    @Nullable String cluster,
    @Nullable Long expiresAtMillis,
    String createdBy,
    long createdAtMillis,
    @Nullable Long lastUsedAtMillis,
    @Nullable Long revokedAtMillis) {}
