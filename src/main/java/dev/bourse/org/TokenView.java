package dev.bourse.org;

import dev.bourse.access.TokenLimits;
import dev.bourse.core.Page;
import dev.bourse.schemas.common.ApiTokenJson;
import dev.bourse.schemas.common.ApiTokenPageJson;
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

  /** Returns a page of tokens as members and operators see it. */
  public static ApiTokenPageJson page(Page<TokenView> page) {
    return new ApiTokenPageJson(
        page.items().stream().map(TokenView::toJson).toList(),
        page.more(),
        page.next(TokenView::tokenId));
  }

  /** Returns the token as the contracts show it. */
  public ApiTokenJson toJson() {
    return new ApiTokenJson(
        tokenId,
        name,
        scopes,
        cluster,
        createdBy,
        createdAtMillis,
        expiresAtMillis,
        lastUsedAtMillis,
        revokedAtMillis,
        limits.toJson());
  }
}
