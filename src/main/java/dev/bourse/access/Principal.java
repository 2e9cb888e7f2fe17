package dev.bourse.access;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A caller that acts for an organization.
 *
 * @param org the organization it acts for
 * @param actor how audit rows name it: {@code token:<token_id>} or {@code member:<username>}
 * @param tokenId the API token's public part; empty for a member
 * @param scopes what it may do
 * @param cluster the one cluster it is bound to, null for all of the organization's
 * @param expiresAtMillis when the token stops working, null for never
 * @param member the username of a member who acts in person, null for an API token
 * @param memberId what that member owns things by, {@link Members#ID}; null for an API token
 * @param isForMcp whether the token was made for the MCP endpoint
 */
public record Principal(
    Organization org,
    String actor,
    String tokenId,
    Set<Scope> scopes,
    @Nullable String cluster,
    @Nullable Long expiresAtMillis,
    @Nullable String member,
    @Nullable String memberId,
    boolean isForMcp)
    implements Caller {
  public static final String SCHEME = "apiToken";
  public static final String MEMBER_SCHEME = "memberToken";

  public Principal {
    scopes = Set.copyOf(scopes);
    if ((member == null) != (memberId == null)) {
      throw new IllegalArgumentException("a member has a username and an id, a token has neither");
    }
  }

  /** Of members' tokens that were made for the MCP endpoint. */
  public static final String MCP_SCHEME = "mcpToken";

  /** An API token's. */
  public Principal(
      Organization org,
      String actor,
      String tokenId,
      Set<Scope> scopes,
      @Nullable String cluster,
      @Nullable Long expiresAtMillis) {
    this(org, actor, tokenId, scopes, cluster, expiresAtMillis, null, null, false);
  }

  @Override
  public String scheme() {
    return member == null ? SCHEME : MEMBER_SCHEME;
  }

  @Override
  public boolean satisfies(String scheme) {
    return scheme.equals(scheme()) || (isForMcp && scheme.equals(MCP_SCHEME));
  }

  @Override
  public String budgetKey() {
    return member == null ? tokenId : org.orgId() + '/' + member;
  }

  @Override
  public boolean may(Scope scope) {
    return scopes.contains(scope);
  }
}
