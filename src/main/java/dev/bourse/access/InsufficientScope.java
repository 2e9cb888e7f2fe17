package dev.bourse.access;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;

/** The caller's token lacks a scope. Used for control flow, so it has no stack trace. */
public final class InsufficientScope extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Scope scope;

  private InsufficientScope(Scope scope) {
    super("the token lacks the scope " + scope.label(), null, false, false);
    this.scope = scope;
  }

  /**
   * Fails unless the caller has a scope.
   *
   * @throws InsufficientScope if the caller lacks it
   */
  public static void require(Caller caller, Scope scope) {
    if (!caller.may(scope)) {
      throw new InsufficientScope(scope);
    }
  }

  /** Returns the missing scope. */
  public Scope scope() {
    return scope;
  }

  /** Returns the error response. */
  public ApiError refusal() {
    return ApiError.of(ErrorCode.FORBIDDEN, String.valueOf(getMessage()));
  }
}
