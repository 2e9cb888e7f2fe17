package dev.bourse.access;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.Polls;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operators mint and revoke operator tokens. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
@ReplayedOnPostgres
public class OperatorTokenAdminApiTest {
  private static final String OPERATORS = "/api/operator/operators";

  private RunningBourse bourse;
  private ApiClient first;

  @BeforeEach
  void start() {
    bourse = RunningBourse.demo();
    first = bourse.operator();
  }

  @AfterEach
  void stop() {
    bourse.close();
  }

  static JsonObject minted(ApiClient by, String name) {
    HttpAnswer answer = by.post(OPERATORS, new JsonObject().put("name", name));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  static HttpAnswer revoke(ApiClient by, JsonObject token) {
    return by.delete(OPERATORS + "/" + token.getString("token_id"));
  }

  private JsonObject firstToken() {
    return ClusterClient.objects(first.get(OPERATORS).ok().getJsonArray("operators")).stream()
        .filter(token -> token.getString("name").equals("first"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aMintedOperatorActsUnderTheirName() {
    JsonObject dana = minted(first, "dana");
    ApiClient caller = bourse.with(dana.getString("token"));
    assertEquals(201, caller.post("/api/operator/orgs", OrgApiFixture.org("danas")).status());
    assertEquals("operator:dana", bourse.audit("danas", false).get(0).actor());
    AuditRow row = bourse.audit("", false).get(1);
    assertEquals(
        List.of(
            "operator:first",
            "operator_mint",
            "token_id=" + dana.getString("token_id") + " name=dana"),
        List.of(row.actor(), row.action(), row.detail()));
    assertEquals("system:start", bourse.audit("", false).get(0).actor());
  }

  /** Rows of every kind: a row of its own, one selected from others, one without detail. */
  @Test
  void everyRowThatAnOperatorCausesNamesTheToken() {
    JsonObject dana = minted(first, "dana");
    ApiClient caller = bourse.with(dana.getString("token"));
    caller.post("/api/operator/orgs", OrgApiFixture.org("danas")).json();
    caller.delete("/api/operator/orgs/danas").ok();
    JsonObject erin = minted(caller, "erin");
    revoke(caller, erin).ok();
    List<String> details =
        RunningBourse.await(
            bourse
                .database()
                .read(
                    "SELECT detail FROM audit WHERE actor = 'operator:dana' ORDER BY id",
                    List.of(),
                    row -> row.text("detail")));
    String own = "operator_token=" + dana.getString("token_id");
    assertEquals(4, details.size(), details.toString());
    details.forEach(detail -> assertTrue(detail.endsWith(own), detail));
    assertTrue(details.contains(own), details.toString());
    JsonObject told =
        caller.get("/api/operator/activity?limit=1").ok().getJsonArray("entries").getJsonObject(0);
    assertTrue(told.getString("detail").endsWith(" " + own), told.encode());
  }

  @Test
  void noTwoOperatorsEverHaveOneName() {
    JsonObject dana = minted(first, "dana");
    for (int i = 0; i < 2; i++) {
      JsonObject refusal =
          first.post(OPERATORS, new JsonObject().put("name", "dana")).refused(ErrorCode.CONFLICT);
      assertEquals("exists", refusal.getString("reason"));
      assertTrue(refusal.getString("detail").startsWith("name: dana "), refusal.encode());
      if (i == 0) {
        revoke(first, dana).ok();
      }
    }
  }

  @Test
  void theFirstTokenExpiresAndAStartMakesAnotherOnceNobodyIsLeft() {
    SteppingClock clock = SteppingClock.midMonth();
    RunningBourse early = RunningBourse.demo(clock);
    RunningBourse again = null;
    try {
      long day = Duration.ofDays(1).toMillis();
      clock.step(89 * day);
      early.operator().get(OPERATORS).ok();
      clock.step(day);
      early.operator().get(OPERATORS).refused(ErrorCode.UNAUTHORIZED);
      again = early.restarted();
      List<String> names =
          ClusterClient.objects(again.operator().get(OPERATORS).ok().getJsonArray("operators"))
              .stream()
              .map(token -> token.getString("name") + ' ' + (token.getValue("expires_at") != null))
              .sorted()
              .toList();
      assertEquals(List.of("first true", "first-2 true"), names);
    } finally {
      (again == null ? early : again).close();
    }
  }

  /** A replica's folder keeps the old token, and a restored one contains none. */
  @Test
  void aStartTellsTheNewestSharedTokenThatIsLiveInThePlaceOfOneThatIsNot() throws IOException {
    String key = "secret.key=" + "0123456789abcdef".repeat(4);
    RunningBourse service = RunningBourse.demo(key);
    try {
      String old = service.operatorToken();
      service = service.restartedWith(key, "access.mint-operator=true");
      String next = service.operatorToken();
      JsonObject dana = minted(service.operator(), "dana");
      revoke(service.operator(), token(service, "first")).ok();

      tell(service, old);
      service = service.restartedWith(key);
      assertEquals(next, service.operatorToken());

      tell(service, dana.getString("token"));
      service = service.restartedWith(key);
      assertEquals(dana.getString("token"), service.operatorToken());

      minted(service.operator(), "erin");
      revoke(service.operator(), token(service, "first-2")).ok();
      tell(service, null);
      service = service.restartedWith(key);
      assertNull(told(service).getString("operator_token"), "all that is shared is revoked");

      service = service.restartedWith(key, "access.mint-operator=true");
      revoke(service.operator(), dana).ok();
      tell(service, dana.getString("token"));
      service = service.restartedWith(key);
      assertEquals(dana.getString("token"), service.operatorToken(), "an operator put it there");
    } finally {
      service.close();
    }
  }

  @Test
  void aStartThatFindsAsManyTokensAsMayBeLiveMintsNone() throws IOException {
    for (int i = 1; i < OperatorTokenService.MAX_LIVE; i++) {
      minted(first, "t" + i);
    }
    JsonObject before = told(bourse);
    bourse = bourse.restartedWith("access.mint-operator=true");
    assertEquals(before.getString("operator_token"), told(bourse).getString("operator_token"));
    assertEquals(
        List.of((long) OperatorTokenService.MAX_LIVE),
        await(
            bourse
                .database()
                .read(
                    "SELECT COUNT(*) AS counted FROM operator_token",
                    List.of(),
                    row -> row.integer("counted"))));
    revoke(bourse.operator(), token(bourse, "t1")).ok();
    bourse = bourse.restartedWith("access.mint-operator=true");
    assertNotEquals(before.getString("operator_token"), bourse.operatorToken());
    bourse.operator().get(OPERATORS).ok();
  }

  private static JsonObject token(RunningBourse service, String name) {
    return new JsonObject()
        .put(
            "token_id",
            await(
                    service
                        .database()
                        .read(
                            "SELECT token_id FROM operator_token WHERE name = ?",
                            List.of(name),
                            row -> row.text("token_id")))
                .get(0));
  }

  private static JsonObject told(RunningBourse service) throws IOException {
    return new JsonObject(Files.readString(service.data().resolve("operator.json")));
  }

  private static void tell(RunningBourse service, @Nullable String token) throws IOException {
    JsonObject content = told(service);
    content.remove("operator_token");
    Files.writeString(
        service.data().resolve("operator.json"),
        (token == null ? content : content.put("operator_token", token)).encode());
  }

  @Test
  void tokensAreListedPageByPageWithoutTheirSecrets() {
    minted(first, "dana");
    revoke(first, minted(first, "erin")).ok();
    JsonObject page = first.get(OPERATORS + "?limit=2").ok();
    assertTrue(page.getBoolean("more"));
    String last = page.getJsonArray("operators").getJsonObject(1).getString("token_id");
    assertEquals(1, first.get(OPERATORS + "?after=" + last).ok().getJsonArray("operators").size());
  }

  @Test
  void aBadOrderIsRefusedNamingTheFieldAndItsValue() {
    for (String name : List.of("", "Dana", "a b", "a:b", "x".repeat(64))) {
      String refusal =
          first
              .post(OPERATORS, new JsonObject().put("name", name))
              .refused(ErrorCode.BAD_REQUEST)
              .getString("detail");
      assertTrue(refusal.startsWith("name: "), refusal);
    }
    String refusal =
        first
            .post(
                OPERATORS,
                new JsonObject().put("name", "dana").put("expires_at", "2020-01-01T00:00:00Z"))
            .refused(ErrorCode.BAD_REQUEST)
            .getString("detail");
    assertTrue(refusal.startsWith("expires_at: 2020"), refusal);
  }

  @Test
  void aRevokedOperatorIsRefusedAtOnce() {
    JsonObject dana = minted(first, "dana");
    ApiClient caller = bourse.with(dana.getString("token"));
    caller.get(OPERATORS).ok();
    revoke(first, dana).ok();
    caller.get(OPERATORS).refused(ErrorCode.UNAUTHORIZED);
    revoke(first, dana).refused(ErrorCode.NOT_FOUND);
    List<AuditRow> rows = bourse.audit("", false);
    AuditRow last = rows.get(rows.size() - 1);
    assertEquals(
        "operator_revoke token_id=" + dana.getString("token_id") + " name=dana",
        last.action() + " " + last.detail());
  }

  @Test
  void theLastLiveTokenIsNotRevoked() {
    assertEquals(
        "last", revoke(first, firstToken()).refused(ErrorCode.CONFLICT).getString("reason"));
    JsonObject dana = minted(first, "dana");
    revoke(first, firstToken()).ok();
    ApiClient caller = bourse.with(dana.getString("token"));
    assertEquals("last", revoke(caller, dana).refused(ErrorCode.CONFLICT).getString("reason"));
  }

  @Test
  void anExpiredTokenIsNobodyLeft() {
    AtomicLong lifetime = new AtomicLong(700);
    HttpAnswer brief =
        Polls.until(
            "it is minted before it expires",
            () ->
                first.post(
                    OPERATORS,
                    new JsonObject()
                        .put("name", "brief")
                        .put(
                            "expires_at",
                            Instant.now().plusMillis(lifetime.getAndAdd(700)).toString())),
            answer -> answer.status() == 201);
    ApiClient caller = bourse.with(brief.json().getString("token"));
    until("it expires", () -> caller.get(OPERATORS).status() == 401);
    assertEquals(
        "last", revoke(first, firstToken()).refused(ErrorCode.CONFLICT).getString("reason"));
  }

  /** Two tokens revoke themselves at the same time: one is revoked, the other one stays. */
  @Test
  void racingRevokesLeaveOne() throws Exception {
    assertRacingRevokesLeaveOne(bourse, bourse);
  }

  public static void assertRacingRevokesLeaveOne(RunningBourse here, RunningBourse there)
      throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      ApiClient staying = here.operator();
      JsonObject mine =
          ClusterClient.objects(staying.get(OPERATORS).ok().getJsonArray("operators")).stream()
              .filter(token -> token.getValue("revoked_at") == null)
              .filter(token -> staying.actor().endsWith(token.getString("token_id")))
              .findFirst()
              .orElseThrow();
      for (JsonObject other :
          ClusterClient.objects(staying.get(OPERATORS).ok().getJsonArray("operators"))) {
        if (other.getValue("revoked_at") == null
            && !other.getString("token_id").equals(mine.getString("token_id"))) {
          revoke(staying, other);
        }
      }
      for (int round = 0; round < 15; round++) {
        JsonObject rival = minted(staying, "rival-" + round);
        ApiClient other = there.with(rival.getString("token"));
        RunningBourse.until("it is known", () -> other.get(OPERATORS).status() == 200);
        CyclicBarrier start = new CyclicBarrier(2);
        Future<Integer> a = threads.submit(() -> race(start, staying, mine));
        Future<Integer> b = threads.submit(() -> race(start, other, rival));
        int mineGot = a.get(60, TimeUnit.SECONDS);
        int rivalGot = b.get(60, TimeUnit.SECONDS);
        assertEquals(609, mineGot + rivalGot, mineGot + " and " + rivalGot);
        assertEquals(
            List.of(1L),
            await(
                here.database()
                    .read(
                        "SELECT COUNT(*) AS counted FROM operator_token WHERE revoked_at IS NULL",
                        List.of(),
                        row -> row.integer("counted"))));
        if (mineGot == 200) {
          return;
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static int race(CyclicBarrier start, ApiClient by, JsonObject token) throws Exception {
    start.await(60, TimeUnit.SECONDS);
    return revoke(by, token).status();
  }
}
