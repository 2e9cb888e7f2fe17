package dev.bourse.console;

import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.JoinRule;
import dev.bourse.org.JoinRuleService;
import dev.bourse.org.Member;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.Function;

/** The console contract's operations on invitations and join rules. */
public final class JoinRuleRoutes {
  private final JoinRuleService rules;

  public JoinRuleRoutes(JoinRuleService rules) {
    this.rules = rules;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listInvitations",
            call -> rules.listInvitations(orgId(call)),
            JoinRuleRoutes::invitations)
        .bind("sendInvitation", this::send)
        .ok("resendInvitation", this::resend, JoinRuleRoutes::invitation)
        .ok("withdrawInvitation", this::withdraw, JoinRuleRoutes::gone)
        .ok("listConsoleRules", call -> rules.listAll(orgId(call)), JoinRuleRoutes::rules)
        .created("addConsoleRule", this::add, JoinRule::json)
        .ok("verifyConsoleRule", this::verify, JoinRule::json)
        .ok("removeConsoleRule", this::remove, JoinRuleRoutes::gone)
        .ok("previewConsoleRule", this::preview, JoinRuleRoutes::preview);
  }

  private Future<Answer> send(Call call) {
    return rules
        .invite(actor(call), orgId(call), call.body().getString("email"))
        .map(
            invited ->
                invited.isNew()
                    ? Answer.created(invitation(invited.rule()))
                    : Answer.ok(invitation(invited.rule())));
  }

  private Future<JoinRule> resend(Call call) {
    return rules.resend(actor(call), orgId(call), call.text("rule_id"));
  }

  private Future<String> withdraw(Call call) {
    String ruleId = call.text("rule_id");
    return rules.withdraw(actor(call), orgId(call), ruleId).map(ruleId);
  }

  private Future<JoinRule> add(Call call) {
    JsonObject body = call.body();
    return rules.add(
        actor(call),
        orgId(call),
        JoinRule.Kind.of(body.getString("kind")),
        body.getString("value"));
  }

  private Future<JoinRule> verify(Call call) {
    return rules.verify(actor(call), orgId(call), call.text("rule_id"));
  }

  private Future<String> remove(Call call) {
    String ruleId = call.text("rule_id");
    return rules.remove(actor(call), orgId(call), ruleId).map(ruleId);
  }

  private Future<JoinRuleService.Preview> preview(Call call) {
    return rules.preview(orgId(call), JoinRule.Kind.of(call.text("kind")), call.text("value"));
  }

  private static String actor(Call call) {
    return call.principal().actor();
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }

  private static JsonObject invitations(List<JoinRule> found) {
    return list("invitations", found, JoinRuleRoutes::invitation);
  }

  private static JsonObject rules(List<JoinRule> found) {
    return list("rules", found, JoinRule::json);
  }

  private static <T> JsonObject list(String plural, List<T> items, Function<T, JsonObject> item) {
    return new JsonObject().put(plural, new JsonArray(items.stream().map(item).toList()));
  }

  private static JsonObject invitation(JoinRule rule) {
    return new JsonObject()
        .put("rule_id", rule.ruleId())
        .put("email", rule.value())
        .put("created_at", Times.rfc3339(rule.createdAtMillis()))
        .put("created_by", rule.createdBy())
        .put("link_expires_at", Times.rfc3339OrNull(rule.linkExpiresAtMillis()));
  }

  private static JsonObject gone(String ruleId) {
    return new JsonObject().put("rule_id", ruleId);
  }

  private static JsonObject preview(JoinRuleService.Preview preview) {
    return list("members", preview.members(), JoinRuleRoutes::member)
        .put("kind", preview.kind().label())
        .put("value", preview.value())
        .put("exists", preview.isThere())
        .put("member_count", preview.memberCount())
        .put("invited", new JsonArray(preview.invited()))
        .put("removed_count", preview.removedCount());
  }

  private static JsonObject member(Member member) {
    return new JsonObject()
        .put("username", member.username())
        .put("email", member.email())
        .put("name", member.name());
  }
}
