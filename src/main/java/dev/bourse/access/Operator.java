package dev.bourse.access;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who runs the platform, or one site of it. Belongs to no organization; scopes are for
 * those who do.
 *
 * @param tokenId the operator token's public part; of a session, that of the token it began with
 * @param name what the token was minted for, such as a person's name
 * @param reach how far the token reaches
 * @param scheme of what the operator showed: the token or the cookie of a session
 */
public record Operator(String tokenId, String name, OperatorReach reach, String scheme)
    implements Caller {
  public static final String SCHEME = "operatorToken";

  /** Of browsers in which an operator is signed in. */
  public static final String SESSION_SCHEME = "operatorSession";

  /** Who showed the token itself and may do all. */
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

  /** The one site whose machines it keeps, and nothing else; null for the platform. */
  public @Nullable String site() {
    return reach.site();
  }

  /**
   * Refuses an operation that is not about the machines of a site to an operator of one.
   *
   * @throws ApiError {@code forbidden}
   */
  public void requirePlatform(String operationId) {
    if (site() != null) {
      throw refusal(operationId + " takes an operator's token that is of no site");
    }
  }

  /**
   * Refuses what is at another site to an operator of one: what {@link #requirePlatform} lets such
   * an operator call asks this of each pool and each node, where a change reads them.
   *
   * @param thing what it is, as refusals name it
   * @param at the site it is at
   * @throws ApiError {@code forbidden}
   */
  public void requireSite(String thing, String at) {
    if (site() != null && !at.equals(site())) {
      throw refusal(
          "%s is at site '%s', which takes an operator's token of that site or of none"
              .formatted(thing, Text.shown(at)));
    }
  }

  private ApiError refusal(String why) {
    return ApiError.of(
        ErrorCode.FORBIDDEN,
        "%s keeps site '%s' alone; %s",
        actor(),
        Text.shown(String.valueOf(site())),
        why);
  }
}
