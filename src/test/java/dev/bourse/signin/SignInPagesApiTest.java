package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.Browser;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The sources that pages may load, and their rules on caching and framing. */
@ReplayedOnPostgres
class SignInPagesApiTest extends SignInApiFixture {
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

  /** Browsers request {@code /favicon.ico} if a page names no icon. */
  @Test
  void everyPageNamesAnIconThatBrowsersFind() throws Exception {
    assertTrue(
        browser().get("/sign-in").body().contains("<link rel=\"icon\" type=\"image/svg+xml\""));
    HttpResponse<String> icon = browser().get("/pages/icon.svg");
    assertEquals(200, icon.statusCode());
    assertEquals("image/svg+xml", icon.headers().firstValue("content-type").orElse(""));
    assertTrue(icon.body().startsWith("<svg"));
  }

  @Test
  void theFrontPageLeadsMembersToTheConsole() {
    HttpResponse<String> answer = browser().signedIn("alice@acme.example").get("/");
    assertEquals(302, answer.statusCode());
    assertEquals("/console/", answer.headers().firstValue("location").orElse(""));
    assertEquals("no-store", answer.headers().firstValue("cache-control").orElse(""));
  }

  @Test
  void theFrontPageTellsStrangersWhatTheServiceIsAndHowToBeginHere() {
    HttpResponse<String> page = browser().get("/");
    assertEquals(200, page.statusCode());
    assertEquals("no-store", page.headers().firstValue("cache-control").orElse(""));
    String url = bourse.service().baseUrl();
    for (String text :
        List.of(
            "<h1>GPU capacity at a market price</h1>",
            "bourse login --url " + url,
            url + "/mcp",
            "href=\"/sign-in\"",
            "href=\"/docs/guides/market\"")) {
      assertTrue(page.body().contains(text), text);
    }
    assertTrue(page.body().contains(url + "/install/install.sh"), page.body());
    assertTrue(browser().get("/install").body().contains(url + "/install/install.sh"));
    assertEquals("a program", browser().get("/install/bourse.jar").body());
  }

  @Test
  void aSiteMaySwitchTheInstallationOff() {
    try (RunningBourse off = RunningBourse.demo("install.enabled=false")) {
      Browser stranger = new Browser(off);
      assertFalse(stranger.get("/").body().contains("/install"));
      assertEquals(404, stranger.get("/install").statusCode());
      assertEquals(404, stranger.get("/install/bourse.jar").statusCode());
    }
  }

  @Test
  void theSentPageNamesTheAddressForMembersAndStrangersAlikeAndMailsAnotherLink() {
    List<String> pages =
        List.of("alice@acme.example", "stranger@elsewhere.example").stream()
            .map(email -> sentTo(browser(), email).body().replace(email, "ADDRESS"))
            .map(body -> body.replaceAll("name=\"csrf\" value=\"[^\"]*\"", ""))
            .toList();
    assertTrue(pages.get(0).contains("ADDRESS"), pages.get(0));
    assertEquals(pages.get(0), pages.get(1));

    Browser alice = browser();
    int before = alice.mails("alice@acme.example").size();
    HttpResponse<String> page = sentTo(alice, "alice@acme.example");
    alice.link("alice@acme.example", before);
    HttpResponse<String> again =
        alice.post(
            "/sign-in",
            Map.of(
                "csrf", Browser.field(page, "csrf"),
                "email", Browser.field(page, "email"),
                "return_to", Browser.field(page, "return_to")));
    assertEquals("/sign-in/sent?return_to=%2Fdevice", Browser.location(again));
    assertEquals(
        "/device", Browser.location(alice.follow(alice.link("alice@acme.example", before + 1))));
    assertFalse(alice.cookies.containsKey("bourse-address"), "forgotten after the sign-in");
  }

  @Test
  void theSentPageNamesNoAddressThatThisBrowserDidNotEnter() {
    Browser other = browser();
    for (String cookie : List.of("", "bm90IGFuIGFkZHJlc3M", "%%%")) {
      other.cookies.put("bourse-address", cookie);
      HttpResponse<String> page = other.get("/sign-in/sent");
      assertEquals(200, page.statusCode());
      assertFalse(page.body().contains("name=\"email\""), page.body());
    }
  }

  private static HttpResponse<String> sentTo(Browser browser, String email) {
    HttpResponse<String> form = browser.get("/sign-in?return_to=/device");
    String sent =
        Browser.location(
            browser.post(
                "/sign-in",
                Map.of(
                    "csrf", Browser.field(form, "csrf"),
                    "email", email,
                    "return_to", Browser.field(form, "return_to"))));
    return browser.get(sent);
  }

  @Test
  void unknownAddressesAreAPageInABrowserAndJsonForPrograms() {
    HttpResponse<String> page = browser().get("/nowhere/at/all");
    assertEquals(404, page.statusCode());
    assertTrue(page.body().contains("<h1>Page not found</h1>"), page.body());
    for (String way : List.of("/", "/docs", "/feed/")) {
      assertTrue(page.body().contains("href=\"" + way + '"'), way);
    }
    bourse.with(null).get("/nowhere/at/all").refused(ErrorCode.NOT_FOUND);
  }
}
