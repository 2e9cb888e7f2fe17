package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Secrets;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ContractCase;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A read-only operator can make all reads of operators, and no writes. */
@ReplayedOnPostgres
class ReadOnlyOperatorTest {
  private static RunningBourse bourse;
  private static JsonObject token;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    token = minted("looker", true);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject minted(String name, boolean readOnly) {
    HttpAnswer answer =
        bourse
            .operator()
            .post(
                "/api/operator/operators",
                new JsonObject().put("name", name).put("read_only", readOnly));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  private static ApiClient looker() {
    return bourse.with(token.getString("token"));
  }

  /** The secret of a new session of the read-only operator. */
  private static String signIn() {
    HttpAnswer answer = bourse.signInOperator(token.getString("token"));
    assertEquals(true, answer.ok().getBoolean("read_only"));
    return RunningBourse.sessionSecret(answer);
  }

  private static long writes() {
    return RunningBourse.await(
        bourse
            .database()
            .readOne(
                "SELECT COUNT(*) AS n FROM audit WHERE is_read = 0 AND actor = ?",
                List.of("operator:looker"),
                row -> row.integer("n")));
  }

  @TestFactory
  Stream<DynamicTest> everyReadIsAnsweredAndEveryWriteRefusedByTokenAndSession() {
    ApiClient session = bourse.inOperatorSession(signIn());
    long before = writes();
    List<ContractCase> calls =
        ContractCase.ALL.stream().filter(ContractCase::isForOperators).toList();
    assertTrue(calls.size() > 60, "there are as many");
    return calls.stream()
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () -> {
                      for (ApiClient caller : List.of(looker(), session)) {
                        HttpAnswer answer = call.sentBy(caller);
                        if (call.described().method().equals("GET")) {
                          assertNotEquals(401, answer.status());
                          assertNotEquals(403, answer.status());
                        } else {
                          assertEquals(
                              "operator:looker is read-only; %s takes an operator's token that is not"
                                  .formatted(call.operationId()),
                              answer.refused(ErrorCode.FORBIDDEN).getString("detail"));
                        }
                      }
                      assertEquals(before, writes());
                    }));
  }

  @Test
  void aSessionOfOneEndsByItsOwnWord() {
    String secret = signIn();
    ApiClient session =
        new ApiClient(
            bourse.service().baseUrl(),
            null,
            "Cookie",
            "bourse-operator=" + secret,
            "X-CSRF-Token",
            Secrets.derived(secret, "csrf"));
    session.delete("/api/operator/session").ok();
    session.get("/api/operator/session").refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void itIsListedAsSuchAndMintsNoOther() {
    assertEquals(true, token.getBoolean("read_only"));
    JsonObject page = looker().get("/api/operator/operators?limit=500").ok();
    assertTrue(
        page.getJsonArray("operators").stream()
            .map(JsonObject.class::cast)
            .anyMatch(t -> t.getString("name").equals("looker") && t.getBoolean("read_only")));
    looker()
        .post("/api/operator/operators", new JsonObject().put("name", "sly"))
        .refused(ErrorCode.FORBIDDEN);
    assertTrue(
        bourse.audit("", false).stream()
            .anyMatch(
                row ->
                    row.action().equals("operator_mint")
                        && row.detail().endsWith("name=looker read_only=true")));
  }

  @Test
  void theLastTokenThatIsNotReadOnlyStays() {
    JsonObject first =
        bourse
            .operator()
            .get("/api/operator/operators?limit=500")
            .ok()
            .getJsonArray("operators")
            .stream()
            .map(JsonObject.class::cast)
            .filter(t -> t.getString("name").equals("first"))
            .findFirst()
            .orElseThrow();
    JsonObject refusal =
        bourse
            .operator()
            .delete("/api/operator/operators/" + first.getString("token_id"))
            .refused(ErrorCode.CONFLICT);
    assertEquals("last", refusal.getString("reason"));
  }
}
