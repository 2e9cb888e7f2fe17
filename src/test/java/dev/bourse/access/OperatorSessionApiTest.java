package dev.bourse.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ports;
import dev.bourse.core.Secrets;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An operator token is exchanged for a browser session, which expires or ends with the token. */
@ReplayedOnPostgres
class OperatorSessionApiTest {
  private static final String PATH = "/api/operator/session";

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject shown(String token) {
    return new JsonObject().put("token", token);
  }

  private static HttpAnswer signIn(String token, String... headers) {
    String[] all = List.of(headers).toArray(new String[headers.length + 2]);
    all[headers.length] = "Content-Type";
    all[headers.length + 1] = "application/json";
    return bourse.with(null).send("POST", PATH, shown(token).encode(), all);
  }

  private static String secret(HttpAnswer answer) {
    String cookie = answer.header("set-cookie");
    return cookie.substring(cookie.indexOf('=') + 1, cookie.indexOf(';'));
  }

  private static JsonObject minted(String name) {
    HttpAnswer answer =
        bourse.operator().post("/api/operator/operators", new JsonObject().put("name", name));
    assertEquals(201, answer.status());
    return answer.json();
  }

  @Test
  void aTokenBecomesASessionThatActsInItsName() {
    HttpAnswer answer = signIn(minted("olga").getString("token"));
    JsonObject session = answer.ok();
    assertEquals("olga", session.getString("name"));
    assertEquals("operator:olga", session.getString("actor"));
    Instant from = Instant.parse(session.getString("created_at"));
    assertEquals(from.plus(Duration.ofHours(12)), Instant.parse(session.getString("expires_at")));
    ApiClient olga = bourse.inOperatorSession(secret(answer));
    assertEquals(session, olga.get(PATH).ok());
    assertEquals(
        201, olga.post("/api/operator/operators", new JsonObject().put("name", "oscar")).status());
    JsonArray trail = olga.get("/api/operator/activity?limit=500").ok().getJsonArray("entries");
    List<String> done =
        trail.stream()
            .map(JsonObject.class::cast)
            .filter(entry -> entry.getString("actor").equals("operator:olga"))
            .map(entry -> entry.getString("action"))
            .toList();
    assertEquals(List.of("operator_mint", "operator_sign_in"), done);
  }

  @Test
  void theCookieIsOutOfReachOfScriptsAndOtherSites() {
    HttpAnswer answer = signIn(bourse.operatorToken());
    assertEquals(
        "bourse-operator=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200"
            .formatted(secret(answer)),
        answer.header("set-cookie"));
    assertTrue(Secrets.isOne(secret(answer)));
    assertFalse(answer.json().encode().contains(secret(answer)));
    assertEquals("no-store", answer.header("cache-control"));
  }

  @Test
  void behindTlsTheCookieIsBoundToTheHost() {
    int port = Ports.free();
    RunningBourse tls = RunningBourse.demo("base-url=https://bourse.example", "port=" + port);
    try {
      ApiClient browser = new ApiClient("http://127.0.0.1:" + port, null);
      HttpAnswer answer = browser.post(PATH, shown(tls.operatorToken()));
      assertEquals(
          "__Host-bourse-operator=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure"
              .formatted(secret(answer)),
          answer.header("set-cookie"));
      // Another host of the site could set the name without the prefix.
      browser
          .get(PATH, "Cookie", "bourse-operator=" + secret(answer))
          .refused(ErrorCode.UNAUTHORIZED);
      browser.get(PATH, "Cookie", "__Host-bourse-operator=" + secret(answer)).ok();
    } finally {
      tls.close();
    }
  }

  @Test
  void whatIsNoOperatorsTokenStartsNone() {
    String good = minted("mallory").getString("token");
    for (String token :
        List.of(
            "nonsense",
            bourse.secret("acme", "orgwide"),
            good.substring(0, good.length() - 1) + (good.endsWith("0") ? "1" : "0"))) {
      HttpAnswer answer = signIn(token);
      answer.refused(ErrorCode.UNAUTHORIZED);
      assertEquals("", answer.header("set-cookie"));
      assertFalse(answer.json().encode().contains(token));
    }
    bourse.with(null).post(PATH, new JsonObject()).refused(ErrorCode.BAD_REQUEST);
    bourse.with(null).post(PATH, shown("")).refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void noPageOfAnotherSiteSignsABrowserIn() {
    signIn(bourse.operatorToken(), "Origin", "https://evil.example").refused(ErrorCode.FORBIDDEN);
    bourse
        .with(null)
        .send("POST", PATH, shown(bourse.operatorToken()).encode(), "Content-Type", "text/plain")
        .refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE);
  }

