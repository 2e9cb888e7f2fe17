package dev.bourse.operator;

import dev.bourse.core.Page;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.JoinRule;
import dev.bourse.org.JoinRuleService;
import dev.bourse.schemas.common.RuleRemovalJson;
import dev.bourse.schemas.operator.JoinRuleAdditionJson;
import dev.bourse.schemas.operator.JoinRulePageJson;
import dev.bourse.schemas.operator.MemberInvitationJson;
import io.vertx.core.Future;

/** Operations of the operator contract on join rules and invitations. */
public final class RuleAdminRoutes {
  private final JoinRuleService rules;

  public RuleAdminRoutes(JoinRuleService rules) {
    this.rules = rules;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listJoinRules",
            call ->
                rules
                    .list(call.text("org"), call.limit(), call.findText("after"))
                    .map(RuleAdminRoutes::toJson))
        .created("addJoinRule", call -> add(call).map(JoinRule::toJson))
        .ok("approveJoinRule", call -> approve(call).map(JoinRule::toJson))
        .ok("removeJoinRule", this::remove)
        .bind("inviteMember", this::invite);
  }

  private Future<JoinRule> add(Call call) {
    JoinRuleAdditionJson sent = JoinRuleAdditionJson.read(call.body());
    return rules.addByOperator(
        call.actor(), call.text("org"), JoinRule.Kind.of(sent.kind()), sent.value());
  }

  private Future<JoinRule> approve(Call call) {
    return rules.approve(call.actor(), call.text("org"), call.text("rule_id"));
  }

  private Future<RuleRemovalJson> remove(Call call) {
    String ruleId = call.text("rule_id");
    return rules.remove(call.actor(), call.text("org"), ruleId).map(new RuleRemovalJson(ruleId));
  }

  private Future<Answer> invite(Call call) {
    return rules
        .invite(call.actor(), call.text("org"), MemberInvitationJson.read(call.body()).email())
        .map(
            invited ->
                invited.isNew()
                    ? Answer.created(invited.rule().toJson())
                    : Answer.ok(invited.rule().toJson()));
  }

  private static JoinRulePageJson toJson(Page<JoinRule> page) {
    return new JoinRulePageJson(
        page.items().stream().map(JoinRule::toJson).toList(),
        page.more(),
        page.next(JoinRule::ruleId));
  }
}
