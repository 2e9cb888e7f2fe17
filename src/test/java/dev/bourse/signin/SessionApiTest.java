package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.Browser;
import dev.bourse.testing.ReplayedOnPostgres;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Sessions of browsers: their cookies, their forms, and when they end. */
@ReplayedOnPostgres
class SessionApiTest extends SignInApiFixture {
  @Test
  void csrfOnEveryFormOneThatIsNotOursIsRefused() {
    Browser alice = browser().signedIn("alice@acme.example");
    String token = Browser.field(alice.get("/account"), "csrf");
    String other = Browser.field(browser().signedIn("bob@acme.example").get("/account"), "csrf");
    Map<String, Map<String, String>> forms =
        Map.of(
            "/sign-out", Map.of(),
            "/sign-out/everywhere", Map.of(),
            "/account/applications/revoke", Map.of("application", "x"));
    forms.forEach(
        (path, fields) -> {
          Map<String, String> sent = new HashMap<>(fields);
          sent.put("csrf", "");
          assertEquals(403, alice.post(path, sent).statusCode(), path);
          sent.put("csrf", other);
          assertEquals(403, alice.post(path, sent).statusCode(), path);
          sent.put("csrf", token);
          assertEquals(
              403, alice.post(path, sent, "Origin", "https://evil.example").statusCode(), path);
          assertEquals(403, alice.post(path, sent, "Origin", "null").statusCode(), path);
          assertEquals(
              403, alice.post(path, sent, "Sec-Fetch-Site", "cross-site").statusCode(), path);
          assertEquals(
              403, alice.post(path, sent, "Sec-Fetch-Site", "same-site").statusCode(), path);
        });
    assertTrue(alice.isSignedIn());
    csrfBeforeSignIn();
  }

  private static void csrfBeforeSignIn() {
    Browser visitor = browser();
    String link = visitor.askForLink("alice@acme.example", "");
    String secret = link.substring(link.indexOf('=') + 1);
    String token = Browser.field(visitor.get("/sign-in"), "csrf");
    String other = Browser.field(browser().get("/sign-in"), "csrf");
    for (String path : List.of("/sign-in", "/sign-in/link")) {
      Map<String, String> sent = new HashMap<>();
      sent.put(path.equals("/sign-in") ? "email" : "token", secret);
      assertEquals(403, visitor.post(path, sent).statusCode(), path);
      sent.put("csrf", other);
      assertEquals(403, visitor.post(path, sent).statusCode(), path);
      sent.put("csrf", token);
      assertEquals(
          403, visitor.post(path, sent, "Origin", "https://evil.example").statusCode(), path);
      // Without the cookie the token is invalid.
      assertEquals(403, browser().post(path, sent).statusCode(), path);
    }
    assertEquals("/account", Browser.location(visitor.follow(link)), "the link is not used up");
  }

  @Test
  void aFormOfOursIsTakenWithTheHeadersBrowsersSend() {
    Browser alice = browser().signedIn("alice@acme.example");
    String token = Browser.field(alice.get("/account"), "csrf");
    assertEquals(
        "/sign-out",
        Browser.location(
            alice.post(
                "/sign-out",
                Map.of("csrf", token),
                "Origin",
                bourse.service().baseUrl(),
                "Sec-Fetch-Site",
                "same-origin")));
    assertFalse(alice.isSignedIn());
  }

  @Test
  void cookieFlagsTheSessionIsForThisSiteAloneAndForNoScript() {
    Browser alice = browser();
    HttpResponse<String> entered = alice.follow(alice.askForLink("alice@acme.example", ""));
    String cookie = entered.headers().allValues("set-cookie").get(0);
    assertTrue(
        cookie.matches("bourse=[0-9A-Za-z]{43}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800"),
        cookie);
    String visitor = browser().get("/sign-in").headers().firstValue("set-cookie").orElse("");
    assertTrue(
        visitor.matches(
            "bourse-visitor=[0-9A-Za-z]{43}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400"),
        visitor);
  }

  @Test
  void sessionFixationSigningInMakesANewSession() {
    Browser victim = browser();
    String planted = "A".repeat(43);
    victim.cookies.put("bourse", planted);
    victim.get("/sign-in");
    String visitor = String.valueOf(victim.cookies.get("bourse-visitor"));
    victim.signedIn("alice@acme.example");
    String first = String.valueOf(victim.cookies.get("bourse"));
    assertNotEquals(planted, first);
    assertNotEquals(visitor, first);
    Browser attacker = browser();
    for (String known : List.of(planted, visitor)) {
      attacker.cookies.put("bourse", known);
      assertFalse(attacker.isSignedIn());
    }
    victim.cookies.put("bourse", first);
    Browser.location(victim.follow(otherBrowsersLink()));
    assertNotEquals(first, victim.cookies.get("bourse"));
    attacker.cookies.put("bourse", first);
    assertFalse(attacker.isSignedIn(), "the session that was replaced is over");
  }

