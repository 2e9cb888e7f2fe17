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
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Function;

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
            call -> tokens.list(orgId(call), call.limit(), call.findText("after")),
            CommonFields.page("tokens", "token_id", TokenView::json))
        .created("mintConsoleToken", this::mint, TokenRoutes::minted)
        .ok("renameConsoleToken", this::change, TokenView::json)
        .ok("revokeConsoleToken", this::revoke, Function.identity());
  }

  private Future<TokenService.MintedToken> mint(Call call) {
    JsonObject body = call.body();
    Principal caller = call.principal();
    Set<Scope> scopes = EnumSet.noneOf(Scope.class);
    body.getJsonArray("scopes")
        .forEach(
            label ->
                Scope.find(String.valueOf(label))
                    .filter(Scope.grantableToTokens()::contains)
                    .ifPresent(scopes::add));
    scopes.forEach(scope -> InsufficientScopeException.require(caller, scope));
    return tokens.mint(
        caller.actor(),
        caller.org().orgId(),
        new TokenService.Order(
            body.getString("name"),
            scopes,
            body.getString("cluster"),
            CommonFields.expiry(body.getString("expires_at"), clock.millis()),
            caller.member(),
            TokenLimits.of(body.getJsonObject("limits"))));
  }

  private Future<TokenView> change(Call call) {
    JsonObject body = call.body();
    String actor = call.principal().actor();
    String tokenId = call.text("token_id");
    TokenLimits asked = TokenLimits.of(body.getJsonObject("limits"));
    String name = body.getString("name");
    Future<TokenView> narrowed = tokens.narrow(actor, orgId(call), tokenId, asked);
    return name == null
        ? narrowed
        : narrowed.compose(done -> tokens.rename(actor, orgId(call), tokenId, name));
  }

  private Future<JsonObject> revoke(Call call) {
    String tokenId = call.text("token_id");
    return tokens
        .revoke(call.principal().actor(), orgId(call), tokenId)
        .map(at -> CommonFields.revoked(tokenId, at));
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }

  private static JsonObject minted(TokenService.MintedToken minted) {
    return TokenView.of(minted.token()).json().put("token", minted.secret().text());
  }
}
