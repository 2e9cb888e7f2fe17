package dev.bourse.operator;

import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.org.Member;
import dev.bourse.org.RosterService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.function.Function;

/** Operations of the operator contract on members. */
public final class MemberAdminRoutes {
  private final RosterService roster;

  public MemberAdminRoutes(RosterService roster) {
    this.roster = roster;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listOrgMembers",
            call -> roster.list(call.text("org"), call.limit(), call.findText("after")),
            CommonFields.page("members", "username", MemberAdminRoutes::json))
        .created("addMember", this::add, MemberAdminRoutes::json)
        .ok("updateMember", this::update, MemberAdminRoutes::json)
        .ok("removeMember", this::remove, Function.identity());
  }

  private Future<Member> add(Call call) {
    JsonObject body = call.body();
    return roster.add(
        call.actor(),
        call.text("org"),
        body.getString("username"),
        body.getString("email"),
        body.getString("name"));
  }

  private Future<Member> update(Call call) {
    JsonObject body = call.body();
    return roster.update(
        call.actor(),
        call.text("org"),
        call.text("username"),
        Optional.ofNullable(body.getBoolean("suspended")),
        Optional.ofNullable(body.getString("email")),
        Optional.ofNullable(body.getString("name")));
  }

  private Future<JsonObject> remove(Call call) {
    String username = call.text("username");
    return roster
        .remove(call.actor(), call.text("org"), username)
        .map(
            removed ->
                new JsonObject()
                    .put("username", username)
                    .put("revoked_tokens", new JsonArray(removed.tokens()))
                    .mergeIn(removed.things()));
  }

  private static JsonObject json(Member member) {
    return new JsonObject()
        .put("username", member.username())
        .put("email", member.email())
        .put("name", member.name())
        .put("created_at", Times.rfc3339(member.createdAtMillis()))
        .put("last_login_at", Times.rfc3339OrNull(member.lastLoginAtMillis()))
        .put("suspended_at", Times.rfc3339OrNull(member.suspendedAtMillis()));
  }
}
