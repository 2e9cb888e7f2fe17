package dev.bourse.access;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;

/** The caller's token lacks a scope. Used for control flow, so it has no stack trace. */
public final class InsufficientScopeException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Scope scope;

  private InsufficientScopeException(Scope scope) {
    super("the token lacks the scope " + scope.label(), null, false, false);
    this.scope = scope;
  }

  /**
   * Fails unless the caller has a scope.
   *
   * @throws InsufficientScopeException if the caller lacks it
   */
  public static void require(Caller caller, Scope scope) {
    if (!caller.may(scope)) {
      throw new InsufficientScopeException(scope);
    }
  }

  /** Returns the missing scope. */
  public Scope scope() {
    return scope;
  }

  /** Returns the error response. */
  public ApiException refusal() {
    return ApiException.of(ErrorCode.FORBIDDEN, String.valueOf(getMessage()));
  }
}
