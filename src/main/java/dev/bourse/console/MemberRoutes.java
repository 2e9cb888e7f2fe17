package dev.bourse.console;

import dev.bourse.core.Page;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.Colleague;
import dev.bourse.org.OrgService;
import dev.bourse.org.RosterService;
import dev.bourse.schemas.console.ColleagueJson;
import dev.bourse.schemas.console.ColleaguePageJson;
import dev.bourse.signin.ConnectedApplications;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.Function;

/** The console contract's operations on members. */
public final class MemberRoutes {
  private final OrgService org;
  private final RosterService roster;
  private final ConnectedApplications applications;

  public MemberRoutes(OrgService org, RosterService roster, ConnectedApplications applications) {
    this.org = org;
    this.roster = roster;
    this.applications = applications;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listConsoleMembers",
            call ->
                org.listColleagues(
                        call.principal().org().orgId(), call.limit(), call.findText("after"))
                    .map(MemberRoutes::toJson))
        .ok("previewConsoleRemoval", this::preview, Function.identity())
        .ok("removeConsoleMember", this::remove, Function.identity());
  }

  private Future<JsonObject> preview(Call call) {
    String orgId = call.principal().org().orgId();
    String username = call.text("username");
    Future<List<ConnectedApplications.Application>> allowed = applications.list(orgId, username);
    Future<List<String>> credentials = applications.listCredentials(orgId, username);
    return roster
        .previewRemoval(orgId, username)
        .compose(
            removal ->
                Future.all(allowed, credentials)
                    .map(read -> json(username, removal, allowed.result(), credentials.result())));
  }

  private static JsonObject json(
      String username,
      RosterService.Removal removal,
      List<ConnectedApplications.Application> allowed,
      List<String> credentials) {
    JsonArray tokens = new JsonArray();
    removal
        .tokens()
        .forEach(
            token ->
                tokens.add(
                    new JsonObject().put("token_id", token.tokenId()).put("name", token.name())));
    return new JsonObject()
        .put("username", username)
        .put("tokens", tokens)
        .put("sessions", removal.sessions())
        .put(
            "applications",
            new JsonArray(allowed.stream().map(ConnectedApplications.Application::name).toList()))
        .put("credentials", new JsonArray(credentials))
        .put("invitations", new JsonArray(removal.invitations()))
        .put("domains", new JsonArray(removal.domains()))
        .mergeIn(removal.things());
  }

  private Future<JsonObject> remove(Call call) {
    String username = call.text("username");
    return roster
        .removeByMember(call.principal().actor(), call.principal().org().orgId(), username)
        .map(
            removed ->
                new JsonObject()
                    .put("username", username)
                    .put("revoked_tokens", new JsonArray(removed.tokens()))
                    .mergeIn(removed.things()));
  }

  static ColleaguePageJson toJson(Page<Colleague> page) {
    return new ColleaguePageJson(
        page.items().stream().map(MemberRoutes::toJson).toList(),
        page.more(),
        page.next(Colleague::username));
  }

  static ColleagueJson toJson(Colleague member) {
    return new ColleagueJson(
        member.username(),
        member.email(),
        member.name(),
        member.suspended(),
        member.createdAtMillis(),
        member.lastLoginAtMillis(),
        member.liveTokens());
  }
}
