package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ContractCase;
import dev.bourse.testing.ContractCheck;
import dev.bourse.testing.ErrorExample;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The service answers errors as the contracts' examples show. For 408, 500 and 503, which do not
 * depend on the operation, HostileTest, EdgeTest and the tests of outages check one answer for all.
 */
@OneEngine(
    "what a refusal says is decided before a store is asked, or by what all tests ask of both")
class ErrorExamplesApiTest {
  private static final String JSON = OperationContract.JSON;

  /** Operations where only the whole family of checkpoints can be missing. */
  private static final Pattern FAMILY = Pattern.compile("^/api/checkpoints(?!/public/.)|^/upload/");

  private static final Set<String> OFF =
      Set.of(
          "showFeed",
          "showInstall",
          "listReviews",
          "listDocuments",
          "scrubCheckpoints",
          "trackCheckpointsMove",
          "moveCheckpoints",
          "publishDocument");

  /**
   * Answers that take more than one call and are tested elsewhere: foreign and stale forms
   * (SignInPagesApiTest, ConsentPageApiTest), an identity provider's answers
   * (ProviderSignInApiTest), a session's (the tests of sessions), lost or mismatched bytes
   * (UploadApiTest, ChunkedUploadApiTest), decided reviews (ReviewApiTest), clusters retired by
   * members (SelfServiceApiTest), an operator's last token (OperatorTokenAdminApiTest) and jobs
   * without their conditions (JobApiTest).
   */
  private static final Set<String> ELSEWHERE =
      Set.of(
          "403 requestSignInLink",
          "403 useSignInLink",
          "403 endProviderSignIn",
          "403 disconnectApplication",
          "403 narrowApplication",
          "403 signOut",
          "403 signOutEverywhere",
          "403 decideConsent",
          "403 decideDevice",
          "422 endProviderSignIn",
          "422 showDevice",
          "422 showFeedItem",
          "409 updateCluster",
          "409 readCheckpointContent",
          "409 putUpload",
          "409 putUploadFile",
          "409 readCheckpointFile",
          "409 readCheckpointReadme",
          "409 approveReview",
          "409 rejectReview",
          "409 downloadReview",
          "409 fetchReviewFile",
          "409 mintOperator",
          "409 revokeOperator",
          "409 runJob");

