package dev.bourse.mcp;

import dev.bourse.access.Scope;

/** The caller's token does not allow a tool. */
final class ScopeMissing extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Scope scope;

  ScopeMissing(Scope scope) {
    super("the token lacks the scope " + scope.label(), null, false, false);
    this.scope = scope;
  }

  Scope scope() {
    return scope;
  }
}
