package dev.bourse.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Members, invitations and join rules, managed by members. */
@ReplayedOnPostgres
class ConsolePeopleApiTest extends ConsoleApiFixture {
  private static final String MEMBERS = "/api/console/members";
  private static final String INVITATIONS = "/api/console/invitations";
  private static final String SETTINGS = "/api/console/settings";
  private static final String RULES = "/api/console/join-rules";

  private static JsonObject email(String address) {
    return new JsonObject().put("email", address);
  }

  private static JsonObject rule(String kind, String value) {
    return new JsonObject().put("kind", kind).put("value", value);
  }

  private static JsonObject key(String name) {
    return new JsonObject().put("name", name).put("public_key", RunningBourse.keyLine());
  }

  private static List<String> each(JsonObject answer, String list, String field) {
    return answer.getJsonArray(list).stream()
        .map(item -> ((JsonObject) item).getString(field))
        .toList();
  }

  private static String mint(ApiClient caller, String name) {
    return caller
        .post(
            "/api/console/tokens",
            new JsonObject().put("name", name).put("scopes", new JsonArray()))
        .json()
        .getString("token");
  }

  @Test
  void membersAreListedWithWhatGoesWhenTheyGo() {
    String org = organization("alice", "bob", "carol");
    ApiClient alice = bourse.inSession(org, "alice");
    mint(alice, "one");
    mint(alice, "two");
    suspend(org, "carol");
    JsonObject first = alice.get(MEMBERS + "?limit=2").ok();
    assertEquals(List.of("alice", "bob"), each(first, "members", "username"));
    assertEquals(true, first.getBoolean("more"));
    JsonObject me = first.getJsonArray("members").getJsonObject(0);
    assertEquals("alice@" + org + ".example", me.getString("email"));
    assertEquals(2, me.getInteger("live_tokens"));
    assertEquals(false, me.getBoolean("suspended"));
    JsonObject rest = alice.get(MEMBERS + "?after=" + first.getString("next")).ok();
    assertEquals(List.of("carol"), each(rest, "members", "username"));
    assertEquals(true, rest.getJsonArray("members").getJsonObject(0).getBoolean("suspended"));
    assertEquals(null, rest.getString("next"));
  }

  @Test
  void anOrganizationMayDemandTheWriteScopeForSshKeys() {
    String org = organization("alice");
    ApiClient alice = bourse.inSession(org, "alice");
    ApiClient bare = bourse.with(mint(alice, "bare"));
    String keys = "/api/vm/orgs/" + org + "/ssh-keys";
    JsonObject key = new JsonObject().put("name", "k").put("public_key", RunningBourse.keyLine());
    // The default: any token writes keys.
    assertEquals(false, alice.get(SETTINGS).ok().getBoolean("ssh_keys_need_write"));
    assertEquals(false, bare.get("/api/whoami").ok().getBoolean("ssh_keys_need_write"));
    String keyId = bare.post(keys, key).json().getString("key_id");

    JsonObject demand = new JsonObject().put("ssh_keys_need_write", true);
    assertEquals(demand, alice.put(SETTINGS, demand).ok());
    JsonObject refused = bare.delete(keys + '/' + keyId).refused(ErrorCode.FORBIDDEN);
    assertTrue(refused.getString("detail").contains("capacity:write"), refused.encode());
    bare.post(keys, key.put("public_key", RunningBourse.keyLine())).refused(ErrorCode.FORBIDDEN);
    assertEquals(1, bare.get(keys).ok().getJsonArray("keys").size());
    assertEquals(true, bare.get("/api/whoami").ok().getBoolean("ssh_keys_need_write"));
    assertEquals(true, alice.get("/api/whoami").ok().getBoolean("ssh_keys_need_write"));
    // Members in person and tokens with the scope are unaffected.
    assertEquals(201, alice.post(keys, key).status());
    ApiClient writer =
        bourse.with(
            alice
                .post(
                    "/api/console/tokens",
                    new JsonObject()
                        .put("name", "w")
                        .put("scopes", new JsonArray().add("capacity:write")))
                .json()
                .getString("token"));
    writer.delete(keys + '/' + keyId).ok();
    assertEquals(
        List.of("member:alice org_settings_set ssh_keys_need_write=true"),
        trail(org, "org_settings_set"));
    // An organization's token cannot change the setting.
    writer.put(SETTINGS, demand).refused(ErrorCode.UNAUTHORIZED);
    application(org, "alice", Scope.ORG_READ).put(SETTINGS, demand).refused(ErrorCode.FORBIDDEN);
  }

