package dev.bourse.org;

import dev.bourse.access.Principal;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.TrailQuery;
import dev.bourse.audit.TrailText;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
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
        .bind("whoami", this::whoami)
        .bind("listMembers", this::listMembers)
        .bind("listTokens", this::listTokens)
        .bind("listTokenActivity", this::listTokenActivity)
        .bind("revokeOwnToken", this::revokeOwnToken)
        .bind("listOrgActivity", this::listOrgActivity)
        .bind("exportOrgActivityCsv", this::listOrgActivity)
        .bind("exportOrgActivityNdjson", this::listOrgActivity);
  }

  private Future<Answer> whoami(Call call) {
    Principal caller = call.principal();
    return service
        .listClusters(caller)
        .compose(
            clusters ->
                service
                    .readLimits(caller)
                    .map(limits -> Answer.ok(whoami(caller, clusters, limits))));
  }

  private JsonObject whoami(
      Principal caller, List<AddressableCluster> clusters, TokenLimits limits) {
    JsonObject answer =
        whoami
            .json(caller, clusters, limits)
            .put("subject", caller.actor())
            .put("token_id", caller.member() == null ? caller.tokenId() : null)
            .put("cluster", caller.cluster());
    return caller.member() == null ? answer : answer.put("username", caller.member());
  }

  private Future<Answer> listMembers(Call call) {
    return service.readRoster(orgId(call)).map(roster -> Answer.ok(json(roster)));
  }

  private static JsonObject json(Roster roster) {
    JsonArray members = new JsonArray();
    for (Roster.ShownMember member : roster.members()) {
      members.add(
          new JsonObject()
              .put("username", member.username())
              .put("email", member.email())
              .put("name", member.name())
              .put("is_active", member.active())
              .put("last_login", Times.rfc3339OrNull(member.lastLoginAtMillis()))
              .put("role", "admin"));
    }
    JsonArray rules = new JsonArray();
    for (JoinRule rule : roster.rules()) {
      rules.add(
          new JsonObject()
              .put("id", rule.ruleId())
              .put("kind", rule.kind().label())
              .put("value", rule.value())
              .put("state", rule.state()));
    }
    JsonArray invited = new JsonArray();
    for (JoinRule rule : roster.invited()) {
      invited.add(
          new JsonObject()
              .put("id", rule.ruleId())
              .put("email", rule.value())
              .put("invited_at", Times.rfc3339(rule.createdAtMillis()))
              .put("invited_by", rule.createdBy())
              .put("link_expires_at", Times.rfc3339OrNull(rule.linkExpiresAtMillis())));
    }
    return new JsonObject().put("members", members).put("rules", rules).put("invited", invited);
  }

  private Future<Answer> listTokens(Call call) {
    return service
        .listTokens(orgId(call))
        .map(
            tokens -> {
              JsonArray list = new JsonArray();
              tokens.forEach(token -> list.add(token.json()));
              return Answer.ok(new JsonObject().put("tokens", list));
            });
  }

  private Future<Answer> listTokenActivity(Call call) {
    return service
        .listTokenActivity(call.principal(), call.text("token_id"), query(call))
        .map(page -> Answer.ok(TrailText.json(page)));
  }

  private Future<Answer> revokeOwnToken(Call call) {
    Principal caller = call.principal();
    return service
        .revokeOwnToken(caller)
        .map(
            at ->
                Answer.ok(
                    new JsonObject()
                        .put("ok", true)
                        .put("token_id", caller.tokenId())
                        .put("revoked_at", Times.rfc3339(at))));
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
                    new JsonObject().put("org_id", orgId(call)).mergeIn(TrailText.json(page))));
  }

  private static TrailQuery query(Call call) {
    return TrailQuery.of(call.text("reads"), call.findInteger("limit"), call.findInteger("before"));
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }
}
