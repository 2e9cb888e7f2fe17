package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.access.Operator;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every operation of every contract turns away whom it must. */
@EachEngine
class ContractCoverageTest {
  private static final String KEYS = "/api/vm/orgs/acme/ssh-keys";
  private static final String ORGS = "/api/operator/orgs";
  private static final String ORG = ORGS + "/globex";
  private static final String OPERATORS = "/api/operator/operators";
  private static final String SWITCHES = "/api/operator/switches";
  private static final String CLUSTERS = "/api/operator/clusters";
  private static final String POOLS = "/api/operator/pools";
  private static final String NODE = "/api/operator/nodes/demo-h100-00001";
  private static final String POOL =
      "{\"name\":\"demo-h100\",\"site\":\"s\",\"provider\":\"simulated\",\"gpu_vendor\":\"v\","
          + "\"reserve_price_per_gpu_hour\":1,\"max_price_cap_per_gpu_hour\":2,\"ssh_user\":\"u\"}";
  private static final String WORKING =
      "/api/billing/usage/working?hour=2026-11-21T13:00:00Z&cluster=";
  private static final String MONEY = "{\"amount_usd\":1,\"idempotency_key\":\"k\"}";
  private static final String REVIEWS = "/api/operator/reviews";
  private static final String DOCUMENTS = "/api/operator/documents";
  private static final String DOCUMENT =
      "{\"title\":\"t\",\"filename\":\"f\",\"content_type\":\"text/plain\",\"bytes\":1}";
  private static final String FILES = "/api/checkpoints";
  private static final String FEED = FILES + "/public";
  private static final String FILE =
      "{\"title\":\"t\",\"filename\":\"f\",\"content_type\":\"text/plain\",\"bytes\":1,"
          + "\"visibility\":\"org\"}";
  private static final String SERVER = "/.well-known/oauth-authorization-server";
  private static final String RESOURCE = "/.well-known/oauth-protected-resource";
  private static final String SWAP = "{\"node\":\"192.0.2.1\",\"cluster\":\"acme-train\"}";
  private static final String BID =
      "{\"limit_price_per_gpu_hour\":2,\"expected_version\":0,\"cluster\":\"acme-k8s\"}";
  private static final String KEY = "{\"name\":\"k\",\"public_key\":\"ssh-ed25519 AAAA\"}";
  private static final String DECLARATION =
      "{\"max_gpus\":0,\"max_price_per_gpu_hour\":2,\"expected_version\":0,"
          + "\"cluster\":\"acme-train\"}";

  /**
   * A call of acme's on what is its own.
   *
   * @param body null when the operation takes none
   * @param foreign the same call on what is globex's, as path and body; empty when the operation
   *     names nothing
   */
  private record Case(
      String operationId, String path, @Nullable String body, List<String> foreign) {}

