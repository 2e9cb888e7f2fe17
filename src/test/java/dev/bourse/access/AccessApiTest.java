package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.contract.Contract;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.TokenSecret;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Who gets in, and how often. */
@ReplayedOnPostgres
class AccessApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static void assertUnauthorized(ApiClient caller, String... headers) {
    HttpAnswer answer = caller.get("/api/whoami", headers);
    answer.refused(ErrorCode.UNAUTHORIZED);
    assertEquals("Bearer", answer.header("www-authenticate"));
  }

  @Test
  void withoutALiveTokenNobodyGetsIn() {
    assertUnauthorized(bourse.with(null));
    assertUnauthorized(bourse.with(null), "Authorization", "Basic YTpi");
    assertUnauthorized(bourse.with(null), "Authorization", "Bearer");
    String live = bourse.secret("acme", "orgwide");
    assertUnauthorized(bourse.with(null), "Authorization", live);
    assertUnauthorized(bourse.with("hello"));
    assertUnauthorized(bourse.with(live + "a"));
    assertUnauthorized(bourse.with(live.substring(0, live.length() - 1)));
    char last = live.charAt(live.length() - 1);
    assertUnauthorized(
        bourse.with(live.substring(0, live.length() - 1) + (last == 'a' ? 'b' : 'a')));
    TokenSecret unknown = TokenSecret.mint(new Random(1));
    assertUnauthorized(bourse.with(unknown.text()));
    assertUnauthorized(bourse.with("brs_" + live.split("_", -1)[1] + "_" + unknown.secret()));
    bourse.with(live).get("/api/whoami").ok();
    bourse.with(null).get("/api/whoami", "Authorization", "bearer " + live).ok();
  }

  @Test
  void contractsAndOrientationNeedNoToken() {
    ApiClient nobody = bourse.with(null);
    for (String name : Contract.SERVED) {
      assertEquals("3.1.0", nobody.get("/api/" + name + "/openapi.json").ok().getString("openapi"));
    }
    assertEquals(200, nobody.get("/llms.txt").status());
    assertEquals(200, nobody.get("/AGENTS.md").status());
    nobody.get("/api/no-such").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aTokensBudgetIsItsOwnAndIsTold() {
    try (RunningBourse tight = RunningBourse.demo("limits.requests-per-minute=5")) {
      ApiClient caller = tight.as("acme", "bare");
      for (int left = 4; left >= 0; left--) {
        HttpAnswer answer = caller.get("/api/whoami");
        answer.ok();
        assertEquals("\"default\";q=5;w=60", answer.header("ratelimit-policy"));
        assertTrue(
            answer.header("ratelimit").startsWith("\"default\";r=" + left + ";t="),
            answer.header("ratelimit"));
      }
      HttpAnswer over = caller.get("/api/market/feed");
      JsonObject refusal = over.refused(ErrorCode.RATE_LIMITED);
      assertEquals("budget", refusal.getString("reason"));
      long wait = refusal.getLong("retry_after_s");
      assertTrue(wait >= 1 && wait <= 12, "a fifth of a minute, but " + wait);
      assertEquals("\"default\";r=0;t=" + wait, over.header("ratelimit"));
      assertEquals(String.valueOf(wait), over.header("retry-after"));
      HttpAnswer forbidden = caller.get("/api/vm/capacity");
      forbidden.refused(ErrorCode.FORBIDDEN);
      assertEquals("\"default\";q=5;w=60", forbidden.header("ratelimit-policy"));
      tight.as("acme", "readonly").get("/api/whoami").ok();
      tight.with(null).get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
      assertEquals(
          5,
          tight
              .with(null)
              .get("/api/vm/openapi.json")
              .ok()
              .getJsonObject("info")
              .getInteger("x-requests-per-minute"));
      assertEquals(
          5,
          tight
              .as("globex", "bare")
              .get("/api/whoami")
              .ok()
              .getJsonObject("rate_limit")
              .getInteger("requests_per_minute"));
    }
  }

  @Test
  void anAddressHasABudgetOverAllTokensAndNone() {
    try (RunningBourse tight =
        RunningBourse.demo("limits.edge-per-minute=4", "limits.edge-burst=4")) {
      tight.as("acme", "bare").get("/api/whoami").ok();
      tight.as("globex", "bare").get("/api/whoami").ok();
      tight.with(null).get("/api/whoami").refused(ErrorCode.UNAUTHORIZED);
      tight.with(null).get("/api/vm/openapi.json").ok();
      JsonObject refusal =
          tight
              .as("acme", "bare")
              .get("/api/whoami", "X-Forwarded-For", "192.0.2.7")
              .refused(ErrorCode.RATE_LIMITED);
      assertEquals("address", refusal.getString("reason"));
      long wait = refusal.getLong("retry_after_s");
      assertTrue(wait >= 1 && wait <= 15, "a quarter of a minute, but " + wait);
    }
  }

  @Test
  void aTrustedProxyNamesTheAddress() {
    try (RunningBourse tight =
        RunningBourse.demo(
            "limits.edge-per-minute=2", "limits.edge-burst=1", "proxies=127.0.0.1")) {
      ApiClient caller = tight.as("acme", "bare");
      caller.get("/api/whoami", "X-Forwarded-For", "192.0.2.7").ok();
      caller.get("/api/whoami", "X-Forwarded-For", "192.0.2.8").ok();
      caller.get("/api/whoami", "X-Forwarded-For", "192.0.2.7").refused(ErrorCode.RATE_LIMITED);
    }
  }

  @Test
  void aBrowserThatLooksForNothingGetsAPage() {
    String browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    ApiClient nobody = bourse.with(null);
    HttpAnswer page = nobody.get("/nothing/else", "Accept", browsers);
    assertEquals(404, page.status());
    assertTrue(page.header("content-type").startsWith("text/html"), page.header("content-type"));
    for (String accept : List.of("*/*", "application/json", "application/json, text/html;q=0.5")) {
      nobody.get("/nothing", "Accept", accept).refused(ErrorCode.NOT_FOUND);
    }
    nobody.send("POST", "/nothing", null, "Accept", browsers).refused(ErrorCode.NOT_FOUND);
  }
}
