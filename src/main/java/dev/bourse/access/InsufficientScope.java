package dev.bourse.access;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;

/** The caller's token does not allow what was asked. It is control flow: no stack trace. */
public final class InsufficientScope extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Scope scope;

  private InsufficientScope(Scope scope) {
    super("the token lacks the scope " + scope.label(), null, false, false);
    this.scope = scope;
  }

  /**
   * Accepts a caller who has a scope.
   *
   * @throws InsufficientScope for any other
   */
  public static void demand(Caller caller, Scope scope) {
    if (!caller.may(scope)) {
      throw new InsufficientScope(scope);
    }
  }

  /** What the token would have to allow. */
  public Scope scope() {
    return scope;
  }

  /** How a client is told. */
  public ApiError refusal() {
    return ApiError.of(ErrorCode.FORBIDDEN, String.valueOf(getMessage()));
  }
}
