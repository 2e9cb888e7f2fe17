package dev.bourse.access;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import org.jspecify.annotations.Nullable;

/**
 * An operator of the platform, or of one site. Belongs to no organization and has no scopes, which
 * are for callers of organizations.
 *
 * @param tokenId the operator token's public part; for a session, that of the token it was started
 *     with
 * @param name the token's name, for example a person's name
 * @param reach the token's reach
 * @param scheme the security scheme of the credential: the token or a session's cookie
 */
public record Operator(String tokenId, String name, OperatorReach reach, String scheme)
    implements Caller {
  public static final String SCHEME = "operatorToken";

  /** The scheme of browsers in which an operator is signed in. */
  public static final String SESSION_SCHEME = "operatorSession";

  /** Creates an operator who presented an unrestricted token. */
  public Operator(String tokenId, String name) {
    this(tokenId, name, OperatorReach.ALL, SCHEME);
  }

  @Override
  public String actor() {
    return "operator:" + name;
  }

  @Override
  public String budgetKey() {
    return tokenId;
  }

  @Override
  public String owner() {
    return tokenId;
  }

  @Override
  public boolean may(Scope scope) {
    return false;
  }

  @Override
  public boolean mayWrite() {
    return !reach.isReadOnly();
  }

  /**
   * Returns the site whose machines the operator manages, and nothing else; null for the platform.
   */
  public @Nullable String site() {
    return reach.site();
  }

  /**
   * Rejects operators of one site for an operation that is not about the machines of a site.
   *
   * @throws ApiException {@code forbidden}
   */
  public void requirePlatform(String operationId) {
    if (site() != null) {
      throw refusal(operationId + " takes an operator's token that is of no site");
    }
  }

  /**
   * Rejects operators of another site. Operations that {@link #requirePlatform} does not protect
   * call this for each pool and each node that a change reads.
   *
   * @param thing the object's name in the error message
   * @param at the site of the object
   * @throws ApiException {@code forbidden}
   */
  public void requireSite(String thing, String at) {
    if (site() != null && !at.equals(site())) {
      throw refusal(
          "%s is at site '%s', which takes an operator's token of that site or of none"
              .formatted(thing, Text.shown(at)));
    }
  }

  private ApiException refusal(String why) {
    return ApiException.of(
        ErrorCode.FORBIDDEN,
        "%s keeps site '%s' alone; %s",
        actor(),
        Text.shown(String.valueOf(site())),
        why);
  }
}
