package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.contract.Contract;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.TokenSecret;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HeldRequest;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Authentication and request budgets. */
@ReplayedOnPostgres
class AccessApiTest {
  /** The actions that revoke callers in the tests. */
  private static final Set<String> REVOCATIONS =
      Set.of("vm_token_revoke", "sign_out_everywhere", "oauth_revoke");

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

  private static void refused(HeldRequest write) {
    write.send();
    String answer = write.answer();
    assertTrue(answer.startsWith("HTTP/1.1 401 "), answer);
    assertTrue(answer.contains("unknown or revoked"), answer);
    write.close();
  }

  private static JsonObject minted(String path, JsonObject order) {
    HttpAnswer answer = bourse.operator().post(path, order);
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  @Test
  void aWriteWhoseCallerIsRevokedBeforeItIsCarriedOutStoresNothing() {
    String url = bourse.service().baseUrl();
    String tokens = "/api/operator/orgs/globex/tokens";
    JsonObject token =
        minted(
            tokens,
            new JsonObject()
                .put("name", "late")
                .put("scopes", new JsonArray(List.of("capacity:read", "capacity:write"))));
    ApiClient caller = bourse.with(token.getString("token"));
    ClusterClient cluster = new ClusterClient(caller, "globex", "globex-main");
    byte[] bytes = FilesFixture.bytes(1_000, 1);
    String file =
        FilesFixture.announce(
                bourse.asMember("globex", "dave"),
                FilesFixture.publication(FilesFixture.freshName(), bytes, "org")
                    .put("upload", "direct"))
            .getString("id");
    JsonObject operator =
        minted("/api/operator/operators", new JsonObject().put("name", "late-operator"));
    String key =
        new JsonObject().put("name", "late").put("public_key", RunningBourse.keyLine()).encode();
    List<HeldRequest> byToken =
        List.of(
            HeldRequest.of(
                url,
                token.getString("token"),
                "PUT /api/vm/capacity",
                cluster.order(0, 3).encode()),
            HeldRequest.of(
                url, token.getString("token"), "POST /api/vm/orgs/globex/ssh-keys", key));
    List<HeldRequest> byMember =
        List.of(
            new HeldRequest(
                url,
                "PUT " + FilesFixture.content(file),
                bytes,
                "Content-Type: " + FilesFixture.TYPE,
                "Authorization: Bearer " + bourse.memberToken("globex", "dave")),
            HeldRequest.of(
                url,
                bourse.memberToken("globex", "dave"),
                "POST /api/console/tokens",
                new JsonObject()
                    .put("name", "never")
                    .put("scopes", new JsonArray(List.of("capacity:read")))
                    .encode()));
    HeldRequest byOperator =
        HeldRequest.of(
            url,
            operator.getString("token"),
            "POST /api/operator/orgs",
            OrgApiFixture.org("never").encode());
    int entries = bourse.audit("globex", false).size();

    bourse.operator().delete(tokens + "/" + token.getString("token_id")).ok();
    bourse
        .inSession("globex", "dave")
        .post("/api/console/sign-out-everywhere", new JsonObject())
        .ok();
    bourse.operator().delete("/api/operator/operators/" + operator.getString("token_id")).ok();
    byToken.forEach(AccessApiTest::refused);
    byMember.forEach(AccessApiTest::refused);
    refused(byOperator);
    assertEquals(
        List.of(),
        bourse.audit("globex", false).stream()
            .skip(entries)
            .map(AuditRow::action)
            .filter(action -> !REVOCATIONS.contains(action))
            .toList());
    bourse.operator().get("/api/operator/orgs/never").refused(ErrorCode.NOT_FOUND);
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
        RunningBourse.demo(
            "limits.edge-per-minute=4", "limits.edge-burst=4", "limits.requests-per-minute=300")) {
      // Thousands of nodes may share an address, so they count for themselves.
      ApiClient agent = tight.with(tight.nodeCredential("acme-legacy"));
      JsonObject report = new JsonObject().put("gpus", new JsonArray());
      for (int more = 0; more < 10; more++) {
        HttpAnswer taken = agent.post("/api/node/metrics", report);
        taken.ok();
        assertEquals("\"default\";q=60;w=60", taken.header("ratelimit-policy"));
      }
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
      agent.post("/api/node/metrics", report).ok();
      String forged = tight.nodeCredential("acme-legacy") + "0";
      tight.with(forged).post("/api/node/metrics", report).refused(ErrorCode.RATE_LIMITED);
      // A node over its own budget counts for its address, like everybody. Its budget grows again
      // by
      // one a second meanwhile.
      HttpAnswer over = agent.post("/api/node/metrics", report);
      for (int more = 0; more < 300 && over.status() == 200; more++) {
        over = agent.post("/api/node/metrics", report);
      }
      assertEquals("address", over.refused(ErrorCode.RATE_LIMITED).getString("reason"));
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
