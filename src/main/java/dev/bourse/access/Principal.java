package dev.bourse.access;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The authenticated caller of one request.
 *
 * @param org the organization it acts for
 * @param actor how audit rows name it: {@code token:<token_id>}
 * @param tokenId the token's public part
 * @param scopes what it may do
 * @param cluster the one cluster it is bound to, null for all of the organization's
 * @param expiresAtMillis when the token stops working, null for never
 */
public record Principal(
    Organization org,
    String actor,
    String tokenId,
    Set<Scope> scopes,
    @Nullable String cluster,
    @Nullable Long expiresAtMillis) {}
