package dev.bourse.operator;

import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.JoinRule;
import dev.bourse.org.JoinRuleService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

/** The operator contract's operations on join rules and invitations. */
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
            CommonFields.page("rules", "rule_id", RuleAdminRoutes::json))
        .created("addJoinRule", this::add, RuleAdminRoutes::json)
        .ok("removeJoinRule", this::remove, ruleId -> new JsonObject().put("rule_id", ruleId))
        .bind("inviteMember", this::invite);
  }

  private Future<JoinRule> add(Call call) {
    JsonObject body = call.body();
    return rules.add(
        call.actor(),
        call.text("org"),
        JoinRule.Kind.of(body.getString("kind")),
        body.getString("value"));
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
                    ? Answer.created(json(invited.rule()))
                    : Answer.ok(json(invited.rule())));
  }

  private static JsonObject json(JoinRule rule) {
    return new JsonObject()
        .put("rule_id", rule.ruleId())
        .put("kind", rule.kind().label())
        .put("value", rule.value())
        .put("created_at", Times.rfc3339(rule.createdAtMillis()))
        .put("created_by", rule.createdBy())
        .put("link_expires_at", Times.rfc3339OrNull(rule.linkExpiresAtMillis()));
  }
}
