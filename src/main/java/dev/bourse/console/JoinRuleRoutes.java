package dev.bourse.console;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.JoinRule;
import dev.bourse.org.JoinRuleService;
import dev.bourse.schemas.common.RuleRemovalJson;
import dev.bourse.schemas.console.AdmittedMemberJson;
import dev.bourse.schemas.console.InvitationListJson;
import dev.bourse.schemas.console.InvitationOrderJson;
import dev.bourse.schemas.console.OpenInvitationJson;
import dev.bourse.schemas.console.RuleListJson;
import dev.bourse.schemas.console.RuleOrderJson;
import dev.bourse.schemas.console.RulePreviewJson;
import io.vertx.core.Future;
import java.util.List;

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
            call -> rules.listInvitations(orgId(call)).map(JoinRuleRoutes::invitations))
        .bind("sendInvitation", this::send)
        .ok("resendInvitation", call -> resend(call).map(JoinRuleRoutes::invitation))
        .ok("withdrawInvitation", this::withdraw)
        .ok("listConsoleRules", call -> rules.listAll(orgId(call)).map(JoinRuleRoutes::rules))
        .created("addConsoleRule", call -> add(call).map(JoinRule::toJson))
        .ok("verifyConsoleRule", call -> verify(call).map(JoinRule::toJson))
        .ok("removeConsoleRule", this::remove)
        .ok("previewConsoleRule", call -> preview(call).map(JoinRuleRoutes::toJson));
  }

  private Future<Answer> send(Call call) {
    return rules
        .invite(actor(call), orgId(call), InvitationOrderJson.read(call.body()).email())
        .map(
            invited ->
                invited.isNew()
                    ? Answer.created(invitation(invited.rule()))
                    : Answer.ok(invitation(invited.rule())));
  }

  private Future<JoinRule> resend(Call call) {
    return rules.resend(actor(call), orgId(call), call.text("rule_id"));
  }

  private Future<RuleRemovalJson> withdraw(Call call) {
    String ruleId = call.text("rule_id");
    return rules.withdraw(actor(call), orgId(call), ruleId).map(new RuleRemovalJson(ruleId));
  }

  private Future<JoinRule> add(Call call) {
    RuleOrderJson sent = RuleOrderJson.read(call.body());
    return rules.add(actor(call), orgId(call), JoinRule.Kind.of(sent.kind()), sent.value());
  }

  private Future<JoinRule> verify(Call call) {
    return rules.verify(actor(call), orgId(call), call.text("rule_id"));
  }

  private Future<RuleRemovalJson> remove(Call call) {
    String ruleId = call.text("rule_id");
    return rules.remove(actor(call), orgId(call), ruleId).map(new RuleRemovalJson(ruleId));
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

  static InvitationListJson invitations(List<JoinRule> found) {
    return new InvitationListJson(found.stream().map(JoinRuleRoutes::invitation).toList());
  }

  private static RuleListJson rules(List<JoinRule> found) {
    return new RuleListJson(found.stream().map(JoinRule::toJson).toList());
  }

  private static OpenInvitationJson invitation(JoinRule rule) {
    return new OpenInvitationJson(
        rule.ruleId(),
        rule.value(),
        rule.createdAtMillis(),
        rule.createdBy(),
        rule.linkExpiresAtMillis());
  }

  static RulePreviewJson toJson(JoinRuleService.Preview preview) {
    return new RulePreviewJson(
        preview.members().stream()
            .map(member -> new AdmittedMemberJson(member.username(), member.email(), member.name()))
            .toList(),
        preview.kind().label(),
        preview.value(),
        preview.isThere(),
        preview.memberCount(),
        preview.invited(),
        preview.removedCount());
  }
}
