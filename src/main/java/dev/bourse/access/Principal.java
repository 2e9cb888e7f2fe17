package dev.bourse.access;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A caller that acts for an organization.
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
    @Nullable Long expiresAtMillis)
    implements Caller {
  public static final String SCHEME = "apiToken";

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public String budgetKey() {
    return tokenId;
  }

  @Override
  public boolean may(Scope scope) {
    return scopes.contains(scope);
  }
}
