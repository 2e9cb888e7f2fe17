package dev.bourse.access;

/**
 * Somebody who runs the platform. Belongs to no organization; scopes are for those who do.
 *
 * @param tokenId the operator token's public part
 * @param name what the token was minted for, such as a person's name
 */
public record Operator(String tokenId, String name) implements Caller {
  public static final String SCHEME = "operatorToken";

  @Override
  public String scheme() {
    return SCHEME;
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
}