  private static final List<Case> CASES =
      List.of(
          new Case(
              "readCapacity",
              "/api/vm/capacity?cluster=acme-train",
              null,
              List.of("/api/vm/capacity?cluster=globex-main")),
          new Case(
              "declareCapacity",
              "/api/vm/capacity",
              DECLARATION,
              List.of("/api/vm/capacity", DECLARATION.replace("acme-train", "globex-main"))),
          new Case(
              "previewCapacity",
              "/api/vm/capacity/preview",
              DECLARATION,
              List.of(
                  "/api/vm/capacity/preview", DECLARATION.replace("acme-train", "globex-main"))),
          new Case(
              "swapNode",
              "/api/vm/capacity/swap",
              SWAP,
              List.of("/api/vm/capacity/swap", SWAP.replace("acme-train", "globex-main"))),
          // With a parameter it does not take, so that no stream begins.
          new Case(
              "followEvents",
              "/api/vm/events?cluster=acme-train&stop=1",
              null,
              List.of("/api/vm/events?cluster=globex-main")),
          new Case(
              "listActivity",
              "/api/vm/activity",
              null,
              List.of("/api/vm/activity?cluster=globex-main")),
          new Case(
              "readHistory",
              "/api/vm/history?cluster=acme-train",
              null,
              List.of("/api/vm/history?cluster=globex-main")),
          new Case("listSshKeys", KEYS, null, List.of(KEYS.replace("acme", "globex"))),
          new Case("addSshKey", KEYS, KEY, List.of(KEYS.replace("acme", "globex"), KEY)),
          new Case(
              "revokeSshKey",
              KEYS + "/key_1",
              null,
              List.of(KEYS.replace("acme", "globex") + "/k")),
          new Case("whoami", "/api/whoami", null, List.of()),
          new Case("listMembers", "/api/org/members", null, List.of()),
          new Case("listTokens", "/api/org/tokens", null, List.of()),
          new Case(
              "listTokenActivity",
              "/api/org/tokens/self/activity",
              null,
              List.of("/api/org/tokens/globex-token/activity")),
          // With a parameter it does not take, so that the callers live on.
          new Case("revokeOwnToken", "/api/org/tokens/self?cluster=acme-train", null, List.of()),
          new Case("listOrgActivity", "/api/org/activity", null, List.of()),
          new Case("listK8sClusters", "/api/k8s/clusters", null, List.of()),
          new Case(
              "readK8sCluster",
              "/api/k8s/clusters/acme-k8s",
              null,
              List.of("/api/k8s/clusters/globex-main")),
          new Case("readBid", "/api/k8s/bid", null, List.of("/api/k8s/bid?cluster=globex-main")),
          new Case(
              "writeBid",
              "/api/k8s/bid",
              BID,
              List.of("/api/k8s/bid", BID.replace("acme-k8s", "globex-k8s"))),
          new Case(
              "readK8sMetrics",
              "/api/k8s/metrics",
              null,
              List.of("/api/k8s/metrics?cluster=globex-main")),
          new Case("readMarketFeed", "/api/market/feed", null, List.of()),
          new Case("readBalance", "/api/billing/balance", null, List.of()),
          new Case(
              "listUsage",
              "/api/billing/usage",
              null,
              List.of("/api/billing/usage?cluster=globex-main")),
          new Case(
              "readUsageWorking", WORKING + "acme-train", null, List.of(WORKING + "globex-main")),
          new Case("listStatements", "/api/billing/statements", null, List.of()),
          new Case("readStatement", "/api/billing/statements/2026-01", null, List.of()),
          new Case("listLedger", "/api/billing/ledger", null, List.of()),
          new Case("readBilling", ORG + "/billing", null, List.of()),
          new Case("creditBilling", ORG + "/billing/credits", MONEY, List.of()),
          new Case("payBilling", ORG + "/billing/payments", MONEY, List.of()),
          new Case("limitBilling", ORG + "/billing/spend-limit", "{\"limit_usd\":1}", List.of()),
          new Case("unlimitBilling", ORG + "/billing/spend-limit", null, List.of()),
          new Case("verifyBilling", "/api/operator/ledger", null, List.of()),
          new Case("readMarketDepth", "/api/market/depth?pool=demo-h100", null, List.of()),
          new Case("readMarketHistory", "/api/market/history?pool=demo-h100", null, List.of()),
          new Case("listOrgs", ORGS, null, List.of()),
          new Case(
              "createOrg",
              ORGS,
              "{\"org_id\":\"o\",\"display\":\"O\",\"kind\":\"standard\"}",
              List.of()),
          new Case("readOrg", ORG, null, List.of()),
          new Case("updateOrg", ORG, "{\"display\":\"O\"}", List.of()),
          new Case("retireOrg", ORG, null, List.of()),
          new Case("listOrgMembers", ORG + "/members", null, List.of()),
          new Case(
              "addMember",
              ORG + "/members",
              "{\"username\":\"m\",\"email\":\"m@x.example\",\"name\":\"M\"}",
              List.of()),
          new Case("updateMember", ORG + "/members/m", "{\"suspended\":true}", List.of()),
          new Case("removeMember", ORG + "/members/m", null, List.of()),
          new Case("listJoinRules", ORG + "/rules", null, List.of()),
          new Case(
              "addJoinRule",
              ORG + "/rules",
              "{\"kind\":\"domain\",\"value\":\"x.example\"}",
              List.of()),
          new Case("removeJoinRule", ORG + "/rules/jr_1", null, List.of()),
          new Case("inviteMember", ORG + "/invitations", "{\"email\":\"m@x.example\"}", List.of()),
          new Case("listOrgTokens", ORG + "/tokens", null, List.of()),
          new Case("mintToken", ORG + "/tokens", "{\"name\":\"t\",\"scopes\":[]}", List.of()),
          new Case("revokeToken", ORG + "/tokens/t", null, List.of()),
          new Case("listOperators", OPERATORS, null, List.of()),
          new Case("mintOperator", OPERATORS, "{\"name\":\"o\"}", List.of()),
          new Case("revokeOperator", OPERATORS + "/t", null, List.of()),
          new Case("readSwitches", SWITCHES, null, List.of()),
          new Case("writeSwitches", SWITCHES, "{\"capacity_writes_armed\":true}", List.of()),
          new Case("listPlatformActivity", "/api/operator/activity", null, List.of()),
          new Case("verifySeals", "/api/operator/orgs/acme/seals", null, List.of()),
          new Case("listClusters", CLUSTERS, null, List.of()),
          new Case(
              "createCluster",
              CLUSTERS,
              "{\"name\":\"acme-train\",\"org\":\"acme\",\"pool\":\"demo-h100\"}",
              List.of()),
          new Case("readCluster", CLUSTERS + "/acme-train", null, List.of()),
          new Case("updateCluster", CLUSTERS + "/acme-train", "{\"maintenance\":false}", List.of()),
          new Case("pinNode", CLUSTERS + "/acme-train/pins/198.51.100.1", null, List.of()),
          new Case("unpinNode", CLUSTERS + "/acme-train/pins/198.51.100.1", null, List.of()),
          new Case("listPools", POOLS, null, List.of()),
          new Case("createPool", POOLS, POOL, List.of()),
          new Case("readPool", POOLS + "/demo-h100", null, List.of()),
          new Case("updatePool", POOLS + "/demo-h100", "{\"swaps_enabled\":true}", List.of()),
          new Case("listNodes", POOLS + "/demo-h100/nodes", null, List.of()),
          new Case("addNode", POOLS + "/demo-h100/nodes", "{\"node_id\":\"n\"}", List.of()),
          new Case("readNode", NODE, null, List.of()),
          new Case("updateNode", NODE, "{\"cordoned\":false}", List.of()),
          new Case("releaseNode", NODE + "/release", null, List.of()),
          new Case("listReviews", REVIEWS, null, List.of()),
          new Case("readReview", REVIEWS + "/rev_1", null, List.of()),
          new Case("approveReview", REVIEWS + "/rev_1/approve", null, List.of()),
          new Case("rejectReview", REVIEWS + "/rev_1/reject", "{\"reason\":\"r\"}", List.of()),
          new Case("downloadReview", REVIEWS + "/rev_1/content", null, List.of()),
          new Case("listDocuments", DOCUMENTS, null, List.of()),
          new Case("publishDocument", DOCUMENTS, DOCUMENT, List.of()),
          new Case("readDocument", DOCUMENTS + "/ckp_1", null, List.of()),
          new Case("deleteDocument", DOCUMENTS + "/ckp_1", null, List.of()),
          new Case("sendDocument", DOCUMENTS + "/ckp_1/content", null, List.of()),
          new Case("commitDocument", DOCUMENTS + "/ckp_1/commit", "{\"bytes\":1}", List.of()),
          new Case("listOrgCheckpoints", ORG + "/checkpoints", null, List.of()),
          new Case("readOrgCheckpoint", "/api/operator/checkpoints/ckp_1", null, List.of()),
          new Case("deleteOrgCheckpoint", "/api/operator/checkpoints/ckp_1", null, List.of()),
          new Case("listPublicCheckpoints", FEED, null, List.of()),
          new Case("readPublicCheckpoint", FEED + "/ckp_1", null, List.of()),
          new Case("readPublicCheckpointContent", FEED + "/ckp_1/content", null, List.of()),
          new Case("preflightPublicCheckpoints", FEED, null, List.of()),
          new Case("preflightPublicCheckpoint", FEED + "/ckp_1", null, List.of()),
          new Case("preflightPublicCheckpointContent", FEED + "/ckp_1/content", null, List.of()),
          new Case("listCheckpoints", FILES, null, List.of()),
          new Case("publishCheckpoint", FILES, FILE, List.of()),
          new Case("readCheckpoint", FILES + "/ckp_1", null, List.of()),
          new Case("deleteCheckpoint", FILES + "/ckp_1", null, List.of()),
          new Case("readCheckpointContent", FILES + "/ckp_1/content", null, List.of()),
          new Case("writeCheckpointContent", FILES + "/ckp_1/content", null, List.of()),
          new Case("commitCheckpoint", FILES + "/ckp_1/commit", "{\"bytes\":1}", List.of()),
          new Case("putUpload", "/upload/unknown", null, List.of()),
          new Case("readStyle", "/pages/style.css", null, List.of()),
          new Case("readIcon", "/pages/icon.svg", null, List.of()),
          new Case("showSignIn", "/sign-in", null, List.of()),
          new Case("requestSignInLink", "/sign-in", null, List.of()),
          new Case("showSignInSent", "/sign-in/sent", null, List.of()),
          new Case("showSignInLink", "/sign-in/link?token=t", null, List.of()),
          new Case("useSignInLink", "/sign-in/link", null, List.of()),
          new Case("beginProviderSignIn", "/sign-in/oidc", null, List.of()),
          new Case("endProviderSignIn", "/sign-in/oidc/callback?code=c&state=s", null, List.of()),
          new Case("showAccount", "/account", null, List.of()),
          new Case("disconnectApplication", "/account/applications/revoke", null, List.of()),
          new Case("showSignedOut", "/sign-out", null, List.of()),
          new Case("signOut", "/sign-out", null, List.of()),
          new Case("signOutEverywhere", "/sign-out/everywhere", null, List.of()),
          new Case("sendMcpMessage", "/mcp", "{}", List.of()),
          new Case("endMcpSession", "/mcp", null, List.of()),
          new Case("readAuthorizationServer", SERVER, null, List.of()),
          new Case("preflightAuthorizationServer", SERVER, null, List.of()),
          new Case("readProtectedResource", RESOURCE, null, List.of()),
          new Case("preflightProtectedResource", RESOURCE, null, List.of()),
          new Case("readProtectedMcpResource", RESOURCE + "/mcp", null, List.of()),
          new Case("preflightProtectedMcpResource", RESOURCE + "/mcp", null, List.of()),
          new Case("readSigningKeys", "/oauth/jwks.json", null, List.of()),
          new Case("preflightSigningKeys", "/oauth/jwks.json", null, List.of()),
          new Case("showConsent", "/oauth/authorize", null, List.of()),
          new Case("decideConsent", "/oauth/authorize", null, List.of()),
          new Case("showDevice", "/device", null, List.of()),
          new Case("decideDevice", "/device", null, List.of()),
          new Case("issueOAuthToken", "/oauth/token", null, List.of()),
          new Case("preflightOAuthToken", "/oauth/token", null, List.of()),
          new Case("revokeOAuthToken", "/oauth/revoke", null, List.of()),
          new Case("preflightOAuthRevocation", "/oauth/revoke", null, List.of()),
          new Case("beginDeviceAuthorization", "/oauth/device_authorization", null, List.of()),
          new Case("registerOAuthClient", "/oauth/register", null, List.of()),
          new Case("preflightOAuthClient", "/oauth/register", null, List.of()));

