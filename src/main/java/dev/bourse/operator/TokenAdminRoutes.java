package dev.bourse.operator;

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
import dev.bourse.schemas.operator.TokenMintJson;
import dev.bourse.schemas.operator.TokenNarrowingJson;
import io.vertx.core.Future;
import java.time.Clock;

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
            call ->
                tokens
                    .list(call.text("org"), call.limit(), call.findText("after"))
                    .map(TokenView::page))
        .created("mintToken", this::mint)
        .ok("narrowToken", this::narrow)
        .ok("revokeToken", this::revoke);
  }

  private Future<NewApiTokenJson> mint(Call call) {
    TokenMintJson sent = TokenMintJson.read(call.body());
    return tokens
        .mint(
            call.actor(),
            call.text("org"),
            new TokenService.Order(
                sent.name(),
                Scope.grantable(sent.scopes()),
                sent.cluster(),
                CommonFields.expiry(sent.expiresAt(), clock.millis()),
                sent.member(),
                TokenLimits.of(sent.limits())))
        .map(TokenService.MintedToken::toJson);
  }

  private Future<ApiTokenJson> narrow(Call call) {
    return tokens
        .narrow(
            call.actor(),
            call.text("org"),
            call.text("token_id"),
            TokenLimits.of(TokenNarrowingJson.read(call.body()).limits()))
        .map(TokenView::toJson);
  }

  private Future<ApiTokenRevocationJson> revoke(Call call) {
    String tokenId = call.text("token_id");
    return tokens
        .revoke(call.actor(), call.text("org"), tokenId)
        .map(at -> new ApiTokenRevocationJson(tokenId, at));
  }
}
