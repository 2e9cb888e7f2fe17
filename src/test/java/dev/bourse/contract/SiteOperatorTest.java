package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ContractCase;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OperatorRequests;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * An operator of one site manages the machines of that site, and can neither change nor see others.
 */
@ReplayedOnPostgres
class SiteOperatorTest {
  private static final String POOLS = "/api/operator/pools";
  private static final String NODES = "/api/operator/nodes";
  private static final String OPERATORS = "/api/operator/operators";

  /** The site of the demo's pool and nodes. */
  private static final String ELSEWHERE =
      "operator:crew keeps site 'annex' alone; %s is at site 'demo', which takes an operator's"
          + " token of that site or of none";

  private static final Set<String> LISTS = Set.of("listPools", "findNodes");

  private static RunningBourse bourse;
  private static ApiClient first;
  private static JsonObject token;
  private static ApiClient crew;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    first = bourse.operator();
    assertEquals(201, first.post(POOLS, OperatorRequests.newPool("annex-h100")).status());
    assertEquals(
        201,
        first.post(POOLS + "/annex-h100/nodes", new JsonObject().put("node_id", "a1")).status());
    token = minted("crew", false);
    crew = bourse.with(token.getString("token"));
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject minted(String name, boolean readOnly) {
    HttpAnswer answer =
        first.post(
            OPERATORS,
            new JsonObject().put("name", name).put("site", "annex").put("read_only", readOnly));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  private static ApiClient signIn(JsonObject shown) {
    HttpAnswer answer = bourse.signInOperator(shown.getString("token"));
    assertEquals("annex", answer.ok().getString("site"));
    return bourse.inOperatorSession(RunningBourse.sessionSecret(answer));
  }

  /** The marked operations of the contract, including those for sessions only. */
  private static Set<String> marked() {
    Set<String> marked = new TreeSet<>();
    for (Object item :
        Contract.resolvedDocument("operator").getJsonObject("paths").getMap().values()) {
      for (Object operation : ((Map<?, ?>) item).values()) {
        if (operation instanceof Map<?, ?> described && described.containsKey("x-one-site")) {
          marked.add(String.valueOf(described.get("operationId")));
        }
      }
    }
    return marked;
  }

  private static long writes(String name) {
    return RunningBourse.await(
        bourse
            .database()
            .readOne(
                "SELECT COUNT(*) AS n FROM audit WHERE is_read = 0 AND actor = ?"
                    + " AND action NOT IN ('operator_sign_in', 'operator_sign_out')",
                List.of("operator:" + name),
                row -> row.integer("n")));
  }

  private static String refusal(HttpAnswer answer) {
    return answer.refused(ErrorCode.FORBIDDEN).getString("detail");
  }

  @Test
  void theContractMarksWhatIsAboutMachines() {
    assertEquals(
        new TreeSet<>(
            Set.of(
                "addNode",
                "endNodeReclaim",
                "endOperatorSession",
                "evictNode",
                "findNodes",
                "listNodes",
                "listPoolBidders",
                "listPools",
                "readNode",
                "readOperatorSession",
                "readPool",
                "rebaselineNode",
                "releaseNode",
                "replaceNodeHostKey",
                "retireNode",
                "retryNode",
                "reviewNodeHandovers",
                "updateNode")),
        marked());
  }

  /**
   * The table's calls of marked operations use the demo's pool and node, which are at another site.
   */
  @TestFactory
  Stream<DynamicTest> whatIsNotMarkedAndWhatIsElsewhereIsRefusedToTokenAndSession() {
    ApiClient session = signIn(token);
    Set<String> marked = marked();
    List<ContractCase> calls =
        ContractCase.ALL.stream().filter(ContractCase::isForOperators).toList();
    assertTrue(calls.size() > 60, "there are as many");
    return calls.stream()
        .filter(call -> !LISTS.contains(call.operationId()))
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(),
                    () -> {
                      long before = writes("crew");
                      for (ApiClient caller : List.of(crew, session)) {
                        assertEquals(
                            !marked.contains(call.operationId())
                                ? "operator:crew keeps site 'annex' alone; %s takes an operator's token that is of no site"
                                    .formatted(call.operationId())
                                : ELSEWHERE.formatted(
                                    call.path().startsWith(NODES)
                                        ? "node demo-h100-00001"
                                        : "pool demo-h100"),
                            refusal(call.sentBy(caller)));
                      }
                      assertEquals(before, writes("crew"));
                    }));
  }

  @Test
  void itsOwnMachinesItKeeps() {
    String pool = POOLS + "/annex-h100";
    assertEquals("annex", crew.get(pool).ok().getString("site"));
    JsonObject added = crew.post(pool + "/nodes", new JsonObject().put("node_id", "a2")).json();
    assertEquals("annex-h100", added.getString("pool"));
    String node = NODES + "/a2";
    assertEquals("a2", crew.get(node).ok().getString("node_id"));
    JsonObject cordoned =
        crew.send("PATCH", node, "{\"cordoned\":true}", "Content-Type", "application/json").ok();
    assertEquals(true, cordoned.getBoolean("cordoned"));
    crew.send("POST", node + "/release", null).ok();
    crew.send("POST", node + "/retry", null).ok();
    // Refused for the item's kind rather than its site.
    crew.post(node + "/evict", new JsonObject().put("reason", "r")).refused(ErrorCode.CONFLICT);
    crew.post(node + "/end-reclaim", new JsonObject().put("back_to_market", true))
        .refused(ErrorCode.CONFLICT);
    crew.send(
            "PUT",
            node + "/host-key",
            "{\"host_key\":\"ssh-ed25519 AAAA\"}",
            "Content-Type",
            "application/json")
        .refused(ErrorCode.BAD_REQUEST);
    crew.delete(node).ok();
    assertEquals(
        List.of("a2"), names(crew.get(pool + "/nodes?status=retired").ok(), "nodes", "node_id"));
    assertEquals(
        List.of("node_add", "node_update", "node_release", "node_retry", "node_retire"),
        bourse.audit("", false).stream()
            .filter(row -> row.actor().equals("operator:crew") && row.subject().equals("a2"))
            .map(row -> row.action())
            .toList());
  }

  private static List<String> names(JsonObject page, String list, String name) {
    return ClusterClient.objects(page.getJsonArray(list)).stream()
        .map(one -> one.getString(name))
        .toList();
  }

  @Test
  void listsHaveWhatIsAtItsSiteAlone() {
    ApiClient session = signIn(token);
    for (ApiClient caller : List.of(crew, session)) {
      assertEquals(List.of("annex-h100"), names(caller.get(POOLS).ok(), "pools", "name"));
      for (String query : List.of("?", "?site=annex&", "?pool=annex-h100&", "?state=free&")) {
        JsonObject page = caller.get(NODES + query + "limit=500").ok();
        assertTrue(names(page, "nodes", "node_id").contains("a1"), page.encode());
        assertEquals(Set.of("annex-h100"), Set.copyOf(names(page, "nodes", "pool")));
      }
      assertEquals(
          ELSEWHERE.formatted("what is looked for"), refusal(caller.get(NODES + "?site=demo")));
      assertEquals(
          ELSEWHERE.formatted("pool demo-h100"), refusal(caller.get(NODES + "?pool=demo-h100")));
      assertEquals(List.of(), names(caller.get(NODES + "?pool=nowhere").ok(), "nodes", "pool"));
    }
    assertTrue(names(first.get(POOLS).ok(), "pools", "name").contains("demo-h100"));
  }

  @Test
  void whatIsNotThereIsNotFound() {
    crew.get(POOLS + "/nowhere").refused(ErrorCode.NOT_FOUND);
    crew.get(POOLS + "/nowhere/nodes").refused(ErrorCode.NOT_FOUND);
    crew.get(NODES + "/nothing").refused(ErrorCode.NOT_FOUND);
    crew.delete(NODES + "/nothing").refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aNodeThatWasRetiredAndAddedElsewhereIsElsewhere() {
    first.post(POOLS + "/annex-h100/nodes", new JsonObject().put("node_id", "mover"));
    crew.get(NODES + "/mover").ok();
    crew.delete(NODES + "/mover").ok();
    assertEquals(
        201,
        first.post(POOLS + "/demo-h100/nodes", new JsonObject().put("node_id", "mover")).status());
    for (HttpAnswer answer :
        List.of(
            crew.get(NODES + "/mover"),
            crew.send("POST", NODES + "/mover/release", null),
            crew.delete(NODES + "/mover"))) {
      assertEquals(ELSEWHERE.formatted("node mover"), refusal(answer));
    }
    first.delete(NODES + "/mover").ok();
    JsonObject again = new JsonObject().put("node_id", "mover");
    assertEquals(
        ELSEWHERE.formatted("node mover"),
        refusal(crew.post(POOLS + "/annex-h100/nodes", again)),
        "nor is the id of what was retired there free");
    assertEquals(201, first.post(POOLS + "/annex-h100/nodes", again).status());
  }

  @Test
  void oneThatOnlyReadsLooksAtItsSiteAlone() {
    JsonObject minted = minted("looker", true);
    for (ApiClient looker : List.of(bourse.with(minted.getString("token")), signIn(minted))) {
      looker.get(POOLS + "/annex-h100").ok();
      looker.get(NODES + "/a1").ok();
      assertEquals(
          ELSEWHERE.formatted("pool demo-h100").replace("crew", "looker"),
          refusal(looker.get(POOLS + "/demo-h100")));
      assertEquals(
          "operator:looker keeps site 'annex' alone; readStatus takes an operator's token that is of no site",
          refusal(looker.get("/api/operator/status")));
      assertEquals(
          "operator:looker is read-only; releaseNode takes an operator's token that is not",
          refusal(looker.send("POST", NODES + "/a1/release", null)));
      looker.post(OPERATORS, new JsonObject().put("name", "sly")).refused(ErrorCode.FORBIDDEN);
    }
    assertEquals(0, writes("looker"));
  }

  @Test
  void itsSessionTellsTheSiteAndEndsByItsOwnWord() {
    ApiClient session = signIn(token);
    assertEquals("annex", session.get("/api/operator/session").ok().getString("site"));
    session.delete("/api/operator/session").ok();
    session.get("/api/operator/session").refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void itIsListedAndRecordedWithItsSite() {
    assertEquals("annex", token.getString("site"));
    JsonObject shown =
        ClusterClient.objects(first.get(OPERATORS + "?limit=500").ok().getJsonArray("operators"))
            .stream()
            .filter(one -> one.getString("name").equals("crew"))
            .findFirst()
            .orElseThrow();
    assertEquals("annex", shown.getString("site"));
    assertEquals(null, shown.getValue("revoked_at"));
    assertTrue(
        bourse.audit("", false).stream()
            .anyMatch(
                row ->
                    row.action().equals("operator_mint")
                        && row.detail().endsWith(" name=crew site=annex")));
  }

  @Test
  void aSiteIsSpelledAsAPoolsSiteIsAndNeedsNoPool() {
    for (String site : List.of("", "x".repeat(64))) {
      OperatorRequests.refused(
          first.post(OPERATORS, new JsonObject().put("name", "crew").put("site", site)), "site: ");
    }
    HttpAnswer early =
        first.post(OPERATORS, new JsonObject().put("name", "early").put("site", "Of Nowhere Yet"));
    assertEquals(201, early.status());
    ApiClient caller = bourse.with(early.json().getString("token"));
    assertEquals(List.of(), names(caller.get(POOLS).ok(), "pools", "name"));
    assertEquals(List.of(), names(caller.get(NODES).ok(), "nodes", "node_id"));
  }
}
