package dev.bourse.operator;

import dev.bourse.core.Page;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.Member;
import dev.bourse.org.RosterService;
import dev.bourse.schemas.operator.MemberAdditionJson;
import dev.bourse.schemas.operator.MemberChangeJson;
import dev.bourse.schemas.operator.RosterMemberJson;
import dev.bourse.schemas.operator.RosterPageJson;
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
            call ->
                roster
                    .list(call.text("org"), call.limit(), call.findText("after"))
                    .map(MemberAdminRoutes::toJson))
        .created("addMember", call -> add(call).map(MemberAdminRoutes::toJson))
        .ok("updateMember", call -> update(call).map(MemberAdminRoutes::toJson))
        .ok("removeMember", this::remove, Function.identity());
  }

  private Future<Member> add(Call call) {
    MemberAdditionJson sent = MemberAdditionJson.read(call.body());
    return roster.add(call.actor(), call.text("org"), sent.username(), sent.email(), sent.name());
  }

  private Future<Member> update(Call call) {
    MemberChangeJson sent = MemberChangeJson.read(call.body());
    return roster.update(
        call.actor(),
        call.text("org"),
        call.text("username"),
        Optional.ofNullable(sent.suspended()),
        Optional.ofNullable(sent.email()),
        Optional.ofNullable(sent.name()));
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

  static RosterPageJson toJson(Page<Member> page) {
    return new RosterPageJson(
        page.items().stream().map(MemberAdminRoutes::toJson).toList(),
        page.more(),
        page.next(Member::username));
  }

  static RosterMemberJson toJson(Member member) {
    return new RosterMemberJson(
        member.username(),
        member.email(),
        member.name(),
        member.createdAtMillis(),
        member.lastLoginAtMillis(),
        member.suspendedAtMillis());
  }
}
