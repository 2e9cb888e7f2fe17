package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.Browser;
import dev.bourse.testing.ReplayedOnPostgres;
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
  void theRootLeadsMembersToTheConsoleAndOthersToTheDocumentation() {
    Browser alice = browser().signedIn("alice@acme.example");
    Map.of("/console/", alice, "/docs", browser())
        .forEach(
            (place, browser) -> {
              HttpResponse<String> answer = browser.get("/");
              assertEquals(302, answer.statusCode());
              assertEquals(place, answer.headers().firstValue("location").orElse(""));
              assertEquals("no-store", answer.headers().firstValue("cache-control").orElse(""));
            });
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
