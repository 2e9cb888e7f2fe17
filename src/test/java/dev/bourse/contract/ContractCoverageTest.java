package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ContractCase;
import dev.bourse.testing.ContractCheck;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.ErrorExample;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every operation of every contract refuses the callers it must. */
@EachEngine
class ContractCoverageTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    RunningBourse.await(
        bourse
            .database()
            .commit(
                List.of(
                    Statement.of(
                        "INSERT INTO token (token_id, org_id, name, secret_sha256, scopes,"
                            + " created_by, created_at) VALUES ('globex-token', 'globex', 'x', '',"
                            + " '', 'member:dave', 1)"),
                    Statement.of(
                        "INSERT INTO join_rule (rule_id, org_id, kind, value, created_at,"
                            + " created_by) VALUES ('jr_globex', 'globex', 'email', 'e@f.example',"
                            + " 1, 'member:dave')"))));
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** A caller with all permissions of the operation's kind of callers. */
  private static ApiClient permitted(ContractCase call) {
    if (call.isForSessions() && !call.described().schemes().contains(Principal.SCHEME)) {
      return bourse.inSession("acme", "alice");
    }
    if (call.isForNodes()) {
      return bourse.with(bourse.nodeCredential("acme-legacy"));
    }
    if (call.isForOperatorSessions()) {
      return bourse.inOperatorSession();
    }
    if (call.isForMembersOnly()) {
      return bourse.asMember("acme", "alice");
    }
    if (call.described().schemes().contains(Principal.MCP_SCHEME)) {
      return allowed(EnumSet.allOf(Scope.class));
    }
    return bourse.as("acme", "orgwide");
  }

  private static HttpAnswer send(
      ApiClient caller, ContractCase call, String path, @Nullable String body) {
    String method = call.described().method();
    return body == null
        ? caller.send(method, path, null)
        : caller.send(method, path, body, "Content-Type", "application/json");
  }

  /** The rule on each of these calls, as a test of its own. */
  private static Stream<DynamicTest> each(
      Predicate<ContractCase> which, Consumer<ContractCase> rule) {
    return ContractCase.ALL.stream()
        .filter(which)
        .map(call -> DynamicTest.dynamicTest(call.operationId(), () -> rule.accept(call)));
  }

  /** Whether ErrorExamplesApiTest provokes this refusal of the operation. */
  private static boolean isProvoked(int status, ContractCase call) {
    Set<String> schemes = call.described().schemes();
    boolean isForSessionsAlone =
        schemes.equals(Set.of(Principal.SESSION_SCHEME))
            || schemes.equals(Set.of(Operator.SESSION_SCHEME));
    return !isForSessionsAlone
        && ErrorExample.answers().stream()
            .anyMatch(a -> a.status() == status && a.operationId().equals(call.operationId()));
  }

  @Test
  void theTableNamesEveryOperation() {
    TreeSet<String> tested = new TreeSet<>();
    ContractCase.ALL.forEach(c -> tested.add(c.operationId()));
    TreeSet<String> described = new TreeSet<>();
    ContractCheck.operations().forEach(o -> described.add(o.operationId()));
    assertEquals(described, tested);
  }

  @Test
  void anAnswerOffTheContractIsNoticed() {
    JsonObject feed = bourse.as("acme", "bare").get("/api/market/feed").ok();
    JsonObject extra = feed.copy();
    extra.getJsonArray("pools").getJsonObject(0).put("surprise", 1);
    JsonObject lacking = feed.copy();
    lacking.getJsonArray("pools").getJsonObject(0).remove("tick_at");
    JsonObject mistyped = feed.copy();
    mistyped.getJsonArray("pools").getJsonObject(0).put("tick_at", "yesterday");
    for (JsonObject answer : List.of(extra, lacking, mistyped, new JsonObject())) {
      assertThrows(
          AssertionError.class,
          () -> ContractCheck.check("GET", "/api/market/feed", 200, answer),
          answer::encode);
    }
    JsonObject error = new JsonObject().put("error", "not-found");
    assertThrows(
        AssertionError.class, () -> ContractCheck.check("GET", "/api/market/feed", 404, error));
  }

  @TestFactory
  @OneEngine("a caller without credentials is refused before the store")
  Stream<DynamicTest> anOperationThatHasNoExampleOfA401AnswersNobody() {
    return each(
        call -> !call.isForAnybody() && !isProvoked(401, call),
        call ->
            send(bourse.with(null), call, call.path(), call.body())
                .refused(ErrorCode.UNAUTHORIZED));
  }

  @TestFactory
  Stream<DynamicTest> anOperationRefusesCallersOfAnotherKind() {
    return each(
        call -> !call.isForAnybody(),
        call ->
            send(
                    call.isForOperators() ? bourse.as("acme", "orgwide") : bourse.operator(),
                    call,
                    call.path(),
                    call.body())
                .refused(ErrorCode.UNAUTHORIZED));
  }

  @TestFactory
  Stream<DynamicTest> anOperationDemandsItsScopeAndNoOther() {
    return each(
        call -> !call.isForOperators() && !call.isForMembersOnly(),
        call -> {
          HttpAnswer bare = send(bourse.as("acme", "bare"), call, call.path(), call.body());
          HttpAnswer reader = send(bourse.as("acme", "readonly"), call, call.path(), call.body());
          String scope = call.described().scope().orElse("");
          if (scope.isEmpty()) {
            assertNotEquals(403, bare.status());
          } else {
            bare.refused(ErrorCode.FORBIDDEN);
          }
          if (!scope.isEmpty() && !scope.equals("capacity:read")) {
            reader.refused(ErrorCode.FORBIDDEN);
          } else {
            assertNotEquals(403, reader.status());
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> aMembersTokenDoesWhatItsScopesAllowAndNothingElse() {
    return each(
        ContractCase::isForMembers,
        call -> {
          Scope needed = Scope.find(call.described().memberScope().orElseThrow()).orElseThrow();
          JsonObject refusal =
              send(
                      allowed(EnumSet.complementOf(EnumSet.of(needed))),
                      call,
                      call.path(),
                      call.body())
                  .refused(ErrorCode.FORBIDDEN);
          assertTrue(refusal.getString("detail").contains(needed.label()), refusal.encode());
          HttpAnswer enough = send(allowed(EnumSet.of(needed)), call, call.path(), call.body());
          assertNotEquals(403, enough.status());
          assertNotEquals(401, enough.status());
        });
  }

  /** A member of acme whose token has these scopes. */
  private static ApiClient allowed(Set<Scope> scopes) {
    return bourse.with(McpClient.token(bourse, "acme", "alice", scopes));
  }

  @TestFactory
  Stream<DynamicTest> whatMembersDoInPersonNoTokenDoes() {
    return each(
        call -> call.isForMembersOnly(),
        call ->
            send(bourse.as("acme", "orgwide"), call, call.path(), call.body())
                .refused(call.isForTokens() ? ErrorCode.FORBIDDEN : ErrorCode.UNAUTHORIZED));
  }

  @TestFactory
  Stream<DynamicTest> whatIsAnothersIsNotFound() {
    return each(
        call -> !call.foreign().isEmpty(),
        call -> {
          List<String> foreign = call.foreign();
          String body = foreign.size() > 1 ? foreign.get(1) : null;
          JsonObject refusal =
              send(permitted(call), call, foreign.get(0), body).refused(ErrorCode.NOT_FOUND);
          HttpAnswer unknown =
              send(
                  permitted(call),
                  call,
                  foreign.get(0).replace("globex", "nobody"),
                  body == null ? null : body.replace("globex", "nobody"));
          assertEquals(
              refusal.encode().replace("globex", "nobody"),
              unknown.refused(ErrorCode.NOT_FOUND).encode());
        });
  }

  @TestFactory
  @OneEngine("parameters are checked before the store")
  Stream<DynamicTest> anOperationThatHasNoExampleOfA422RefusesUnknownQueryParameters() {
    return each(
        call -> !call.isTolerant() && !isProvoked(422, call),
        call ->
            send(
                    permitted(call),
                    call,
                    call.path() + (call.path().contains("?") ? "&" : "?") + "x=1",
                    call.body())
                .refused(ErrorCode.BAD_REQUEST));
  }

  @TestFactory
  @OneEngine("methods are checked before the store")
  Stream<DynamicTest> everyPathNamesItsMethodsToTheWrongOne() {
    return each(
        call -> ofPath(call).get(0).equals(call),
        call -> {
          HttpAnswer answer = permitted(call).send("PURGE", call.path(), null);
          answer.refused(ErrorCode.METHOD_NOT_ALLOWED);
          String allowed = answer.header("allow");
          for (ContractCase other : ofPath(call)) {
            assertTrue(allowed.contains(other.described().method()), allowed);
          }
        });
  }

  /** Returns the operations of the path of a call. */
  private static List<ContractCase> ofPath(ContractCase call) {
    return ContractCase.ALL.stream()
        .filter(other -> other.described().path().equals(call.described().path()))
        .toList();
  }
}
