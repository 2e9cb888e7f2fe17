package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Browser;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** People become members when they sign in: by an invitation or by a rule of their domain. */
@ReplayedOnPostgres
class JoiningApiTest extends SignInApiFixture {
  @Test
  void invitationsAreMailedAndWorkForThreeDays() {
    String orgId = organization();
    String email = "kim.lee+gpu@elsewhere.example";
    Browser kim = browser();
    int before = kim.mails(email).size();
    invite(orgId, email);
    String link = kim.link(email, before);
    assertEquals(
        List.of(3L * 24 * 3_600 * 1_000),
        RunningBourse.await(
            bourse
                .database()
                .read(
                    "SELECT l.expires_at - r.created_at AS found FROM sign_in_link l"
                        + " JOIN join_rule r ON r.org_id = l.org_id WHERE l.org_id = ?",
                    List.of(orgId),
                    row -> row.integer("found"))));
    assertEquals(Browser.WELCOME, Browser.location(kim.follow(link)));
    assertTrue(kim.get("/account").body().contains("kim.lee"), "named for the address");
    assertEquals(1, actions(orgId).stream().filter("member_join"::equals).count());
    assertEquals(
        "member:kim.lee",
        bourse.audit(orgId, false).stream()
            .filter(row -> row.action().equals("member_join"))
            .findFirst()
            .orElseThrow()
            .actor());
    assertEquals(List.of(email), values(orgId), "the rule stays after it was consumed");
  }

  @Test
  void aConsumedRuleAdmitsNobodyAgain() {
    String orgId = organization();
    String email = "kim@" + orgId + ".example";
    invite(orgId, email);
    Browser kim = browser();
    kim.follow(kim.link(email, 0));
    operator
        .patch(
            path(orgId) + "/members/kim", new JsonObject().put("email", "k2@" + orgId + ".example"))
        .ok();
    assertEquals(List.of(), values(orgId));
  }

  private static List<String> values(String orgId) {
    return ClusterClient.objects(operator.get(path(orgId) + "/rules").ok().getJsonArray("rules"))
        .stream()
        .map(rule -> rule.getString("value"))
        .toList();
  }

  @Test
  void anInvitationTakenBackAdmitsNobody() {
    String orgId = organization();
    String email = "kim@" + orgId + ".example";
    Browser kim = browser();
    invite(orgId, email);
    String link = kim.link(email, 0);
    String ruleId =
        operator
            .get(path(orgId) + "/rules")
            .ok()
            .getJsonArray("rules")
            .getJsonObject(0)
            .getString("rule_id");
    assertEquals(200, operator.delete(path(orgId) + "/rules/" + ruleId).status());
    assertEquals(403, kim.follow(link).statusCode());
  }

  @Test
  void aRuleOfADomainMakesMembersOfWhoeverSignsInThere() {
    String orgId = organization();
    String domain = orgId + ".example";
    addRule(orgId, "domain", domain);
    assertTrue(browser().signedIn("sam@" + domain).get("/account").body().contains(">sam<"));
    assertTrue(browser().signedIn("sam+2@" + domain).get("/account").body().contains(">sam-2<"));
    assertTrue(browser().signedIn("sam@" + domain).get("/account").body().contains(">sam<"));
    assertEquals(2, actions(orgId).stream().filter("member_join"::equals).count());
  }

  @Test
  void nobodyBecomesAMemberWithoutChoosingIt() {
    String orgId = organization();
    String email = "sam@" + orgId + ".example";
    addRule(orgId, "domain", orgId + ".example");
    Browser sam = browser();
    HttpResponse<String> asked = sam.follow(sam.askForLink(email, ""));
    assertEquals(200, asked.statusCode(), asked.body());
    assertTrue(asked.body().contains("you will join it"), asked.body());
    assertFalse(sam.isSignedIn());
    assertEquals(0, actions(orgId).stream().filter("member_join"::equals).count());
    assertEquals(Browser.WELCOME, Browser.location(sam.choose(asked, orgId)));
    assertEquals(1, actions(orgId).stream().filter("member_join"::equals).count());
    // A member is not asked again.
    Browser again = browser();
    assertEquals("/account", Browser.location(again.follow(again.askForLink(email, ""))));
  }

