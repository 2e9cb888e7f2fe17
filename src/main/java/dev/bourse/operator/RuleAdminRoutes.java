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
        .bind("listJoinRules", this::list)
        .bind("addJoinRule", this::add)
        .bind("removeJoinRule", this::remove)
        .bind("inviteMember", this::invite);
  }

  private Future<Answer> list(Call call) {
    return rules
        .list(call.text("org"), call.limit(), call.findText("after"))
        .map(page -> Answer.ok(CommonFields.page("rules", page, "rule_id", RuleAdminRoutes::json)));
  }

  private Future<Answer> add(Call call) {
    JsonObject body = call.body();
    return rules
        .add(
            call.operator().actor(),
            call.text("org"),
            JoinRule.Kind.of(body.getString("kind")),
            body.getString("value"))
        .map(rule -> Answer.created(json(rule)));
  }

  private Future<Answer> remove(Call call) {
    String ruleId = call.text("rule_id");
    return rules
        .remove(call.operator().actor(), call.text("org"), ruleId)
        .map(removed -> Answer.ok(new JsonObject().put("rule_id", ruleId)));
  }

  private Future<Answer> invite(Call call) {
    return rules
        .invite(call.operator().actor(), call.text("org"), call.body().getString("email"))
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
