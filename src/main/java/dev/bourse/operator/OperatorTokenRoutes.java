package dev.bourse.operator;

import dev.bourse.access.OperatorReach;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.OperatorTokenView;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.function.Function;

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
            call -> tokens.list(call.limit(), call.findText("after")),
            CommonFields.page("operators", "token_id", OperatorTokenRoutes::json))
        .created("mintOperator", this::mint, OperatorTokenRoutes::minted)
        .ok("revokeOperator", this::revoke, Function.identity());
  }

  private Future<OperatorTokenService.Minted> mint(Call call) {
    JsonObject body = call.body();
    return tokens.mint(
        call.actor(),
        body.getString("name"),
        new OperatorReach(body.getBoolean("read_only"), body.getString("site")),
        CommonFields.expiry(body.getString("expires_at"), clock.millis()));
  }

  private Future<JsonObject> revoke(Call call) {
    String tokenId = call.text("token_id");
    return tokens.revoke(call.actor(), tokenId).map(at -> CommonFields.revoked(tokenId, at));
  }

  private static JsonObject minted(OperatorTokenService.Minted minted) {
    return json(OperatorTokenView.of(minted.token())).put("token", minted.secret().text());
  }

  private static JsonObject json(OperatorTokenView token) {
    return new JsonObject()
        .put("token_id", token.tokenId())
        .put("name", token.name())
        .put("read_only", token.reach().isReadOnly())
        .put("site", token.reach().site())
        .put("created_by", token.createdBy())
        .put("created_at", Times.rfc3339(token.createdAtMillis()))
        .put("expires_at", Times.rfc3339OrNull(token.expiresAtMillis()))
        .put("revoked_at", Times.rfc3339OrNull(token.revokedAtMillis()));
  }
}
