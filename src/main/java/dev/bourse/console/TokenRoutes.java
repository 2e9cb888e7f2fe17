package dev.bourse.console;

import dev.bourse.access.InsufficientScopeException;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.org.TokenService;
import dev.bourse.org.TokenView;
import dev.bourse.schemas.common.ApiTokenJson;
import dev.bourse.schemas.common.ApiTokenRevocationJson;
import dev.bourse.schemas.common.NewApiTokenJson;
import dev.bourse.schemas.console.ApiTokenNameJson;
import dev.bourse.schemas.console.ApiTokenOrderJson;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.Set;

/** The console contract's operations on the organization's API tokens. */
public final class TokenRoutes {
  private final TokenService tokens;
  private final Clock clock;

  public TokenRoutes(TokenService tokens, Clock clock) {
    this.tokens = tokens;
    this.clock = clock;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listConsoleTokens",
            call ->
                tokens.list(orgId(call), call.limit(), call.findText("after")).map(TokenView::page))
        .created("mintConsoleToken", this::mint)
        .ok("renameConsoleToken", this::change)
        .ok("revokeConsoleToken", this::revoke);
  }

  private Future<NewApiTokenJson> mint(Call call) {
    ApiTokenOrderJson sent = ApiTokenOrderJson.read(call.body());
    Principal caller = call.principal();
    Set<Scope> scopes = Scope.grantable(sent.scopes());
    scopes.forEach(scope -> InsufficientScopeException.require(caller, scope));
    return tokens
        .mint(
            caller.actor(),
            caller.org().orgId(),
            new TokenService.Order(
                sent.name(),
                scopes,
                sent.cluster(),
                CommonFields.expiry(sent.expiresAt(), clock.millis()),
                caller.member(),
                TokenLimits.of(sent.limits())))
        .map(TokenService.MintedToken::toJson);
  }

  private Future<ApiTokenJson> change(Call call) {
    ApiTokenNameJson sent = ApiTokenNameJson.read(call.body());
    String actor = call.principal().actor();
    String tokenId = call.text("token_id");
    String name = sent.name();
    Future<TokenView> narrowed =
        tokens.narrow(actor, orgId(call), tokenId, TokenLimits.of(sent.limits()));
    return narrowed
        .compose(
            token ->
                name == null
                    ? Future.succeededFuture(token)
                    : tokens.rename(actor, orgId(call), tokenId, name))
        .map(TokenView::toJson);
  }

  private Future<ApiTokenRevocationJson> revoke(Call call) {
    String tokenId = call.text("token_id");
    return tokens
        .revoke(call.principal().actor(), orgId(call), tokenId)
        .map(at -> new ApiTokenRevocationJson(tokenId, at));
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }
}
