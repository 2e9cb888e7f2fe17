package dev.bourse.operator;

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

/** Operations of the operator contract on organizations' API tokens. */
public final class TokenAdminRoutes {
  private final TokenService tokens;
  private final Clock clock;

  public TokenAdminRoutes(TokenService tokens, Clock clock) {
    this.tokens = tokens;
    this.clock = clock;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listOrgTokens",
            call -> tokens.list(call.text("org"), call.limit(), call.findText("after")),
            CommonFields.page("tokens", "token_id", TokenView::json))
        .created("mintToken", this::mint, TokenAdminRoutes::minted)
        .ok("narrowToken", this::narrow, TokenView::json)
        .ok("revokeToken", this::revoke, Function.identity());
  }

  private Future<TokenService.MintedToken> mint(Call call) {
    JsonObject body = call.body();
    Set<Scope> scopes = EnumSet.noneOf(Scope.class);
    body.getJsonArray("scopes")
        .forEach(
            label ->
                Scope.find(String.valueOf(label))
                    .filter(Scope.grantableToTokens()::contains)
                    .ifPresent(scopes::add));
    return tokens.mint(
        call.actor(),
        call.text("org"),
        new TokenService.Order(
            body.getString("name"),
            scopes,
            body.getString("cluster"),
            CommonFields.expiry(body.getString("expires_at"), clock.millis()),
            body.getString("member"),
            TokenLimits.of(body.getJsonObject("limits"))));
  }

  private Future<TokenView> narrow(Call call) {
    return tokens.narrow(
        call.actor(),
        call.text("org"),
        call.text("token_id"),
        TokenLimits.of(call.body().getJsonObject("limits")));
  }

  private Future<JsonObject> revoke(Call call) {
    String tokenId = call.text("token_id");
    return tokens
        .revoke(call.actor(), call.text("org"), tokenId)
        .map(at -> CommonFields.revoked(tokenId, at));
  }

  private static JsonObject minted(TokenService.MintedToken minted) {
    return TokenView.of(minted.token()).json().put("token", minted.secret().text());
  }
}
