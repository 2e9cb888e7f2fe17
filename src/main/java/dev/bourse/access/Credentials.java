package dev.bourse.access;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import org.jspecify.annotations.Nullable;

/** Every credential the service knows, told apart by its shape. */
public final class Credentials implements Authenticator {
  private static final String SCHEME = "Bearer ";

  private final Tokens tokens;
  private final Operators operators;

  public Credentials(Tokens tokens, Operators operators) {
    this.tokens = tokens;
    this.operators = operators;
  }

  @Override
  public Caller authenticate(@Nullable String authorizationHeader) {
    if (authorizationHeader == null) {
      throw unauthorized("missing Authorization header; expected 'Bearer <token>'");
    }
    if (!authorizationHeader.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      throw unauthorized("the Authorization header is not of the form 'Bearer <token>'");
    }
    TokenSecret presented =
        TokenSecret.parse(authorizationHeader.substring(SCHEME.length()).trim())
            .orElseThrow(() -> unauthorized("the token is malformed"));
    return switch (presented.kind()) {
      case ORGANIZATION -> tokens.authenticate(presented);
      case OPERATOR -> operators.authenticate(presented);
    };
  }

  static ApiError unauthorized(String detail) {
    return ApiError.of(ErrorCode.UNAUTHORIZED, detail);
  }
}