  /** A session id cannot be fixed in advance: a sign-in always creates a new one. */
  @Test
  void signingInEndsTheSessionThatTheBrowserHas() {
    String first = bourse.startOperatorSession();
    HttpAnswer again = signIn(bourse.operatorToken(), "Cookie", "bourse-operator=" + first);
    assertNotEquals(first, secret(again));
    bourse.inOperatorSession(first).get(PATH).refused(ErrorCode.UNAUTHORIZED);
    bourse.inOperatorSession(secret(again)).get(PATH).ok();
  }

  @Test
  void signingOutEndsTheSessionAndNoOther() {
    String one = bourse.startOperatorSession();
    String other = bourse.startOperatorSession();
    HttpAnswer ended = bourse.inOperatorSession(one).delete(PATH);
    ended.ok();
    assertTrue(ended.header("set-cookie").startsWith("bourse-operator=; "));
    assertTrue(ended.header("set-cookie").contains("Max-Age=0"));
    bourse.inOperatorSession(one).get("/api/operator/orgs").refused(ErrorCode.UNAUTHORIZED);
    bourse.inOperatorSession(other).get("/api/operator/orgs").ok();
  }

  @Test
  void revokingTheTokenEndsItsSessions() {
    JsonObject token = minted("ruth");
    ApiClient ruth = bourse.inOperatorSession(secret(signIn(token.getString("token"))));
    ruth.get("/api/operator/orgs").ok();
    bourse.operator().delete("/api/operator/operators/" + token.getString("token_id")).ok();
    ruth.get("/api/operator/orgs").refused(ErrorCode.UNAUTHORIZED);
    signIn(token.getString("token")).refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void aTokenHasTwentySessionsAndTheOldestGoesFirst() {
    String token = minted("sam").getString("token");
    String first = secret(signIn(token));
    // Two in one millisecond have no order.
    RunningBourse.until(
        "a later one",
        () -> bourse.inOperatorSession(first).get(PATH).status() == 200 && later(first));
    for (int i = 1; i < 21; i++) {
      signIn(token).ok();
    }
    bourse.inOperatorSession(first).get(PATH).refused(ErrorCode.UNAUTHORIZED);
  }

  private static boolean later(String secret) {
    String startedAt = bourse.inOperatorSession(secret).get(PATH).ok().getString("created_at");
    return System.currentTimeMillis() > Instant.parse(startedAt).toEpochMilli();
  }

  @Test
  void aSessionLastsTwelveHoursOrAsLongAsItsToken() {
    SteppingClock clock = SteppingClock.midMonth();
    RunningBourse day = RunningBourse.demo(clock);
    try {
      String expiresAt = Instant.ofEpochMilli(clock.millis()).plus(Duration.ofHours(3)).toString();
      String brief =
          day.operator()
              .post(
                  "/api/operator/operators",
                  new JsonObject().put("name", "temp").put("expires_at", expiresAt))
              .json()
              .getString("token");
      HttpAnswer begun = day.with(null).post(PATH, shown(brief));
      assertEquals(Instant.parse(expiresAt), Instant.parse(begun.ok().getString("expires_at")));
      String whole = day.startOperatorSession();
      clock.step(Duration.ofHours(3).toMillis());
      day.inOperatorSession(secret(begun)).get(PATH).refused(ErrorCode.UNAUTHORIZED);
      clock.step(Duration.ofHours(8).toMillis());
      day.inOperatorSession(whole).get(PATH).ok();
      clock.step(Duration.ofHours(1).toMillis());
      day.inOperatorSession(whole).get(PATH).refused(ErrorCode.UNAUTHORIZED);
    } finally {
      day.close();
    }
  }
}