  @Test
  void aRemovedMembersTokensAndSessionsEndWithThem() {
    String org = organization("alice", "bob");
    ApiClient bob = bourse.inSession(org, "bob");
    String token = mint(bob, "job");
    String tokenId = token.split("_", -1)[1];
    String keys = "/api/vm/orgs/" + org + "/ssh-keys";
    assertEquals(201, bourse.with(token).post(keys, key("bob laptop")).status());
    String erin = "erin@" + org + ".partner.example";
    assertEquals(201, bob.post(INVITATIONS, email(erin)).status());
    String link = new Browser(bourse).link(erin, 0);
    ApiClient alice = bourse.inSession(org, "alice");

    JsonObject preview = alice.get(MEMBERS + "/bob/removal").ok();
    assertEquals(List.of(tokenId), each(preview, "tokens", "token_id"));
    assertEquals(List.of("bob laptop"), each(preview, "ssh_keys", "name"));
    assertEquals(0, preview.getInteger("ssh_keys_left"));
    assertEquals(1, preview.getInteger("sessions"));
    assertEquals(List.of(erin), preview.getJsonArray("invitations").getList());
    alice.get(MEMBERS + "/nobody/removal").refused(ErrorCode.NOT_FOUND);

    JsonObject gone = alice.delete(MEMBERS + "/bob").ok();
    assertEquals(List.of(tokenId), gone.getJsonArray("revoked_tokens").getList());
    assertEquals(preview.getJsonArray("ssh_keys"), gone.getJsonArray("ssh_keys"));
    assertEquals(List.of(), alice.get(keys).ok().getJsonArray("keys").getList());
    assertEquals(410, new Browser(bourse).get(link).statusCode());
    bourse.with(token).get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
    bob.get(MEMBERS).refused(ErrorCode.UNAUTHORIZED);
    assertEquals(List.of("member:alice member_remove username=bob"), trail(org, "member_remove"));
    assertEquals(
        List.of("system:offboard vm_token_revoke token_id=" + tokenId + " name=job"),
        trail(org, "vm_token_revoke"));
    alice.delete(MEMBERS + "/bob").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void theLastMemberWhoMaySignInCannotGo() {
    String org = organization("alice", "bob");
    suspend(org, "bob");
    ApiClient alice = bourse.inSession(org, "alice");
    JsonObject refusal = alice.delete(MEMBERS + "/alice").refused(ErrorCode.CONFLICT);
    assertEquals("last", refusal.getString("reason"));
    assertEquals(List.of(), trail(org, "member_remove"));
    alice.delete(MEMBERS + "/bob").ok();
    alice.delete(MEMBERS + "/alice").refused(ErrorCode.CONFLICT);
  }

  @Test
  void oneMayRemoveOneself() {
    String org = organization("alice", "bob");
    ApiClient bob = bourse.inSession(org, "bob");
    bob.delete(MEMBERS + "/bob").ok();
    bob.get(MEMBERS).refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void anInvitationIsMailedListedResentAndTakenUp() {
    String org = organization("alice");
    ApiClient alice = bourse.inSession(org, "alice");
    String erin = "erin@" + org + ".partner.example";
    Browser browser = new Browser(bourse);
    HttpAnswer sent = alice.post(INVITATIONS, email("ERIN@" + org + ".partner.example"));
    assertEquals(201, sent.status());
    browser.link(erin, 0);
    JsonObject listed = alice.get(INVITATIONS).ok();
    assertEquals(new JsonArray().add(sent.json()), listed.getJsonArray("invitations"));
    assertEquals("member:alice", sent.json().getString("created_by"));
    assertEquals(200, alice.post(INVITATIONS, email(erin)).status());
    String id = sent.json().getString("rule_id");
    JsonObject resent = alice.send("POST", INVITATIONS + "/" + id + "/resend", null).ok();
    assertNotEquals(null, resent.getString("link_expires_at"));
    browser.follow(browser.link(erin, 2));
    assertTrue(browser.isSignedIn());
    assertEquals(List.of(), each(alice.get(INVITATIONS).ok(), "invitations", "email"));
    alice.send("POST", INVITATIONS + "/" + id + "/resend", null).refused(ErrorCode.NOT_FOUND);
    JsonObject member = alice.post(INVITATIONS, email(erin)).refused(ErrorCode.CONFLICT);
    assertEquals("exists", member.getString("reason"));
    assertEquals(3, trail(org, "member_invite").size());
  }

  @Test
  void nobodyIsSentAnInvitationOverAndOver() {
    String org = organization("alice");
    ApiClient alice = bourse.inSession(org, "alice");
    String frank = "frank@" + org + ".example";
    String id = alice.post(INVITATIONS, email(frank)).json().getString("rule_id");
    for (int i = 0; i < 4; i++) {
      alice.send("POST", INVITATIONS + "/" + id + "/resend", null).ok();
    }
    JsonObject refusal =
        alice
            .send("POST", INVITATIONS + "/" + id + "/resend", null)
            .refused(ErrorCode.RATE_LIMITED);
    assertEquals("attempts", refusal.getString("reason"));
    alice.post(INVITATIONS, email(frank)).refused(ErrorCode.RATE_LIMITED);
    assertEquals(201, alice.post(INVITATIONS, email("gail@" + org + ".example")).status());
    assertEquals(6, trail(org, "member_invite").size());
  }

  @Test
  void theLinkOfAWithdrawnInvitationWorksNoMore() {
    String org = organization("alice");
    ApiClient alice = bourse.inSession(org, "alice");
    // A rule of the domain would admit the address, but not by that link.
    proven(alice, org + ".example");
    String frank = "frank@" + org + ".example";
    String id = alice.post(INVITATIONS, email(frank)).json().getString("rule_id");
    Browser browser = new Browser(bourse);
    String link = browser.link(frank, 0);
    assertEquals(200, browser.get(link).statusCode());
    alice.delete(INVITATIONS + "/" + id).ok();
    assertEquals(410, browser.get(link).statusCode());
    assertEquals(List.of(), each(alice.get(INVITATIONS).ok(), "invitations", "email"));
    assertEquals(
        List.of("member:alice invitation_withdraw rule_id=" + id + " email=" + frank),
        trail(org, "invitation_withdraw"));
    alice.delete(INVITATIONS + "/" + id).refused(ErrorCode.NOT_FOUND);
  }

  private static HttpAnswer verify(ApiClient member, String ruleId) {
    return member.send("POST", RULES + "/" + ruleId + "/verify", null);
  }

  private static void publish(JsonObject rule) {
    JsonObject record = rule.getJsonObject("dns_record");
    dns.publish(record.getString("name"), record.getString("value"));
  }

  /** Adds the rule of a domain and has it proven. */
  private static JsonObject proven(ApiClient member, String domain) {
    JsonObject rule = member.post(RULES, rule("domain", domain)).json();
    publish(rule);
    return verify(member, rule.getString("rule_id")).ok();
  }

  @Test
  void aDomainAdmitsNobodyUntilItIsProven() {
    String org = organization("alice");
    ApiClient alice = bourse.inSession(org, "alice");
    String domain = "proven-" + org + ".example";
    JsonObject rule = alice.post(RULES, rule("domain", domain)).json();
    String id = rule.getString("rule_id");
    assertEquals("pending", rule.getString("state"));
    Browser stranger = new Browser(bourse);
    stranger.post(
        "/sign-in",
        Map.of(
            "csrf",
            Browser.field(stranger.get("/sign-in"), "csrf"),
            "email",
            "sam@" + domain,
            "return_to",
            ""));
    JsonObject unproven = verify(alice, id).refused(ErrorCode.CONFLICT);
    assertEquals("unproven", unproven.getString("reason"));
    assertTrue(
        unproven
            .getString("detail")
            .contains(
                "_bourse-challenge." + domain + " with the value bourse-domain-verification="),
        unproven.encode());
    publish(rule);
    JsonObject active = verify(alice, id).ok();
    assertEquals("active", active.getString("state"));
    assertEquals("member:alice", active.getString("proven_by"));
    assertEquals(active, verify(alice, id).ok(), "proven once");
    assertEquals(1, trail(org, "rule_verify").size());
    assertTrue(new Browser(bourse).signedIn("sam@" + domain).isSignedIn());
    assertEquals(1, stranger.mails("sam@" + domain).size(), "none while the rule was pending");
    verify(alice, "jr_unknown").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aDomainHasOneOwnerAtATimeAndAnOperatorDecides() {
    String first = organization("alice");
    String second = organization("bob");
    ApiClient alice = bourse.inSession(first, "alice");
    ApiClient bob = bourse.inSession(second, "bob");
    String domain = "one-owner.example";
    proven(alice, domain);
    JsonObject claim = bob.post(RULES, rule("domain", domain)).json();
    String approve = path(second) + "/rules/" + claim.getString("rule_id") + "/approve";
    publish(claim);
    JsonObject owned = verify(bob, claim.getString("rule_id")).refused(ErrorCode.CONFLICT);
    assertEquals("owned", owned.getString("reason"));
    assertFalse(owned.encode().contains(first), "it is not told who owns it");
    assertEquals(
        "owned",
        operator.send("POST", approve, null).refused(ErrorCode.CONFLICT).getString("reason"));
    operator.delete(path(first)).ok();
    JsonObject approved = operator.send("POST", approve, null).ok();
    assertEquals("active", approved.getString("state"));
    assertEquals("operator:first", approved.getString("proven_by"));
    assertEquals(1, trail(second, "rule_approve").size());
    JsonObject third =
        operator
            .post(path(organization()) + "/rules", rule("domain", domain))
            .refused(ErrorCode.CONFLICT);
    assertEquals("owned", third.getString("reason"));
  }

  @Test
  void theDomainsOfAMemberWhoLeavesArePendingAgain() {
    String org = organization("alice", "bob");
    ApiClient alice = bourse.inSession(org, "alice");
    ApiClient bob = bourse.inSession(org, "bob");
    String own = "bob-private-" + org + ".example";
    JsonObject rule = proven(bob, own);
    proven(alice, "kept-" + org + ".example");
    JsonObject preview = alice.get(MEMBERS + "/bob/removal").ok();
    assertEquals(List.of(own), preview.getJsonArray("domains").getList());
    alice.delete(MEMBERS + "/bob").ok();
    assertEquals(List.of("pending", "active"), each(alice.get(RULES).ok(), "rules", "state"));
    assertEquals(
        List.of(
            "system:offboard rule_suspend rule_id=" + rule.getString("rule_id") + " value=" + own),
        trail(org, "rule_suspend"));
  }

  @Test
  void aPublicSuffixAndAMailProviderAreNoOrganizationsDomain() {
    String org = organization("alice");
    ApiClient alice = bourse.inSession(org, "alice");
    for (String domain : List.of("co.uk", "gmail.com")) {
      JsonObject refusal = alice.post(RULES, rule("domain", domain)).refused(ErrorCode.BAD_REQUEST);
      assertTrue(refusal.getString("detail").contains("value: " + domain), refusal.encode());
      operator.post(path(org) + "/rules", rule("domain", domain)).refused(ErrorCode.BAD_REQUEST);
    }
    assertEquals(List.of(), each(alice.get(RULES).ok(), "rules", "value"));
  }

  @Test
  void aRuleIsAddedListedAndRemovedButNotAsAnInvitation() {
    String org = organization("alice");
    ApiClient alice = bourse.inSession(org, "alice");
    HttpAnswer added = alice.post(RULES, rule("domain", "Lab." + org + ".Example"));
    assertEquals(201, added.status());
    assertEquals("lab." + org + ".example", added.json().getString("value"));
    String id = added.json().getString("rule_id");
    assertEquals(List.of(id), each(alice.get(RULES).ok(), "rules", "rule_id"));
    alice.delete(INVITATIONS + "/" + id).refused(ErrorCode.NOT_FOUND);
    JsonObject twice =
        alice
            .post(RULES, rule("domain", added.json().getString("value")))
            .refused(ErrorCode.CONFLICT);
    assertEquals("exists", twice.getString("reason"));
    JsonObject bad = alice.post(RULES, rule("domain", "nonsense")).refused(ErrorCode.BAD_REQUEST);
    assertTrue(bad.getString("detail").contains("value: nonsense"), bad.encode());
    alice.delete(RULES + "/" + id).ok();
    assertEquals(List.of(), each(alice.get(RULES).ok(), "rules", "rule_id"));
    assertEquals(1, trail(org, "rule_add").size());
    assertEquals(1, trail(org, "rule_remove").size());
  }

  @Test
  void aPreviewTellsOfMembersInvitationsAndThoseRemoved() {
    String org = organization("alice", "bob", "carol");
    ApiClient alice = bourse.inSession(org, "alice");
    alice.delete(MEMBERS + "/carol").ok();
    alice.post(INVITATIONS, email("dan@" + org + ".example"));
    alice.post(INVITATIONS, email("eve@sub." + org + ".example"));
    String preview = "/api/console/rule-preview?kind=";
    JsonObject domain = alice.get(preview + "domain&value=" + org + ".EXAMPLE").ok();
    assertEquals(org + ".example", domain.getString("value"));
    assertEquals(List.of("alice", "bob"), each(domain, "members", "username"));
    assertEquals(2, domain.getInteger("member_count"));
    assertEquals(List.of("dan@" + org + ".example"), domain.getJsonArray("invited").getList());
    assertEquals(1, domain.getInteger("removed_count"));
    assertEquals(false, domain.getBoolean("exists"));
    JsonObject address = alice.get(preview + "email&value=bob@" + org + ".example").ok();
    assertEquals(List.of("bob"), each(address, "members", "username"));
    alice.get(preview + "domain&value=.example").refused(ErrorCode.BAD_REQUEST);
    assertEquals(List.of(), trail(org, "rule_add"));
  }

  @Test
  void anApplicationNeedsTheScopeAndActsAsItsMember() {
    String org = organization("alice", "bob");
    ApiClient reader = application(org, "bob", Scope.ORG_READ);
    reader.get(MEMBERS).ok();
    JsonObject refusal = reader.delete(MEMBERS + "/alice").refused(ErrorCode.FORBIDDEN);
    assertTrue(refusal.getString("detail").contains("org:write"), refusal.encode());
    ApiClient writer = application(org, "bob", Scope.ORG_WRITE);
    writer.get(MEMBERS).refused(ErrorCode.FORBIDDEN);
    assertEquals(201, writer.post(RULES, rule("domain", org + ".example")).status());
    assertTrue(trail(org, "rule_add").get(0).startsWith("member:bob rule_add"));
  }
}
