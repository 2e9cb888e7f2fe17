package dev.bourse.access;

/**
 * Somebody who runs the platform. Belongs to no organization; scopes are for those who do.
 *
 * @param tokenId the operator token's public part; of a session, that of the token it began with
 * @param name what the token was minted for, such as a person's name
 * @param isReadOnly whether the operator may look at everything and change nothing
 * @param scheme of what the operator showed: the token or the cookie of a session
 */
public record Operator(String tokenId, String name, boolean isReadOnly, String scheme)
    implements Caller {
  public static final String SCHEME = "operatorToken";

  /** Of browsers in which an operator is signed in. */
  public static final String SESSION_SCHEME = "operatorSession";

  /** Who showed the token itself and may do all. */
  public Operator(String tokenId, String name) {
    this(tokenId, name, false, SCHEME);
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
  public boolean may(Scope scope) {
    return false;
  }

  @Override
  public boolean mayWrite() {
    return !isReadOnly;
  }
}
