package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Members sign in by mail, and what keeps others from it. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
@EachEngine
class SignInApiTest {
  private static final AtomicInteger MADE = new AtomicInteger();

  private static RunningBourse bourse;
  private static ApiClient operator;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("signin.tries-per-address=100000", "signin.mails-per-email=100000");
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static Browser browser() {
    return new Browser(bourse);
  }

  /** A new organization and its path below the operators' API. */
  private static String organization() {
    String orgId = "signin-" + MADE.incrementAndGet();
    assertEquals(201, operator.post("/api/operator/orgs", OrgAdminApiTest.org(orgId)).status());
    return orgId;
  }

  private static String path(String orgId) {
    return "/api/operator/orgs/" + orgId;
  }

  private static void addMember(String orgId, String username, String email) {
    assertEquals(
        201,
        operator
            .post(
                path(orgId) + "/members",
                new JsonObject().put("username", username).put("email", email).put("name", "N."))
            .status());
  }

  private static void addRule(String orgId, String kind, String value) {
    assertEquals(
        201,
        operator
            .post(path(orgId) + "/rules", new JsonObject().put("kind", kind).put("value", value))
            .status());
  }

  private static List<String> actions(String orgId) {
    return bourse.audit(orgId, false).stream().map(AuditRow::action).toList();
  }

  @Test
  void aMailedLinkSignsAMemberIn() {
    Browser alice = browser();
    HttpResponse<String> entered =
        alice.follow(alice.askForLink("Alice@Acme.example", "/oauth/authorize?a=b&c=d"));
    assertEquals("/oauth/authorize?a=b&c=d", Browser.location(entered));
    HttpResponse<String> account = alice.get("/account");
    assertTrue(account.body().contains("alice@acme.example"), account.body());
    assertTrue(account.body().contains("This browser"), account.body());
    assertEquals("/account", Browser.location(alice.get("/sign-in")));
  }

  @Test
  void openRedirectTheSignInLeadsToPlacesOfOursAlone() {
    for (String elsewhere :
        List.of(
            "https://evil.example/",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "javascript:alert(1)",
            "%2F%2Fevil.example",
            "evil.example",
            "")) {
      Browser bob = browser();
      String link = bob.askForLink("bob@acme.example", elsewhere);
      assertEquals("/account", Browser.location(bob.follow(link)), elsewhere);
      assertEquals(
          "/account",
          Browser.location(
              bob.get(
                  "/sign-in?return_to="
                      + java.net.URLEncoder.encode(elsewhere, StandardCharsets.UTF_8))),
          elsewhere);
    }
    Browser bob = browser();
    HttpResponse<String> page = bob.get("/sign-in");
    String link = bob.askForLink("bob@acme.example", "/device?user_code=ABCD-EFGH");
    assertEquals(200, page.statusCode());
    assertEquals("/device?user_code=ABCD-EFGH", Browser.location(bob.follow(link)));
  }

  @Test
  void aLinkThatAStrangerAskedForLeadsToTheAccountAlone() {
    for (String place : List.of("/device?user_code=BCDF-GHJK", "/oauth/authorize?client_id=x")) {
      String link = browser().askForLink("alice@acme.example", place);
      Browser alice = browser();
      assertEquals("/account", Browser.location(alice.follow(link)), place);
      assertEquals(
          "/account",
          Browser.location(alice.follow(browser().askForLink("alice@acme.example", place))),
          place);
    }
    Browser asking = browser();
    String first = asking.askForLink("alice@acme.example", "/device");
    asking.askForLink("alice@acme.example", "/account");
    assertEquals("/device", Browser.location(asking.follow(first)), "one's own leads on");
  }

  @Test
  void aLinkIsNotSpentByASignInThatFails() {
    String orgId = organization();
    addMember(orgId, "pat", "pat@" + orgId + ".example");
    Browser pat = browser();
    String link = pat.askForLink("pat@" + orgId + ".example", "");
    String member = path(orgId) + "/members/pat";
    operator.patch(member, new JsonObject().put("suspended", true)).ok();
    assertEquals(403, pat.follow(link).statusCode());
    operator.patch(member, new JsonObject().put("suspended", false)).ok();
    assertEquals("/account", Browser.location(pat.follow(link)));
    assertEquals(410, pat.get(link).statusCode());
  }

