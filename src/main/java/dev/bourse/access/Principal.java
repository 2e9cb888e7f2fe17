package dev.bourse.access;

import java.util.Objects;
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
 * @param expiresAtMillis when the token or session stops working, null for never
 * @param member the username of a member who acts in person, null for an API token
 * @param memberId what that member owns things by, {@link Members#ID}; null for an API token
 * @param credential what it showed
 * @param limits how far an API token's declarations may go; those of an application are stored with
 *     its member's consent, see {@link LimitStore#limitsOf}
 * @param grantId the consent by which an application acts for the member, null for anybody else
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
    Credential credential,
    TokenLimits limits,
    @Nullable String grantId)
    implements Caller {
  public static final String SCHEME = "apiToken";
  public static final String MEMBER_SCHEME = "memberToken";

  /** Of members' tokens that were made for the MCP endpoint. */
  public static final String MCP_SCHEME = "mcpToken";

  /** Of browsers in which a member is signed in. */
  public static final String SESSION_SCHEME = "memberSession";

  /** What a caller showed. */
  public enum Credential {
    /** A token of the organization, which acts in nobody's name. */
    API_TOKEN(SCHEME),

    /** A member's token for the HTTP interface. */
    MEMBER_TOKEN(MEMBER_SCHEME),

    /** A member's token for the MCP endpoint; the HTTP interface takes it as any of a member's. */
    MCP_TOKEN(MEMBER_SCHEME),

    /** The cookie of a browser in which a member is signed in. */
    SESSION(SESSION_SCHEME);

    private final String scheme;

    Credential(String scheme) {
      this.scheme = scheme;
    }
  }

  public Principal {
    scopes = Set.copyOf(scopes);
    boolean isMember = credential != Credential.API_TOKEN;
    if ((member != null) != isMember || (memberId != null) != isMember) {
      throw new IllegalArgumentException("a member has a username and an id, a token has neither");
    }
  }

  /** One whose declarations may go as far as anybody's, and who acts by no consent. */
  public Principal(
      Organization org,
      String actor,
      String tokenId,
      Set<Scope> scopes,
      @Nullable String cluster,
      @Nullable Long expiresAtMillis,
      @Nullable String member,
      @Nullable String memberId,
      Credential credential) {
    this(
        org,
        actor,
        tokenId,
        scopes,
        cluster,
        expiresAtMillis,
        member,
        memberId,
        credential,
        TokenLimits.NONE,
        null);
  }

  /** An API token's without limits. */
  public Principal(
      Organization org,
      String actor,
      String tokenId,
      Set<Scope> scopes,
      @Nullable String cluster,
      @Nullable Long expiresAtMillis) {
    this(org, actor, tokenId, scopes, cluster, expiresAtMillis, TokenLimits.NONE);
  }

  /** An API token's. */
  Principal(
      Organization org,
      String actor,
      String tokenId,
      Set<Scope> scopes,
      @Nullable String cluster,
      @Nullable Long expiresAtMillis,
      TokenLimits limits) {
    this(
        org,
        actor,
        tokenId,
        scopes,
        cluster,
        expiresAtMillis,
        null,
        null,
        Credential.API_TOKEN,
        limits,
        null);
  }

  /** The username of the member who calls an operation that only members may. */
  public String requireMember() {
    return Objects.requireNonNull(member, "an API token acts in nobody's name");
  }

  @Override
  public String scheme() {
    return credential.scheme;
  }

  @Override
  public boolean satisfies(String scheme) {
    return scheme.equals(scheme())
        || (credential == Credential.MCP_TOKEN && scheme.equals(MCP_SCHEME));
  }

  @Override
  public String budgetKey() {
    return member == null ? tokenId : org.orgId() + '/' + member;
  }

  @Override
  public String owner() {
    return org.orgId();
  }

  @Override
  public boolean may(Scope scope) {
    return scopes.contains(scope);
  }
}
