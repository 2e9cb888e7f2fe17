package dev.bourse.console;

import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.org.Colleague;
import dev.bourse.org.OrgService;
import dev.bourse.org.RosterService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.function.Function;

/** The console contract's operations on members. */
public final class MemberRoutes {
  private final OrgService org;
  private final RosterService roster;

  public MemberRoutes(OrgService org, RosterService roster) {
    this.org = org;
    this.roster = roster;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listConsoleMembers",
            call ->
                org.listColleagues(
                    call.principal().org().orgId(), call.limit(), call.findText("after")),
            CommonFields.page("members", "username", MemberRoutes::json))
        .ok("removeConsoleMember", this::remove, Function.identity());
  }

  private Future<JsonObject> remove(Call call) {
    String username = call.text("username");
    return roster
        .removeByMember(call.principal().actor(), call.principal().org().orgId(), username)
        .map(
            revoked ->
                new JsonObject()
                    .put("username", username)
                    .put("revoked_tokens", new JsonArray(revoked)));
  }

  private static JsonObject json(Colleague member) {
    return new JsonObject()
        .put("username", member.username())
        .put("email", member.email())
        .put("name", member.name())
        .put("suspended", member.suspended())
        .put("created_at", Times.rfc3339(member.createdAtMillis()))
        .put("last_login_at", Times.rfc3339OrNull(member.lastLoginAtMillis()))
        .put("live_tokens", member.liveTokens());
  }
}
