package dev.bourse.access;

import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A caller that acts for an organization.
 *
 * @param org the organization
 * @param actor its name in audit rows: {@code token:<token_id>} or {@code member:<username>}
 * @param tokenId the API token's public part; empty for a member
 * @param scopes the granted scopes
 * @param cluster the cluster it is bound to, null for all of the organization's
 * @param expiresAtMillis when the token or session expires, null for never
 * @param member the username of a member, null for an API token
 * @param memberId the owner id of that member, {@link Members#ID}; null for an API token
 * @param credential the kind of credential
 * @param limits the limits of an API token's declarations; those of an application are stored with
 *     its member's consent, see {@link LimitStore#limitsOf}
 * @param grantId the consent by which an application acts for the member, or the publishing
 *     credential of a job; null for other callers
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
    CredentialKind credential,
    TokenLimits limits,
    @Nullable String grantId)
    implements Caller {
  public static final String SCHEME = "apiToken";
  public static final String MEMBER_SCHEME = "memberToken";

  /** The scheme of members' tokens for the MCP endpoint. */
  public static final String MCP_SCHEME = "mcpToken";

  /** The scheme of browsers in which a member is signed in. */
  public static final String SESSION_SCHEME = "memberSession";

  /** The scheme of members' publishing credentials. */
  public static final String PUBLISHING_SCHEME = "publishingToken";

  /** The kind of a caller's credential. */
  public enum CredentialKind {
    /** A token of the organization, which does not act for a member. */
    API_TOKEN(SCHEME),

    /** A member's token for the HTTP interface. */
    MEMBER_TOKEN(MEMBER_SCHEME),

    /** A member's token for the MCP endpoint, which the HTTP interface accepts too. */
    MCP_TOKEN(MEMBER_SCHEME),

    /** A member's token for a job, which only publishes checkpoints. */
    PUBLISHING_TOKEN(PUBLISHING_SCHEME),

    /** The cookie of a browser in which a member is signed in. */
    SESSION(SESSION_SCHEME);

    private final String scheme;

    CredentialKind(String scheme) {
      this.scheme = scheme;
    }
  }

  public Principal {
    scopes = Set.copyOf(scopes);
    boolean isMember = credential != CredentialKind.API_TOKEN;
    if ((member != null) != isMember || (memberId != null) != isMember) {
      throw new IllegalArgumentException("a member has a username and an id, a token has neither");
    }
  }

  /** Creates a principal without limits and without a consent. */
  public Principal(
      Organization org,
      String actor,
      String tokenId,
      Set<Scope> scopes,
      @Nullable String cluster,
      @Nullable Long expiresAtMillis,
      @Nullable String member,
      @Nullable String memberId,
      CredentialKind credential) {
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

  /** Creates the principal of an API token without limits. */
  public Principal(
      Organization org,
      String actor,
      String tokenId,
      Set<Scope> scopes,
      @Nullable String cluster,
      @Nullable Long expiresAtMillis) {
    this(org, actor, tokenId, scopes, cluster, expiresAtMillis, TokenLimits.NONE);
  }

  /** Creates the principal of an API token. */
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
        CredentialKind.API_TOKEN,
        limits,
        null);
  }

  /** Returns the id of the publishing credential; null for every other caller. */
  public @Nullable String publishingCredential() {
    return credential == CredentialKind.PUBLISHING_TOKEN ? grantId : null;
  }

  /** Returns the username of the member who calls an operation that is for members only. */
  public String requireMember() {
    return Objects.requireNonNull(member, "an API token does not act for a member");
  }

  @Override
  public String scheme() {
    return credential.scheme;
  }

  @Override
  public boolean satisfies(String scheme) {
    return scheme.equals(scheme())
        || (credential == CredentialKind.MCP_TOKEN && scheme.equals(MCP_SCHEME));
  }

  /** A job has its own budget, so that it cannot use up that of the member. */
  @Override
  public String budgetKey() {
    String publishing = publishingCredential();
    if (publishing != null) {
      return publishing;
    }
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
