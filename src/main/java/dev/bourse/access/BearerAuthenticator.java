package dev.bourse.access;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.SecretPrefix;
import dev.bourse.core.TokenSecret;
import io.vertx.core.Future;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Authenticates bearer tokens of every kind, which it distinguishes by their form. */
public final class BearerAuthenticator implements Authenticator {
  private static final String SCHEME = "Bearer ";

  /** The first characters of every JWT: a brace and a quotation mark in base 64. */
  private static final String JWT_BEGIN = "eyJ";

  private static final String NODE_BEGIN = SCHEME + SecretPrefix.NODE_CREDENTIAL.text();

  private final Tokens tokens;
  private final Operators operators;
  private final MemberTokens members;
  private final NodeCredentials nodes;

  public BearerAuthenticator(
      Tokens tokens, Operators operators, MemberTokens members, NodeCredentials nodes) {
    this.tokens = tokens;
    this.operators = operators;
    this.members = members;
    this.nodes = nodes;
  }

  @Override
  public Caller authenticate(@Nullable String authorizationHeader) {
    String token = token(authorizationHeader);
    if (token.startsWith(JWT_BEGIN)) {
      return members.authenticate(token);
    }
    TokenSecret presented = parse(token);
    return switch (presented.kind()) {
      case ORGANIZATION -> tokens.authenticate(presented);
      case OPERATOR -> operators.authenticate(presented);
      case NODE -> nodes.authenticate(presented);
    };
  }

  @Override
  public Future<Void> confirm(@Nullable String authorizationHeader, long sinceNanos) {
    try {
      requireInForce(token(authorizationHeader));
      return Future.succeededFuture();
    } catch (ApiException revoked) {
      return Future.failedFuture(revoked);
    }
  }

  private void requireInForce(String token) {
    if (token.startsWith(JWT_BEGIN)) {
      members.requireInForce(token);
      return;
    }
    TokenSecret presented = parse(token);
    switch (presented.kind()) {
      case ORGANIZATION -> tokens.requireInForce(presented);
      case OPERATOR -> operators.requireInForce(presented);
      case NODE -> nodes.authenticate(presented);
    }
  }

  private static String token(@Nullable String authorizationHeader) {
    if (authorizationHeader == null) {
      throw unauthorized("missing Authorization header; expected 'Bearer <token>'");
    }
    if (!authorizationHeader.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      throw unauthorized("the Authorization header is not of the form 'Bearer <token>'");
    }
    return authorizationHeader.substring(SCHEME.length()).trim();
  }

  private static TokenSecret parse(String token) {
    return TokenSecret.parse(token).orElseThrow(() -> unauthorized("the token is malformed"));
  }

  @Override
  public boolean isAgents(@Nullable String authorizationHeader) {
    return authorizationHeader != null
        && authorizationHeader.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        && isAgentsToken(authorizationHeader.substring(SCHEME.length()).trim());
  }

  /** A node has no client certificate, and its credential reads nothing. */
  private boolean isAgentsToken(String token) {
    return token.startsWith(JWT_BEGIN)
        ? members.claimsToPublish(token)
        : !token.startsWith(SecretPrefix.NODE_CREDENTIAL.text());
  }

  @Override
  public Optional<NodeAgent> findNode(@Nullable String authorizationHeader) {
    return authorizationHeader == null || !authorizationHeader.startsWith(NODE_BEGIN)
        ? Optional.empty()
        : TokenSecret.parse(authorizationHeader.substring(SCHEME.length())).flatMap(nodes::find);
  }

  static ApiException unauthorized(String detail) {
    return ApiException.of(ErrorCode.UNAUTHORIZED, detail);
  }
}