  @Test
  void theKelvinSignIsNoLetterOfAnAddress() {
    String kelvin = "\u212a";
    Browser visitor = browser();
    String csrf = Browser.field(visitor.get("/sign-in"), "csrf");
    assertEquals(
        422,
        visitor
            .post("/sign-in", Map.of("csrf", csrf, "email", kelvin + "im@acme.example"))
            .statusCode());
    String orgId = organization();
    JsonObject person = new JsonObject().put("username", "kim").put("name", "Kim");
    for (String email :
        List.of(kelvin + "im@x.example", "kim@\u017f.example", "k\u0130m@x.example")) {
      operator
          .post(path(orgId) + "/members", person.put("email", email))
          .refused(ErrorCode.BAD_REQUEST);
      operator
          .post(path(orgId) + "/invitations", new JsonObject().put("email", email))
          .refused(ErrorCode.BAD_REQUEST);
    }
    operator
        .post(
            path(orgId) + "/rules",
            new JsonObject().put("kind", "domain").put("value", "ban" + kelvin + ".example"))
        .refused(ErrorCode.BAD_REQUEST);
  }

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
      // Without the cookie the token belongs to nobody.
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
  void emailHeaderInjectionAnAddressWithMoreThanAnAddressIsRefused() {
    for (String email :
        List.of(
            "alice@acme.example\r\nBcc: x@evil.example",
            "alice@acme.example\nBcc: x@evil.example",
            "alice@acme.example,x@evil.example",
            "<alice@acme.example>",
            "\"a\r\n\"@acme.example",
            "alice@acme.example%0d%0aBcc:x@evil.example",
            "alice")) {
      Browser visitor = browser();
      HttpResponse<String> page = visitor.get("/sign-in");
      HttpResponse<String> answer =
          visitor.post("/sign-in", Map.of("csrf", Browser.field(page, "csrf"), "email", email));
      assertEquals(422, answer.statusCode(), email);
      assertTrue(answer.body().contains("aria-describedby=\"email-fault\""), answer.body());
    }
  }