  @Test
  void anInvitationsPageSaysWhatItsReaderJoins() {
    String orgId = organization();
    String email = "kim@elsewhere-" + orgId + ".example";
    Browser kim = browser();
    invite(orgId, email);
    String page = kim.get(kim.link(email, 0)).body();
    assertTrue(page.contains("become a member"), page);
    assertTrue(page.contains("You are invited to"), page);
  }

  @Test
  void anInvitationNamesTheMemberWhoSentItAndTheOrganization() {
    Browser erin = browser();
    String email = "erin@partner-" + MADE.incrementAndGet() + ".example";
    assertEquals(
        201,
        bourse
            .inSession(bourse.startSession("acme", "alice"))
            .post("/api/console/invitations", new JsonObject().put("email", email))
            .status());
    String link = erin.link(email, 0);
    String mail = Browser.text(erin.mails(email).get(0));
    for (String text :
        List.of("Subject: Join Acme on Bourse", "alice@acme.example", "Acme (acme)")) {
      assertTrue(mail.contains(text), mail);
    }
    String page = erin.get(link).body();
    assertTrue(page.contains("alice@acme.example</span> invited you to"), page);
  }

  @Test
  void eachLinkOfAnInvitationNamesTheInviterOfItsMail() {
    Browser erin = browser();
    String email = "erin@partner-" + MADE.incrementAndGet() + ".example";
    inviteAs("alice", email);
    String first = erin.link(email, 0);
    inviteAs("bob", email);
    String renewed = erin.link(email, 1);
    operator.post(path("acme") + "/invitations", new JsonObject().put("email", email)).ok();
    String byOperator = erin.link(email, 2);

    assertTrue(Browser.text(erin.mails(email).get(1)).contains("bob@acme.example"));
    assertTrue(inviterOf(erin, renewed).contains("bob@acme.example</span> invited you to"));
    assertTrue(inviterOf(erin, first).contains("alice@acme.example</span> invited you to"));
    assertTrue(inviterOf(erin, byOperator).contains("You are invited to"));
  }

  private static void inviteAs(String member, String email) {
    int status =
        bourse
            .inSession(bourse.startSession("acme", member))
            .post("/api/console/invitations", new JsonObject().put("email", email))
            .status();
    assertTrue(status == 200 || status == 201, String.valueOf(status));
  }

  private static String inviterOf(Browser reader, String link) {
    return reader.get(link).body();
  }

  @Test
  void ofSignInsAtTheSameMomentOneMakesTheMember() {
    String orgId = organization();
    String email = "lee@" + orgId + ".example";
    addRule(orgId, "domain", orgId + ".example");
    List<Browser> browsers = IntStream.range(0, 4).mapToObj(i -> browser()).toList();
    List<String> links = browsers.stream().map(one -> one.askForLink(email, "")).toList();
    List<CompletableFuture<HttpResponse<String>>> racing =
        IntStream.range(0, 4)
            .mapToObj(
                i ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          HttpResponse<String> asked = browsers.get(i).follow(links.get(i));
                          // A later visitor is a member already, and is not asked.
                          return asked.statusCode() == 200
                              ? browsers.get(i).choose(asked, orgId)
                              : asked;
                        }))
            .toList();
    Set<String> places = Set.of("/account", Browser.WELCOME);
    racing.forEach(each -> assertTrue(places.contains(Browser.location(each.join()))));
    assertEquals(1, actions(orgId).stream().filter("member_join"::equals).count());
    browsers.forEach(one -> assertTrue(one.isSignedIn()));
  }

  @Test
  void whomSeveralOrganizationsAdmitChoosesOne() {
    String first = organization();
    String second = organization();
    String email = "both@" + first + ".example";
    addMember(first, "both", email);
    addRule(second, "domain", first + ".example");
    Browser both = browser();
    HttpResponse<String> page = both.follow(both.askForLink(email, "/device"));
    assertEquals(200, page.statusCode(), page.body());
    assertTrue(page.body().contains("you will join it"), page.body());
    assertEquals("/device", Browser.location(both.choose(page, second)));
    assertTrue(both.get("/account").body().contains(second));
    Browser again = browser();
    HttpResponse<String> chooser = again.follow(again.askForLink(email, ""));
    assertEquals(
        200,
        again.choose(chooser, "globex").statusCode(),
        "an organization that does not admit the address is no choice");
    assertFalse(again.isSignedIn());
  }
}