  /** What other software calls with parameters of its own, which are left out. */
  private static final Set<String> TOLERANT =
      Set.of(
          "endProviderSignIn",
          "readAuthorizationServer",
          "readProtectedResource",
          "readProtectedMcpResource",
          "readSigningKeys",
          "showConsent",
          "decideConsent",
          "showDevice",
          "issueOAuthToken",
          "revokeOAuthToken",
          "beginDeviceAuthorization",
          "registerOAuthClient");

  /** What a member does in person and an organization's token may not. */
  private static final Set<String> MEMBERS_ONLY =
      Set.of("publishCheckpoint", "deleteCheckpoint", "writeCheckpointContent", "commitCheckpoint");

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    RunningBourse.await(
        bourse
            .service()
            .database()
            .commit(
                List.of(
                    Statement.of(
                        "INSERT INTO token (token_id, org_id, name, secret_sha256, scopes,"
                            + " created_by, created_at)"
                            + " VALUES ('globex-token', 'globex', 'x', '', '', 'member:dave', 1)"))));
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static ContractCheck.Described described(Case call) {
    return ContractCheck.operations().stream()
        .filter(o -> o.operationId().equals(call.operationId()))
        .findFirst()
        .orElseThrow();
  }

  private static boolean isForOperators(Case call) {
    return described(call).schemes().contains(Operator.SCHEME);
  }

