package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Secrets;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ContractCase;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every operation open to browser sessions refuses calls by pages of other sites. */
@OneEngine("who may call is told before the store; ContractCoverageTest calls all on each")
class SessionCoverageTest {
  private static final String CSRF = "X-CSRF-Token";

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** The rule on each operation open to sessions, as a test of its own. */
  private static Stream<DynamicTest> each(
      Predicate<ContractCase> which, Consumer<ContractCase> rule) {
    return ContractCase.ALL.stream()
        .filter(SessionCoverageTest::takesSession)
        .filter(which)
        .map(call -> DynamicTest.dynamicTest(call.operationId(), () -> rule.accept(call)));
  }

  /**
   * The first operation of each combination of schemes and method, which determine the check of
   * sessions.
   */
  private static final Set<String> EXAMPLES =
      Set.copyOf(
          ContractCase.ALL.stream()
              .filter(SessionCoverageTest::takesSession)
              .collect(
                  Collectors.toMap(
                      call -> call.described().schemes() + call.described().method(),
                      ContractCase::operationId,
                      (first, next) -> first))
              .values());

  private static boolean isExample(ContractCase call) {
    return EXAMPLES.contains(call.operationId());
  }

  private static boolean takesSession(ContractCase call) {
    return call.isForSessions() || call.isForOperatorSessions();
  }

  private static boolean isWrite(ContractCase call) {
    return !call.described().method().equals("GET");
  }

  /** The call with a session's cookie and further headers. */
  private static HttpAnswer send(ContractCase call, String secret, String... headers) {
    ApiClient browser =
        new ApiClient(bourse.service().baseUrl(), null, "Cookie", cookie(call) + '=' + secret);
    return send(browser, call, headers);
  }

  private static HttpAnswer send(ApiClient caller, ContractCase call, String... headers) {
    if (call.body() == null) {
      return caller.send(call.described().method(), call.path(), null, headers);
    }
    String[] all = List.of(headers).toArray(new String[headers.length + 2]);
    all[headers.length] = "Content-Type";
    all[headers.length + 1] = "application/json";
    return caller.send(call.described().method(), call.path(), call.body(), all);
  }

  private static String cookie(ContractCase call) {
    return call.isForOperatorSessions() ? "bourse-operator" : "bourse";
  }

  /**
   * The secret of a new session for the operation's kind of caller: alice, or the first operator.
   */
  private static String signIn(ContractCase call) {
    return call.isForOperatorSessions()
        ? bourse.startOperatorSession()
        : bourse.startSession("acme", "alice");
  }

  /** A browser with this session and its pages' headers. */
  private static ApiClient browser(ContractCase call, String secret) {
    return call.isForOperatorSessions()
        ? bourse.inOperatorSession(secret)
        : bourse.inSession(secret);
  }

  private static String csrf(String secret) {
    return Secrets.derived(secret, "csrf");
  }

  /** All writes so far except sign-ins, from the trails. */
  private static List<String> done() {
    return RunningBourse.await(
        bourse
            .database()
            .read(
                "SELECT action FROM audit WHERE is_read = ? AND action <> 'operator_sign_in'"
                    + " AND (actor = 'member:alice' OR actor LIKE 'operator:%')",
                List.of(false), row -> row.text("action")));
  }

  @TestFactory
  Stream<DynamicTest> aSessionReadsWhatTheMemberMay() {
    return each(
        call -> !isWrite(call),
        call -> {
          HttpAnswer answer = send(browser(call, signIn(call)), call);
          assertNotEquals(401, answer.status());
          assertNotEquals(403, answer.status());
        });
  }

  @TestFactory
  Stream<DynamicTest> withoutItsTokenASessionOnlyReads() {
    return each(
        SessionCoverageTest::isWrite,
        call -> {
          List<String> before = done();
          String secret = signIn(call);
          refused(send(call, secret), CSRF + " is missing");
          refused(send(call, secret, CSRF, csrf(signIn(call))), CSRF + " is another's");
          refused(send(call, secret, CSRF, ""), CSRF + " is another's");
          assertEquals(before, done());
        });
  }

  @TestFactory
  Stream<DynamicTest> noOtherSitesPageWritesWithASession() {
    return each(
        call -> isExample(call) && isWrite(call),
        call -> {
          List<String> before = done();
          String secret = signIn(call);
          String token = csrf(secret);
          for (String origin : List.of("https://evil.example", "null", "http://localhost:1")) {
            refused(send(call, secret, CSRF, token, "Origin", origin), "Origin " + origin);
          }
          for (String site : List.of("cross-site", "same-site", "none")) {
            refused(
                send(call, secret, CSRF, token, "Sec-Fetch-Site", site),
                "Sec-Fetch-Site is " + site);
          }
          assertEquals(before, done());
        });
  }

