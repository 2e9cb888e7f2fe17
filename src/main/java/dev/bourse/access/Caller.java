package dev.bourse.access;

/**
 * Who makes a request. Each kind presents a credential of its own shape, so that one is never taken
 * for another, and contracts name the kinds an operation takes by their security schemes.
 */
public sealed interface Caller permits Principal, Operator {
  /** The security scheme this caller satisfies, as contracts spell it. */
  String scheme();

  /** Whether this caller's credential is of a security scheme; a credential may be of several. */
  default boolean satisfies(String scheme) {
    return scheme.equals(scheme());
  }

  /** How audit rows name it. */
  String actor();

  /** What its request budget is counted by. */
  String budgetKey();

  /**
   * Whose share of what all callers share it uses: the id of its organization, or an operator's
   * token.
   */
  String owner();

  /** Whether it may do what a scope stands for. */
  boolean may(Scope scope);

  /** Whether it may do more than look, as far as its scopes go. */
  default boolean mayWrite() {
    return true;
  }
}