  private static boolean isForAnybody(Case call) {
    return described(call).schemes().isEmpty();
  }

  /** A caller who may do all that callers of the operation's kind may. */
  private static Caller permitted(Case call) {
    if (MEMBERS_ONLY.contains(call.operationId())) {
      return bourse.asMember("acme", "alice");
    }
    return isForOperators(call) ? bourse.operator() : bourse.as("acme", "orgwide");
  }

  private static HttpAnswer send(Caller caller, Case call, String path, @Nullable String body) {
    String method = described(call).method();
    return body == null
        ? caller.send(method, path, null)
        : caller.send(method, path, body, "Content-Type", "application/json");
  }

  @Test
  void theTableNamesEveryOperation() {
    TreeSet<String> tested = new TreeSet<>();
    CASES.forEach(c -> tested.add(c.operationId()));
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
  Stream<DynamicTest> noOperationAnswersANobody() {
    return CASES.stream()
        .filter(call -> !isForAnybody(call))
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () ->
                        send(bourse.with(null), call, call.path(), call.body())
                            .refused(ErrorCode.UNAUTHORIZED)));
  }

  @TestFactory
  Stream<DynamicTest> anOperationRefusesCallersOfAnotherKind() {
    return CASES.stream()
        .filter(call -> !isForAnybody(call))
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () ->
                        send(
                                isForOperators(call)
                                    ? bourse.as("acme", "orgwide")
                                    : bourse.operator(),
                                call,
                                call.path(),
                                call.body())
                            .refused(ErrorCode.UNAUTHORIZED)));
  }

  @TestFactory
  Stream<DynamicTest> anOperationDemandsItsScopeAndNoOther() {
    return CASES.stream()
        .filter(call -> !isForOperators(call) && !MEMBERS_ONLY.contains(call.operationId()))
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () -> {
                      HttpAnswer bare =
                          send(bourse.as("acme", "bare"), call, call.path(), call.body());
                      HttpAnswer reader =
                          send(bourse.as("acme", "readonly"), call, call.path(), call.body());
                      String scope = described(call).scope().orElse("");
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
                    }));
  }

  @TestFactory
  Stream<DynamicTest> whatMembersDoInPersonNoTokenDoes() {
    return CASES.stream()
        .filter(call -> MEMBERS_ONLY.contains(call.operationId()))
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () ->
                        send(bourse.as("acme", "orgwide"), call, call.path(), call.body())
                            .refused(ErrorCode.FORBIDDEN)));
  }

  @TestFactory
  Stream<DynamicTest> whatIsAnothersIsNotFound() {
    return CASES.stream()
        .filter(call -> !call.foreign().isEmpty())
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () -> {
                      List<String> foreign = call.foreign();
                      String body = foreign.size() > 1 ? foreign.get(1) : null;
                      JsonObject refusal =
                          send(bourse.as("acme", "orgwide"), call, foreign.get(0), body)
                              .refused(ErrorCode.NOT_FOUND);
                      HttpAnswer unknown =
                          send(
                              bourse.as("acme", "orgwide"),
                              call,
                              foreign.get(0).replace("globex", "nobody"),
                              body == null ? null : body.replace("globex", "nobody"));
                      assertEquals(
                          refusal.encode().replace("globex", "nobody"),
                          unknown.refused(ErrorCode.NOT_FOUND).encode());
                    }));
  }

  @TestFactory
  Stream<DynamicTest> everyOperationRefusesUnknownQueryParameters() {
    return CASES.stream()
        .filter(call -> !TOLERANT.contains(call.operationId()))
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () ->
                        send(
                                permitted(call),
                                call,
                                call.path() + (call.path().contains("?") ? "&" : "?") + "x=1",
                                call.body())
                            .refused(ErrorCode.BAD_REQUEST)));
  }

  @TestFactory
  Stream<DynamicTest> everyPathNamesItsMethodsToTheWrongOne() {
    return CASES.stream()
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () -> {
                      HttpAnswer answer = permitted(call).send("PURGE", call.path(), null);
                      answer.refused(ErrorCode.METHOD_NOT_ALLOWED);
                      assertEquals(true, answer.header("allow").contains(described(call).method()));
                    }));
  }
}