  private static String otherBrowsersLink() {
    return browser().askForLink("alice@acme.example", "");
  }

  @Test
  void suspendedMembersAreRefusedAtOnce() {
    String orgId = organization();
    addMember(orgId, "pat", "pat@" + orgId + ".example");
    addRule(orgId, "domain", orgId + ".example");
    Browser pat = browser().signedIn("pat@" + orgId + ".example");
    String unused = browser().askForLink("pat@" + orgId + ".example", "");
    String member = path(orgId) + "/members/pat";
    assertEquals(200, operator.patch(member, new JsonObject().put("suspended", true)).status());
    assertFalse(pat.isSignedIn());
    assertEquals(403, browser().follow(unused).statusCode());
    assertEquals(200, operator.patch(member, new JsonObject().put("suspended", false)).status());
    assertFalse(pat.isSignedIn(), "an ended session stays ended");
    assertTrue(browser().signedIn("pat@" + orgId + ".example").isSignedIn());
  }

  @Test
  void removedMembersAreRefusedAtOnceAndComeBackByInvitationAlone() {
    String orgId = organization();
    String email = "pat@" + orgId + ".example";
    addRule(orgId, "domain", orgId + ".example");
    Browser pat = browser().signedIn(email);
    String unused = browser().askForLink(email, "");
    assertEquals(200, operator.delete(path(orgId) + "/members/pat").status());
    assertFalse(pat.isSignedIn());
    assertEquals(403, browser().follow(unused).statusCode());
    JsonObject other = new JsonObject().put("username", "pat").put("name", "N.");
    assertEquals(
        "used",
        operator
            .post(path(orgId) + "/members", other.put("email", "other@elsewhere.example"))
            .refused(ErrorCode.CONFLICT)
            .getString("reason"));
    int before = pat.mails(email).size();
    invite(orgId, email);
    Browser again = browser();
    assertEquals(Browser.WELCOME, Browser.location(again.follow(pat.link(email, before))));
    assertTrue(again.get("/account").body().contains(">pat-2<"), "no name is given twice");
    assertFalse(pat.isSignedIn());
  }

  @Test
  void signOutEverywhereEndsEverySession() {
    String orgId = organization();
    addMember(orgId, "pat", "pat@" + orgId + ".example");
    Browser one = browser().signedIn("pat@" + orgId + ".example");
    Browser two = browser().signedIn("pat@" + orgId + ".example");
    Browser alice = browser().signedIn("alice@acme.example");
    String csrf = Browser.field(one.get("/account"), "csrf");
    assertEquals(
        "/sign-out", Browser.location(one.post("/sign-out/everywhere", Map.of("csrf", csrf))));
    assertFalse(one.isSignedIn());
    assertFalse(two.isSignedIn());
    assertTrue(alice.isSignedIn());
    assertEquals(200, one.get("/sign-out").statusCode());
  }

  @Test
  void signOutEverywhereAsksFirstAndSaysWhatEnds() {
    String orgId = organization();
    addMember(orgId, "pat", "pat@" + orgId + ".example");
    Browser one = browser().signedIn("pat@" + orgId + ".example");
    assertTrue(one.get("/sign-out/everywhere").body().contains("your only session"));
    Browser two = browser().signedIn("pat@" + orgId + ".example");
    HttpResponse<String> asked = one.get("/sign-out/everywhere");
    assertEquals(200, asked.statusCode());
    assertTrue(asked.body().contains("all 2 of your sessions"), asked.body());
    assertTrue(two.isSignedIn(), "asking ends nothing");
    Map<String, String> form = Map.of("csrf", Browser.field(asked, "csrf"));
    assertEquals("/sign-out", Browser.location(one.post("/sign-out/everywhere", form)));
    assertFalse(two.isSignedIn());
    assertEquals(
        "/sign-in?return_to=%2Faccount", Browser.location(one.get("/sign-out/everywhere")));
  }

  @Test
  void aMemberHasTwentySessionsAtMostAndTheOldestGoes() {
    String orgId = organization();
    addMember(orgId, "pat", "pat@" + orgId + ".example");
    Browser first = browser().signedIn("pat@" + orgId + ".example");
    for (int i = 0; i < 19; i++) {
      browser().signedIn("pat@" + orgId + ".example");
    }
    assertTrue(first.isSignedIn());
    browser().signedIn("pat@" + orgId + ".example");
    assertFalse(first.isSignedIn());
  }
}