  @Test
  void hostHeaderPoisoningLinksBeginWithTheAddressOfTheService() throws IOException {
    Browser visitor = browser();
    String csrf = Browser.field(visitor.get("/sign-in"), "csrf");
    int before = visitor.mails("bob@acme.example").size();
    String body = "csrf=" + csrf + "&email=bob%40acme.example";
    URI address = URI.create(bourse.service().baseUrl());
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort())) {
      socket
          .getOutputStream()
          .write(
              ("POST /sign-in HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n"
                      + "Forwarded: host=evil.example\r\nConnection: close\r\n"
                      + "Content-Type: application/x-www-form-urlencoded\r\n"
                      + "Cookie: bourse-visitor="
                      + visitor.cookies.get("bourse-visitor")
                      + "\r\nContent-Length: "
                      + body.length()
                      + "\r\n\r\n"
                      + body)
                  .getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      String answer = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(answer.startsWith("HTTP/1.1 303"), answer);
      assertFalse(answer.contains("evil"), answer);
    }
    // It holds the link against the address.
    visitor.link("bob@acme.example", before);
    assertFalse(Browser.text(visitor.mails("bob@acme.example").get(before)).contains("evil"));
  }

  @Test
  void linkReuseALinkWorksOnceAndOpeningItUsesNothingUp() {
    Browser alice = browser();
    String link = alice.askForLink("alice@acme.example", "");
    for (int i = 0; i < 3; i++) {
      assertEquals(200, browser().get(link).statusCode(), "a scanner opens it");
    }
    alice.follow(link);
    assertTrue(alice.isSignedIn());
    assertEquals(410, browser().get(link).statusCode());
    Browser other = browser();
    String csrf = Browser.field(other.get("/sign-in"), "csrf");
    assertEquals(
        410,
        other
            .post(
                "/sign-in/link",
                Map.of("csrf", csrf, "token", link.substring(link.indexOf('=') + 1)))
            .statusCode());
    assertFalse(other.isSignedIn());
  }

  @Test
  void linkReuseOfManyWhoTryAtOnceOneSucceeds() {
    String link = otherBrowsersLink();
    List<Browser> browsers = IntStream.range(0, 6).mapToObj(i -> browser()).toList();
    List<CompletableFuture<HttpResponse<String>>> racing =
        browsers.stream()
            .map(one -> CompletableFuture.supplyAsync(() -> one.follow(link)))
            .toList();
    assertEquals(1, racing.stream().filter(each -> each.join().statusCode() == 303).count());
    assertEquals(1, browsers.stream().filter(Browser::isSignedIn).count());
  }

  @Test
  void timingOfUnknownEmailsTheAnswerIsTheSameByteForByte() {
    Browser visitor = browser();
    String csrf = Browser.field(visitor.get("/sign-in"), "csrf");
    Map<String, List<String>> known = new TreeMap<>();
    for (String email : List.of("alice@acme.example", "nobody@nowhere.example")) {
      HttpResponse<String> answer = visitor.post("/sign-in", Map.of("csrf", csrf, "email", email));
      assertEquals(303, answer.statusCode());
      assertEquals("", answer.body());
      Map<String, List<String>> headers = new TreeMap<>(answer.headers().map());
      headers.remove("x-request-id");
      headers.remove("date");
      if (known.isEmpty()) {
        known.putAll(headers);
      }
      assertEquals(known, headers);
    }
    visitor.askForLink("bob@acme.example", "");
    assertEquals(List.of(), visitor.mails("nobody@nowhere.example"));
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
    assertFalse(pat.isSignedIn(), "what was ended stays ended");
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
    assertEquals("/account", Browser.location(again.follow(pat.link(email, before))));
    assertTrue(again.get("/account").body().contains(">pat-2<"), "no name is given twice");
    assertFalse(pat.isSignedIn());
  }

  private static void invite(String orgId, String email) {
    int status =
        operator.post(path(orgId) + "/invitations", new JsonObject().put("email", email)).status();
    assertTrue(status == 200 || status == 201, String.valueOf(status));
  }

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
                .service()
                .database()
                .read(
                    "SELECT l.expires_at - r.created_at FROM sign_in_link l"
                        + " JOIN join_rule r ON r.org_id = l.org_id WHERE l.org_id = ?",
                    List.of(orgId),
                    row -> row.integer(0))));
    assertEquals("/account", Browser.location(kim.follow(link)));
    assertTrue(kim.get("/account").body().contains("kim.lee"), "named for the address");
    assertEquals(1, actions(orgId).stream().filter("member_join"::equals).count());
    assertEquals(
        "member:kim.lee",
        bourse.audit(orgId, false).stream()
            .filter(row -> row.action().equals("member_join"))
            .findFirst()
            .orElseThrow()
            .actor());
    assertEquals(
        0,
        operator.get(path(orgId) + "/rules").ok().getJsonArray("rules").size(),
        "the invitation is used up");
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
  void ofSignInsAtTheSameMomentOneMakesTheMember() {
    String orgId = organization();
    String email = "lee@" + orgId + ".example";
    addRule(orgId, "domain", orgId + ".example");
    List<Browser> browsers = IntStream.range(0, 4).mapToObj(i -> browser()).toList();
    List<String> links = browsers.stream().map(one -> one.askForLink(email, "")).toList();
    List<CompletableFuture<HttpResponse<String>>> racing =
        IntStream.range(0, 4)
            .mapToObj(
                i -> CompletableFuture.supplyAsync(() -> browsers.get(i).follow(links.get(i))))
            .toList();
    racing.forEach(each -> assertEquals("/account", Browser.location(each.join())));
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
    Map<String, String> form =
        Map.of(
            "csrf", Browser.field(page, "csrf"),
            "token", Browser.field(page, "token"),
            "org", second);
    assertEquals("/device", Browser.location(both.post("/sign-in/link", form)));
    assertTrue(both.get("/account").body().contains(second));
    Browser again = browser();
    HttpResponse<String> chooser = again.follow(again.askForLink(email, ""));
    assertEquals(
        200,
        again
            .post(
                "/sign-in/link",
                Map.of(
                    "csrf", Browser.field(chooser, "csrf"),
                    "token", Browser.field(chooser, "token"),
                    "org", "globex"))
            .statusCode(),
        "an organization that does not admit the address is no choice");
    assertFalse(again.isSignedIn());
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

  @Test
  void theOutboxIsForTheServiceAlone() throws IOException {
    browser().askForLink("alice@acme.example", "");
    var outbox = bourse.data().resolve("outbox");
    assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(outbox)));
    for (var mail : browser().mails("alice@acme.example")) {
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(mail)));
    }
  }

  @Test
  void pagesMayLoadNothingButTheirStyleAndNobodyKeepsOrFramesThem() {
    HttpResponse<String> page = browser().get("/sign-in");
    assertEquals(
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
            + " frame-ancestors 'none'; base-uri 'none'",
        page.headers().firstValue("content-security-policy").orElse(""));
    assertEquals("no-store", page.headers().firstValue("cache-control").orElse(""));
    assertFalse(page.body().contains("<script"));
    HttpResponse<String> style = browser().get("/pages/style.css");
    assertEquals(200, style.statusCode());
    assertEquals(
        304,
        bourse
            .with(null)
            .send(
                "GET",
                "/pages/style.css",
                null,
                "If-None-Match",
                style.headers().firstValue("etag").orElse(""))
            .status());
  }

  /** Browsers ask for {@code /favicon.ico} of their own accord where a page names none. */
  @Test
  void everyPageNamesAnIconThatBrowsersFind() throws Exception {
    assertTrue(
        browser().get("/sign-in").body().contains("<link rel=\"icon\" type=\"image/svg+xml\""));
    HttpResponse<String> icon = browser().get("/pages/icon.svg");
    assertEquals(200, icon.statusCode());
    assertEquals("image/svg+xml", icon.headers().firstValue("content-type").orElse(""));
    assertTrue(icon.body().startsWith("<svg"));
  }
}
