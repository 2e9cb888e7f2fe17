package dev.bourse.org;

import dev.bourse.access.Principal;
import dev.bourse.audit.TrailEntry;
import dev.bourse.audit.TrailQuery;
import dev.bourse.audit.TrailText;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.org.OrgTrailJson;
import dev.bourse.schemas.org.TokenListJson;
import dev.bourse.schemas.org.TokenRevocationJson;
import dev.bourse.schemas.org.TokenTrailJson;
import dev.bourse.schemas.org.WhoamiJson;
import io.vertx.core.Future;
import java.util.Optional;

/** The organization contract's operations. */
public final class OrgRoutes {
  private final OrgService service;
  private final WhoamiView whoami;

  public OrgRoutes(OrgService service, WhoamiView whoami) {
    this.service = service;
    this.whoami = whoami;
  }

  public void bind(Operations operations) {
    operations
        .ok("whoami", this::whoami)
        .ok("listMembers", call -> service.readRoster(orgId(call)).map(Roster::toJson))
        .ok("listTokens", this::listTokens)
        .ok("listTokenActivity", this::listTokenActivity)
        .ok("revokeOwnToken", this::revokeOwnToken)
        .bind("listOrgActivity", this::listOrgActivity)
        .bind("exportOrgActivityCsv", this::listOrgActivity)
        .bind("exportOrgActivityNdjson", this::listOrgActivity);
  }

  private Future<WhoamiJson> whoami(Call call) {
    Principal caller = call.principal();
    return service
        .listClusters(caller)
        .compose(
            clusters ->
                service.readLimits(caller).map(limits -> whoami.toJson(caller, clusters, limits)));
  }

  private Future<TokenListJson> listTokens(Call call) {
    return service
        .listTokens(orgId(call))
        .map(tokens -> new TokenListJson(tokens.stream().map(TokenView::toJson).toList()));
  }

  private Future<TokenTrailJson> listTokenActivity(Call call) {
    return service
        .listTokenActivity(call.principal(), call.text("token_id"), query(call))
        .map(
            page ->
                new TokenTrailJson(
                    page.items().stream().map(TrailEntry::toJson).toList(), page.more()));
  }

  private Future<TokenRevocationJson> revokeOwnToken(Call call) {
    Principal caller = call.principal();
    return service
        .revokeOwnToken(caller)
        .map(at -> new TokenRevocationJson(true, caller.tokenId(), at));
  }

  private Future<Answer> listOrgActivity(Call call) {
    TrailQuery query = query(call);
    Optional<TrailText> form = TrailText.of(call.mediaType());
    if (form.isPresent()) {
      return Future.succeededFuture(
          new Answer.Streamed(service.exportActivity(orgId(call), form.get(), query)::next));
    }
    return service
        .listActivity(orgId(call), query)
        .map(
            page ->
                Answer.ok(
                    new OrgTrailJson(
                        orgId(call),
                        page.items().stream().map(TrailEntry::toJson).toList(),
                        page.more())));
  }

  private static TrailQuery query(Call call) {
    return TrailQuery.of(call.text("reads"), call.findInteger("limit"), call.findInteger("before"));
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }
}
