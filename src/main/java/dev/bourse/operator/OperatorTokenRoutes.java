package dev.bourse.operator;

import dev.bourse.access.OperatorReach;
import dev.bourse.access.OperatorToken;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.OperatorTokenView;
import dev.bourse.core.Page;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.schemas.common.ApiTokenRevocationJson;
import dev.bourse.schemas.operator.MintedOperatorTokenJson;
import dev.bourse.schemas.operator.OperatorMintJson;
import dev.bourse.schemas.operator.OperatorTokenJson;
import dev.bourse.schemas.operator.OperatorTokenPageJson;
import io.vertx.core.Future;
import java.time.Clock;

/** Operations of the operator contract on operators' tokens. */
public final class OperatorTokenRoutes {
  private final OperatorTokenService tokens;
  private final Clock clock;

  public OperatorTokenRoutes(OperatorTokenService tokens, Clock clock) {
    this.tokens = tokens;
    this.clock = clock;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listOperators",
            call ->
                tokens.list(call.limit(), call.findText("after")).map(OperatorTokenRoutes::toJson))
        .created("mintOperator", call -> mint(call).map(OperatorTokenRoutes::toJson))
        .ok("revokeOperator", this::revoke);
  }

  private Future<OperatorTokenService.Minted> mint(Call call) {
    OperatorMintJson sent = OperatorMintJson.read(call.body());
    return tokens.mint(
        call.actor(),
        sent.name(),
        new OperatorReach(sent.readOnly(), sent.site()),
        CommonFields.expiry(sent.expiresAt(), clock.millis()));
  }

  private Future<ApiTokenRevocationJson> revoke(Call call) {
    String tokenId = call.text("token_id");
    return tokens.revoke(call.actor(), tokenId).map(at -> new ApiTokenRevocationJson(tokenId, at));
  }

  static MintedOperatorTokenJson toJson(OperatorTokenService.Minted minted) {
    OperatorToken token = minted.token();
    return new MintedOperatorTokenJson(
        token.tokenId(),
        token.name(),
        token.reach().isReadOnly(),
        token.reach().site(),
        token.createdBy(),
        token.createdAtMillis(),
        token.expiresAtMillis(),
        null,
        minted.secret().text());
  }

  static OperatorTokenPageJson toJson(Page<OperatorTokenView> page) {
    return new OperatorTokenPageJson(
        page.items().stream().map(OperatorTokenRoutes::toJson).toList(),
        page.more(),
        page.next(OperatorTokenView::tokenId));
  }

  static OperatorTokenJson toJson(OperatorTokenView token) {
    return new OperatorTokenJson(
        token.tokenId(),
        token.name(),
        token.reach().isReadOnly(),
        token.reach().site(),
        token.createdBy(),
        token.createdAtMillis(),
        token.expiresAtMillis(),
        token.revokedAtMillis());
  }
}