  private static void refused(HttpAnswer answer, String detail) {
    JsonObject refusal = answer.refused(ErrorCode.FORBIDDEN);
    assertTrue(refusal.getString("detail").startsWith(detail), refusal.encode());
  }

  @TestFactory
  Stream<DynamicTest> anOwnPageWritesWithASession() {
    return each(
        SessionCoverageTest::isWrite,
        call -> {
          String secret = signIn(call);
          HttpAnswer answer =
              send(
                  call,
                  secret,
                  CSRF,
                  csrf(secret),
                  "Origin",
                  bourse.service().baseUrl(),
                  "Sec-Fetch-Site",
                  "same-origin");
          assertNotEquals(401, answer.status());
          assertNotEquals(403, answer.status());
        });
  }

  @TestFactory
  Stream<DynamicTest> aSessionThatEndedLetsNobodyIn() {
    return each(
        SessionCoverageTest::isExample,
        call -> {
          String secret = signIn(call);
          RunningBourse.await(
              bourse
                  .database()
                  .commit(
                      List.of(
                          Statement.of(
                              "DELETE FROM %s WHERE session_sha256 = ?"
                                  .formatted(
                                      call.isForOperatorSessions()
                                          ? "operator_session"
                                          : "member_session"),
                              Secrets.stored(secret)))));
          JsonObject refusal = send(browser(call, secret), call).refused(ErrorCode.UNAUTHORIZED);
          assertEquals("the session has ended; sign in again", refusal.getString("detail"));
        });
  }

  /** A page with a token must not act as the browser's signed-in user. */
  @TestFactory
  Stream<DynamicTest> anAuthorizationHeaderGoesBeforeTheCookie() {
    return each(
        SessionCoverageTest::isExample,
        call -> {
          String secret = signIn(call);
          for (String header : List.of("Bearer nonsense", "Basic YTpi", "")) {
            send(browser(call, secret), call, "Authorization", header)
                .refused(ErrorCode.UNAUTHORIZED);
          }
          send(
                  browser(call, secret),
                  call,
                  "Authorization",
                  "Bearer "
                      + (call.isForOperatorSessions()
                          ? bourse.secret("acme", "orgwide")
                          : bourse.operatorToken()))
              .refused(ErrorCode.UNAUTHORIZED);
        });
  }

  /** Another host of the same site may have set one of them, and they cannot be distinguished. */
  @TestFactory
  Stream<DynamicTest> aCookieThatStandsTwiceIsNone() {
    return each(
        SessionCoverageTest::isExample,
        call -> {
          String secret = signIn(call);
          for (String other : List.of(secret, signIn(call), "")) {
            ApiClient browser =
                new ApiClient(
                    bourse.service().baseUrl(),
                    null,
                    "Cookie",
                    "%1$s=%2$s; %1$s=%3$s".formatted(cookie(call), secret, other),
                    CSRF,
                    csrf(secret));
            send(browser, call).refused(ErrorCode.UNAUTHORIZED);
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> whatTakesNoSessionTakesNoCookie() {
    return ContractCase.ALL.stream()
        .filter(call -> !call.isForAnybody())
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () -> {
                      if (!call.isForSessions()) {
                        send(bourse.inSession("acme", "alice"), call)
                            .refused(ErrorCode.UNAUTHORIZED);
                      }
                      if (!call.isForOperatorSessions()) {
                        send(bourse.inOperatorSession(), call).refused(ErrorCode.UNAUTHORIZED);
                      }
                    }));
  }

  @Test
  void aTokensCallNeedsNothingOfASession() {
    ApiClient token = bourse.as("acme", "orgwide");
    JsonObject declaration =
        new JsonObject()
            .put("max_gpus", 0)
            .put("max_price_per_gpu_hour", 2)
            .put("expected_version", 0)
            .put("cluster", "acme-train");
    assertEquals(
        200,
        token
            .send(
                "POST",
                "/api/vm/capacity/preview",
                declaration.encode(),
                "Content-Type",
                "application/json",
                "Origin",
                "https://pages.example",
                "Sec-Fetch-Site",
                "cross-site")
            .status());
  }

  @Test
  void noPathThatPagesOfAnyOriginReadTakesASession() {
    MarkedPaths open =
        new MarkedPaths(
            Contract.SERVED.stream().map(Contract::load).toList(), MarkedPaths.ANY_ORIGIN);
    ContractCase.ALL.stream()
        .filter(SessionCoverageTest::takesSession)
        .forEach(call -> assertFalse(open.has(call.path().replaceAll("\\?.*", "")), call.path()));
  }
}
