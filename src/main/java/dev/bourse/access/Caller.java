package dev.bourse.access;

/**
 * The authenticated caller of a request. Credentials of each kind have a different form, so they
 * cannot be confused, and contracts name the kinds an operation accepts by their security schemes.
 */
public sealed interface Caller permits Principal, Operator, NodeAgent {
  /** Returns the caller's security scheme, as named in contracts. */
  String scheme();

  /** Returns whether the caller's credential is of a security scheme; it may be of several. */
  default boolean satisfies(String scheme) {
    return scheme.equals(scheme());
  }

  /** Returns the caller's name in audit rows. */
  String actor();

  /** Returns the key of its request budget. */
  String budgetKey();

  /**
   * Returns the owner whose share of shared resources it uses: the id of its organization, or an
   * operator token.
   */
  String owner();

  /** Returns whether a scope permits it to act. */
  boolean may(Scope scope);

  /** Returns whether its scopes permit any write. */
  default boolean mayWrite() {
    return true;
  }
}
