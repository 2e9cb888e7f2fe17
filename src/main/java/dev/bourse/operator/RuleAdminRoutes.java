package dev.bourse.operator;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.org.JoinRule;
import dev.bourse.org.JoinRuleService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

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
            call -> rules.list(call.text("org"), call.limit(), call.findText("after")),
            CommonFields.page("rules", "rule_id", JoinRule::json))
        .created("addJoinRule", this::add, JoinRule::json)
        .ok("approveJoinRule", this::approve, JoinRule::json)
        .ok("removeJoinRule", this::remove, ruleId -> new JsonObject().put("rule_id", ruleId))
        .bind("inviteMember", this::invite);
  }

  private Future<JoinRule> add(Call call) {
    JsonObject body = call.body();
    return rules.addByOperator(
        call.actor(),
        call.text("org"),
        JoinRule.Kind.of(body.getString("kind")),
        body.getString("value"));
  }

  private Future<JoinRule> approve(Call call) {
    return rules.approve(call.actor(), call.text("org"), call.text("rule_id"));
  }

  private Future<String> remove(Call call) {
    String ruleId = call.text("rule_id");
    return rules.remove(call.actor(), call.text("org"), ruleId).map(ruleId);
  }

  private Future<Answer> invite(Call call) {
    return rules
        .invite(call.actor(), call.text("org"), call.body().getString("email"))
        .map(
            invited ->
                invited.isNew()
                    ? Answer.created(invited.rule().json())
                    : Answer.ok(invited.rule().json()));
  }
}