  private static RunningBourse bourse;
  private static ApiClient ofAnotherSite;
  private static RunningBourse withoutCheckpoints;
  private static RunningBourse ofTokens;
  private static RunningBourse ofAddresses;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    withoutCheckpoints = RunningBourse.demo("checkpoints.enabled=false", "install.enabled=false");
    ofTokens = RunningBourse.demo("limits.requests-per-minute=1");
    ofAddresses = RunningBourse.demo("limits.edge-per-minute=1");
    ApiClient operator = bourse.operator();
    JsonObject leavers =
        new JsonObject().put("org_id", "leavers").put("display", "L").put("kind", "standard");
    operator.post("/api/operator/orgs", leavers);
    operator.delete("/api/operator/orgs/leavers").ok();
    JsonObject second =
        new JsonObject()
            .put("name", "acme-k8s-dev")
            .put("org", "acme")
            .put("pool", "demo-h100")
            .put("kind", "k8s");
    operator.post("/api/operator/clusters", second);
    operator.delete("/api/operator/nodes/demo-h100-00016").ok();
    JsonObject crew = new JsonObject().put("name", "crew").put("site", "north");
    ofAnotherSite =
        bourse.with(operator.post("/api/operator/operators", crew).json().getString("token"));
  }

  @AfterAll
  static void stop() {
    bourse.close();
    withoutCheckpoints.close();
    ofTokens.close();
    ofAddresses.close();
  }

  private static ApiClient permitted(ContractCase call) {
    if (call.isForMembersOnly()) {
      return bourse.asMember("acme", "alice");
    }
    if (call.isForNodes()) {
      return bourse.with(bourse.nodeCredential("acme-legacy"));
    }
    if (isInPerson(call)) {
      return bourse.with(McpClient.token(bourse, "acme", "alice", EnumSet.allOf(Scope.class)));
    }
    return call.isForOperators() ? bourse.operator() : bourse.as("acme", "orgwide");
  }

  /** Whether it accepts no token of an organization or an operator. */
  private static boolean isInPerson(ContractCase call) {
    return !call.isForAnybody()
        && !call.isForOperators()
        && !call.described().schemes().contains(Principal.SCHEME);
  }

  /** A valid token for such a caller. */
  private static String token(RunningBourse place, ContractCase call) {
    if (call.isForNodes()) {
      return place.nodeCredential("acme-legacy");
    }
    if (isInPerson(call)) {
      return McpClient.token(place, "acme", "alice", EnumSet.allOf(Scope.class));
    }
    return call.isForOperators()
        ? place.operatorToken()
        : call.isForMembersOnly()
            ? place.memberToken("acme", "alice")
            : place.secret("acme", "orgwide");
  }

  private static HttpAnswer send(
      ApiClient caller, ContractCase call, String path, @Nullable String body, String... headers) {
    String method = call.described().method();
    if (body == null) {
      return caller.send(method, path, null, headers);
    }
    String[] all =
        Stream.concat(Stream.of("Content-Type", JSON), Stream.of(headers)).toArray(String[]::new);
    return caller.send(method, path, body, all);
  }

  /** A test for each operation that is made to answer this status. */
  private static Stream<DynamicTest> each(
      int status, Map<String, Provocation> own, Provocation usual) {
    return ErrorExample.answers().stream()
        .filter(answer -> answer.status() == status)
        .filter(answer -> !ELSEWHERE.contains(status + " " + answer.operationId()))
        .filter(answer -> !isOfSession(answer.operationId()))
        // Conflicts on members and tokens take more than one call; their own tests cover them.
        .filter(answer -> status != 409 || !answer.path().startsWith("/api/console/"))
        .map(
            answer ->
                DynamicTest.dynamicTest(
                    answer.operationId(),
                    () -> {
                      ContractCase call = callOf(answer.operationId());
                      HttpAnswer given = own.getOrDefault(answer.operationId(), usual).on(call);
                      assertEquals(status, given.status(), () -> String.valueOf(given.body()));
                      assertTrue(
                          answer.shows(given.json()),
                          () -> given.json().encode() + " is none of " + answer.examples());
                    }));
  }

  private static ContractCase callOf(String operationId) {
    return ContractCase.ALL.stream()
        .filter(call -> call.operationId().equals(operationId))
        .findFirst()
        .orElseThrow(() -> new AssertionError("ContractCase lacks " + operationId));
  }

  /** Whether it accepts only a browser's session. */
  private static boolean isOfSession(String operationId) {
    return ContractCheck.operations().stream()
        .filter(o -> o.operationId().equals(operationId))
        .allMatch(
            o ->
                o.schemes().equals(Set.of(Principal.SESSION_SCHEME))
                    || o.schemes().equals(Set.of(Operator.SESSION_SCHEME)));
  }

  @FunctionalInterface
  private interface Provocation {
    HttpAnswer on(ContractCase call);
  }

  @TestFactory
  Stream<DynamicTest> withoutATokenItIsUnauthorized() {
    return each(
        401,
        Map.of(
            "issueOAuthToken", call -> form(call, "grant_type=refresh_token&client_id=nobody"),
            "revokeOAuthToken", call -> form(call, "token=x&client_id=nobody"),
            "beginDeviceAuthorization", call -> form(call, "client_id=nobody")),
        call -> send(bourse.with(null), call, call.path(), call.body()));
  }

  private static HttpAnswer form(ContractCase call, String fields) {
    return bourse
        .with(null)
        .send(call.described().method(), call.path(), fields, "Content-Type", Form.TYPE);
  }

  @TestFactory
  Stream<DynamicTest> whatNobodyAcceptsIsNotAcceptable() {
    return each(
        406,
        Map.of(),
        call -> send(permitted(call), call, call.path(), call.body(), "Accept", "image/png"));
  }

  @TestFactory
  Stream<DynamicTest> aBodyThatIsTooLong() {
    return each(
        413,
        Map.of("registerOAuthClient", call -> tooLong(call, JSON)),
        call -> tooLong(call, call.body() == null ? Form.TYPE : JSON));
  }

  private static HttpAnswer tooLong(ContractCase call, String type) {
    return permitted(call)
        .send(call.described().method(), call.path(), "x".repeat(1_100_000), "Content-Type", type);
  }

  @TestFactory
  Stream<DynamicTest> aBodyOfAnotherType() {
    return each(
        415,
        Map.of(
            "writeCheckpointContent",
            call -> otherType(call, announced(call, "x415")),
            "sendDocument",
            call -> otherType(call, announced(call, "x415"))),
        call -> otherType(call, call.path()));
  }

  private static HttpAnswer otherType(ContractCase call, String path) {
    return permitted(call).send(call.described().method(), path, "x", "Content-Type", "text/plain");
  }

  /** The call's path with the id of a file of 8 bytes announced just now. */
  private static String announced(ContractCase call, String name) {
    String family = call.path().replaceAll("/ckp_1.*", "");
    JsonObject file =
        new JsonObject()
            .put("title", name)
            .put("filename", name + '-' + call.operationId())
            .put("content_type", "text/markdown")
            .put("bytes", 8);
    if (call.isForMembers()) {
      file.put("visibility", "org");
    }
    String id = permitted(call).post(family, file).json().getString("id");
    return call.path().replace("ckp_1", id);
  }

  @TestFactory
  Stream<DynamicTest> aParameterThatIsUnknown() {
    return each(
        422,
        Map.of("showFeed", call -> parameter(call, "/feed/?q=a&q=b")),
        call -> parameter(call, call.path() + (call.path().contains("?") ? "&" : "?") + "color=1"));
  }

  private static HttpAnswer parameter(ContractCase call, String path) {
    return send(permitted(call), call, path, call.body());
  }

  @TestFactory
  Stream<DynamicTest> whatIsNotThere() {
    Provocation ofNoOrg = call -> parameter(call, call.path() + "?org=nothing");
    Provocation inNoSession =
        call ->
            permitted(call)
                .send(
                    call.described().method(),
                    call.path(),
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
                    "Content-Type",
                    JSON,
                    "Accept",
                    "application/json, text/event-stream",
                    "Mcp-Session-Id",
                    "nothing");
    return each(
        404,
        Map.of(
            "listPlatformActivity", ofNoOrg,
            "exportPlatformActivityCsv", ofNoOrg,
            "exportPlatformActivityNdjson", ofNoOrg,
            "sendMcpMessage", inNoSession,
            "endMcpSession", inNoSession),
        ErrorExamplesApiTest::absent);
  }

  private static String nothing(String template) {
    if (template.endsWith("{sha256}")) {
      return "1".repeat(64);
    }
    return template.contains("{month}") ? "2020-01" : "nothing";
  }

  /** The call with its last path parameter, or else its item, replaced by a nonexistent one. */
  private static HttpAnswer absent(ContractCase call) {
    if (FAMILY.matcher(call.path()).find() || OFF.contains(call.operationId())) {
      return send(
          withoutCheckpoints.with(token(withoutCheckpoints, call)), call, call.path(), call.body());
    }
    String template = call.described().path();
    Matcher values =
        Pattern.compile(template.replaceAll("\\{[^}]+}", "([^/]+)"))
            .matcher(call.path().replaceAll("\\?.*", ""));
    if (template.contains("{") && values.matches()) {
      // For a pin it is the cluster, because any address is valid.
      int last = values.groupCount() - (template.endsWith("{public_ip}") ? 1 : 0);
      return send(
          permitted(call),
          call,
          call.path().substring(0, values.start(last))
              + nothing(template)
              + call.path().substring(values.end(last)).replaceAll("\\?.*", ""),
          call.body());
    }
    if (!call.foreign().isEmpty()) {
      List<String> foreign = call.foreign();
      return send(
          permitted(call),
          call,
          foreign.get(0).replace("globex", "nobody"),
          foreign.size() > 1 ? foreign.get(1).replace("globex", "nobody") : null);
    }
    return send(permitted(call), call, call.path().replace("demo-h100", "nowhere"), call.body());
  }

  @TestFactory
  Stream<DynamicTest> whatIsGone() {
    Provocation ofNobody =
        call ->
            send(
                permitted(call),
                call,
                call.path(),
                new JsonObject(sent(call)).put("replace", "ckp_1").encode());
    return each(
        410,
        Map.of("publishCheckpoint", ofNobody, "publishCheckpointSet", ofNobody),
        call -> send(permitted(call), call, call.path(), call.body()));
  }

  @TestFactory
  Stream<DynamicTest> whatATokenDoesNotAllow() {
    Provocation foreignOrigin =
        call ->
            send(
                permitted(call),
                call,
                call.path(),
                call.body(),
                "Origin",
                "https://elsewhere.example");
    return each(
        403,
        Map.of(
            "sendMcpMessage", foreignOrigin,
            "endMcpSession", foreignOrigin,
            "startOperatorSession", foreignOrigin),
        call -> {
          if (call.isForOperators() && call.described().method().equals("GET")) {
            String query = call.operationId().equals("findNodes") ? "?site=demo" : "";
            return send(ofAnotherSite, call, call.path() + query, call.body());
          }
          if (call.isForOperators()) {
            String cookie = "bourse-operator=" + bourse.startOperatorSession();
            return send(bourse.with(null), call, call.path(), call.body(), "Cookie", cookie);
          }
          if (call.isForMembersOnly() && call.isForTokens()) {
            return send(bourse.as("acme", "orgwide"), call, call.path(), call.body());
          }
          if (call.described().scope().isEmpty() && call.isForMembers()) {
            String bare = McpClient.token(bourse, "acme", "alice", EnumSet.noneOf(Scope.class));
            return send(bourse.with(bare), call, call.path(), call.body());
          }
          return send(bourse.as("acme", "bare"), call, call.path(), call.body());
        });
  }

  @TestFactory
  Stream<DynamicTest> moreThanABudgetAllows() {
    return each(
        429,
        Map.of(),
        call -> {
          RunningBourse counting = call.isForAnybody() ? ofAddresses : ofTokens;
          @Nullable String token = call.isForAnybody() ? null : token(counting, call);
          HttpAnswer answer = send(counting.with(token), call, call.path(), call.body());
          // The first request of a caller is within the limit.
          return answer.status() == 429
              ? answer
              : send(counting.with(token), call, call.path(), call.body());
        });
  }

  @TestFactory
  Stream<DynamicTest> whatStandsInTheWay() {
    Map<String, Provocation> own = new HashMap<>();
    for (String operation :
        List.of(
            "createOrg",
            "createCluster",
            "createPool",
            "publishDocument",
            "publishCheckpoint",
            "publishCheckpointSet",
            "addNode")) {
      own.put(operation, ErrorExamplesApiTest::twice);
    }
    for (String operation : List.of("writeCheckpointContent", "sendDocument")) {
      own.put(
          operation,
          call ->
              permitted(call)
                  .send(
                      "PUT", announced(call, "x409"), "7 bytes", "Content-Type", "text/markdown"));
    }
    for (String operation : List.of("commitCheckpoint", "commitDocument")) {
      own.put(operation, call -> parameter(call, announced(call, "x409")));
    }
    for (String operation : List.of("creditBilling", "payBilling")) {
      own.put(
          operation,
          call -> {
            send(permitted(call), call, call.path(), call.body());
            String other = sent(call).replace("\"amount_usd\":1", "\"amount_usd\":2");
            return send(permitted(call), call, call.path(), other);
          });
    }
    own.put(
        "declareCapacity",
        call -> {
          String stale = sent(call).replace("\"expected_version\":0", "\"expected_version\":7");
          return send(permitted(call), call, call.path(), stale);
        });
    own.put("writeBid", own.get("declareCapacity"));
    own.put(
        "updatePool",
        call ->
            send(
                permitted(call),
                call,
                call.path(),
                "{\"swaps_enabled\":true,\"expected\":{\"gpu_model\":\"other\"}}"));
    own.put("followEvents", call -> parameter(call, "/api/vm/events"));
    own.put("followK8sEvents", call -> parameter(call, "/api/k8s/events"));
    return each(409, own, ErrorExamplesApiTest::inTheWay);
  }

  /** The call on a retired organization or node, or without one of several clusters. */
  private static HttpAnswer inTheWay(ContractCase call) {
    String path =
        call.path()
            .replaceAll("[?&]cluster=acme-[a-z]+", "")
            .replace("/globex", "/leavers")
            .replace("/demo-h100-00001", "/demo-h100-00016");
    String body = call.body();
    if (Set.of("previewCapacity", "previewBid", "writeAlerts", "writeK8sAlerts")
        .contains(call.operationId())) {
      body = sent(call).replaceAll(",\"cluster\":\"acme-[a-z0-9]+\"", "");
    }
    return send(permitted(call), call, path, body);
  }

  /** The body of a call that has one. */
  private static String sent(ContractCase call) {
    return Objects.requireNonNull(call.body(), call.operationId());
  }

  /** Creates the same unique item twice. */
  private static HttpAnswer twice(ContractCase call) {
    JsonObject body = new JsonObject(sent(call));
    if (call.path().endsWith("/documents")
        || call.path().endsWith("/checkpoints")
        || call.path().endsWith("/sets")) {
      body.put("replace", false);
    }
    send(permitted(call), call, call.path(), body.encode());
    return send(permitted(call), call, call.path(), body.encode());
  }
}
