package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The operations that a cluster has on the machines that it holds. */
@ReplayedOnPostgres
class HeldNodeApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(6, "market.tick=200ms", "capacity.write-cadence=0");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String path(ClusterClient cluster) {
    return "/api/vm/capacity/host-keys?cluster=" + cluster.cluster();
  }

  private static List<JsonObject> keys(ClusterClient cluster) {
    JsonObject answer = cluster.caller().get(path(cluster)).ok();
    return ClusterClient.objects(answer.getJsonArray("host_keys"));
  }

  @Test
  void theNodesThatAreHeldAreListedAndNoOther() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    assertEquals(List.of(), keys(red));
    red.addKey();
    List<String> held = red.hold(2, 2);
    assertEquals(
        held.stream().sorted().toList(),
        keys(red).stream().map(key -> key.getString("public_ip")).sorted().toList());
    keys(red)
        .forEach(
            key -> {
              assertEquals(22, key.getInteger("ssh_port"));
              // The machines of these tests are not real.
              assertTrue(key.containsKey("host_key"));
              assertNull(key.getValue("host_key"));
            });
    assertEquals(List.of(), keys(market.blueA()));
    red.declare(0, 2);
    RunningBourse.until("they are given back", () -> keys(red).isEmpty());
  }

  @Test
  void theHandoverBeforeAGrantIsToldToItsHolderAlone() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.addKey();
    String held = red.hold(1, 2).get(0);
    String path = "/api/vm/nodes/" + held + "/handover";
    assertNull(red.caller().get(path).ok().getValue("handover"));
    String nodeId = nodeAt(held);
    record(nodeId, "before", 1_000);
    record(nodeId, "latest", 2_000);
    record(nodeId, allocationAt(held), 4_102_444_800_000L);

    JsonObject told = red.caller().get(path).ok();
    assertEquals(
        new JsonObject()
            .put("public_ip", held)
            .put(
                "handover",
                new JsonObject()
                    .put("cleaned_at", "1970-01-01T00:00:02.000Z")
                    .put("duration_s", 3)
                    .put("processes_ended", 41)
                    .put("files_removed", 7)
                    .put("ipc_objects_removed", 1)
                    .put("baseline", "d1")
                    .put("reimaged", true)),
        told);

    ClusterClient blue = market.blueA();
    assertEquals(404, blue.caller().get(path).status());
    assertEquals(
        List.of(allocationAt(held), "latest", "before"),
        ClusterClient.objects(
                bourse
                    .operator()
                    .get("/api/operator/nodes/" + nodeId + "/handovers")
                    .ok()
                    .getJsonArray("handovers"))
            .stream()
            .map(handover -> handover.getString("allocation_id"))
            .toList());
  }

  private static ApiClient agentOf(String publicIp) {
    return bourse.with(
        bourse.service().nodeCredentials().issue(allocationAt(publicIp)).orElseThrow());
  }

  private static HttpAnswer report(ApiClient agent, String gpus) {
    return agent.send(
        "POST",
        "/api/node/metrics",
        "{\"gpus\":[" + gpus + "]}",
        "Content-Type",
        "application/json");
  }

  private static JsonObject metrics(ClusterClient cluster, String publicIp) {
    JsonObject answer =
        cluster
            .caller()
            .get("/api/vm/metrics?cluster=" + cluster.cluster() + "&node=" + publicIp)
            .ok();
    return answer.getJsonArray("nodes").getJsonObject(0);
  }

  @Test
  void whatANodeReportsIsReadByItsHolderAloneAndEndsWithTheGrant() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    List<String> held = red.hold(2, 2);
    String ip = held.get(0);
    ApiClient agent = agentOf(ip);
    assertNull(metrics(red, ip).getValue("heard_at"));
    report(agent, "{\"index\":1,\"utilization_percent\":97,\"power_w\":null}").ok();

    JsonObject told = metrics(red, ip);
    JsonObject gpu = told.getJsonArray("gpus").getJsonObject(1);
    assertEquals(ClusterClient.NODE, told.getJsonArray("gpus").size());
    assertEquals(97, gpu.getInteger("utilization_percent"));
    assertNull(gpu.getValue("power_w"));
    JsonObject hour = told.getJsonObject("series").getJsonArray("gpus").getJsonObject(1);
    assertTrue(hour.getJsonArray("utilization_percent").contains(97), hour.encode());
    assertNull(metrics(red, held.get(1)).getValue("heard_at"), "of its own node only");
    JsonObject first = red.caller().get("/api/vm/metrics?limit=1&cluster=" + red.cluster()).ok();
    assertTrue(first.getBoolean("more"));
    JsonObject second =
        red.caller()
            .get("/api/vm/metrics?cluster=" + red.cluster() + "&after=" + first.getString("next"))
            .ok();
    assertEquals(
        held.stream().sorted().toList(),
        List.of(first, second).stream()
            .map(page -> page.getJsonArray("nodes").getJsonObject(0).getString("public_ip"))
            .toList());

    String read = "/api/vm/metrics?cluster=";
    assertEquals(404, market.blueA().caller().get(read + red.cluster()).status());
    market
        .blueA()
        .caller()
        .get(read + market.blueA().cluster() + "&node=" + ip)
        .refused(ErrorCode.NOT_FOUND);

    // The tenant can read the credential, which does nothing but report on this node.
    for (String path : List.of(read + red.cluster(), "/api/whoami", "/api/market/feed")) {
      agent.get(path).refused(ErrorCode.UNAUTHORIZED);
    }
    String credential = bourse.service().nodeCredentials().issue(allocationAt(ip)).orElseThrow();
    String other =
        bourse.service().nodeCredentials().issue(allocationAt(held.get(1))).orElseThrow();
    String mixed = credential.substring(0, 17) + other.substring(17);
    report(bourse.with(mixed), "").refused(ErrorCode.UNAUTHORIZED);

    String mine = "cluster=\"" + red.cluster() + "\",node=\"" + ip + "\"";
    assertTrue(
        scrape(red.caller())
            .contains("\nbourse_gpu_utilization_ratio{" + mine + ",gpu=\"1\"} 0.97\n"));
    assertFalse(scrape(red.caller()).contains("bourse_gpu_power_watts{"), "unknown is no 0");
    assertFalse(scrape(market.blueA().caller()).contains(red.cluster()));

    red.declare(0, 2);
    report(agent, "").refused(ErrorCode.UNAUTHORIZED);
    assertFalse(scrape(red.caller()).contains("node=\"" + ip), "from the reclaim on");
    RunningBourse.until("they are given back", () -> red.allocations().isEmpty());
    ClusterClient blue = market.blueA();
    String again =
        blue.hold(TestMarket.NODES, 2).stream().filter(ip::equals).findAny().orElseThrow();
    assertNull(metrics(blue, again).getValue("heard_at"), "of the earlier tenant");
    String theirs = scrape(blue.caller());
    assertTrue(
        theirs.contains("bourse_node_granted_timestamp_seconds{cluster=\"" + blue.cluster()));
    assertFalse(theirs.contains("bourse_gpu_utilization_ratio{"), "of the earlier tenant");
    assertFalse(scrape(red.caller()).contains("node=\"" + ip), "of the next tenant");
    report(agent, "").refused(ErrorCode.UNAUTHORIZED);
  }

  private static String scrape(ApiClient caller) {
    HttpResponse<byte[]> answer =
        caller.fetch(
            "GET",
            "/api/metrics",
            "Accept",
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1");
    assertEquals(200, answer.statusCode());
    assertEquals(
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        answer.headers().firstValue("content-type").orElseThrow());
    String text = new String(answer.body(), StandardCharsets.UTF_8);
    assertTrue(text.endsWith("\n# EOF\n"), text);
    return text;
  }

  private static List<String> samples(String text) {
    return text.lines().filter(line -> !line.startsWith("#")).toList();
  }

  @Test
  void aScrapeHasWhatTheTokenMayReadAndIsRecorded() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    red.hold(2, 2);
    String labels =
        "{cluster=\"%s\",kind=\"vm\",pool=\"%s\"".formatted(red.cluster(), market.name());
    List<String> all = samples(scrape(red.caller()));
    for (String sample :
        List.of(
            "bourse_cluster_ceiling_dollars" + labels + "} 2.00",
            "bourse_cluster_declared_gpus" + labels + "} 16",
            "bourse_cluster_pending_nodes" + labels + "} 0",
            "bourse_cluster_nodes" + labels + ",state=\"active\"} 2",
            "bourse_cluster_clearing_price_dollars" + labels + "} 1.00")) {
      assertTrue(all.contains(sample), () -> sample + " is not in " + all);
    }
    assertTrue(all.stream().anyMatch(line -> line.contains("kind=\"k8s\"")));
    assertTrue(all.stream().anyMatch(line -> line.startsWith("bourse_balance_dollars ")));
    assertEquals(all.size(), all.stream().map(line -> line.split(" ", 2)[0]).distinct().count());

    assertEquals(List.of(), samples(scrape(market.red("bare"))));
    for (String narrow : List.of("bound", "readonly")) {
      List<String> some = samples(scrape(market.red(narrow)));
      assertTrue(some.stream().noneMatch(line -> line.contains("kind=\"k8s\"")), narrow);
      assertTrue(some.stream().noneMatch(line -> line.contains("_dollars ")), narrow);
      assertEquals(
          narrow.equals("bound"),
          some.stream().allMatch(line -> line.contains("cluster=\"" + red.cluster() + '"')),
          narrow);
    }
    red.caller().get("/api/metrics", "Accept", "text/html").refused(ErrorCode.NOT_ACCEPTABLE);
    red.caller().get("/api/metrics?cluster=" + red.cluster()).refused(ErrorCode.BAD_REQUEST);

    String trail = "/api/org/tokens/self/activity?reads=1&limit=500";
    RunningBourse.until(
        "the scrape is in the trail",
        () ->
            ClusterClient.objects(market.red("readonly").get(trail).ok().getJsonArray("entries"))
                .stream()
                .anyMatch(
                    entry ->
                        entry.getString("action").equals("vm_capacity_get")
                            && entry.getString("subject").equals(red.cluster())
                            && entry.getString("detail").equals("metrics")));
  }

  /**
   * Polls with a wait of 25 s until a poll is refused or returns a notice; on a busy machine a poll
   * may end before that.
   */
  private static HttpAnswer awaitNews(ApiClient agent, String poll) {
    while (true) {
      long asked = System.nanoTime();
      HttpAnswer answer = agent.get(poll);
      if (answer.status() != 200 || answer.ok().getValue("notice") != null) {
        return answer;
      }
      long waited = System.nanoTime() - asked;
      assertTrue(waited >= TimeUnit.SECONDS.toNanos(24), "the poll did not wait");
    }
  }

  @Test
  void anAgentWaitsForADrillOfItsOwnNodeUntilTheNodeIsReclaimed() throws Exception {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    String ip = red.hold(1, 2).get(0);
    ApiClient agent = agentOf(ip);
    String path = "/api/node/notices?wait_s=";
    assertNull(agent.get(path + 0).ok().getValue("notice"));
    agent.get(path + 26).refused(ErrorCode.BAD_REQUEST);
    agent.get(path + "0&last=outbid-1:given").refused(ErrorCode.BAD_REQUEST);
    red.caller().get(path + 0).refused(ErrorCode.UNAUTHORIZED);

    CompletableFuture<HttpAnswer> waiting =
        CompletableFuture.supplyAsync(() -> awaitNews(agent, path + 25));
    red.caller()
        .post("/api/vm/capacity/drill", new JsonObject().put("cluster", red.cluster()))
        .ok();
    JsonObject notice = waiting.get(60, TimeUnit.SECONDS).ok().getJsonObject("notice");
    assertTrue(notice.getBoolean("drill"));
    String after = "&last=" + notice.getString("id") + ":given:" + notice.getLong("sequence");
    assertNull(agent.get(path + 0 + after).ok().getValue("notice"));

    CompletableFuture<HttpAnswer> last =
        CompletableFuture.supplyAsync(() -> awaitNews(agent, path + 25 + after));
    red.declare(0, 2);
    last.get(60, TimeUnit.SECONDS).refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void aForgedReportIsRefusedAndChangesNothing() {
    TestMarket market = bourse.market();
    ClusterClient red = market.redA();
    String ip = red.hold(1, 2).get(0);
    ApiClient agent = agentOf(ip);
    for (String gpu :
        List.of(
            "{\"index\":8}",
            "{\"index\":-1}",
            "{\"index\":0},{\"index\":0}",
            "{\"index\":0,\"power_w\":NaN}",
            "{\"index\":0,\"power_w\":1e308}",
            "{\"index\":0,\"power_w\":-1}",
            "{\"index\":0,\"utilization_percent\":101}",
            "{\"index\":0,\"ecc_corrected\":9007199254740993}",
            "{\"index\":0,\"power_w\":\"" + "9".repeat(10_000) + "\"}",
            "{\"index\":0,\"name\":\"x\"}",
            "{\"index\":0},".repeat(64) + "{\"index\":0}")) {
      assertEquals(422, report(agent, gpu).status(), gpu);
    }
    report(agent, " ".repeat(70_000)).refused(ErrorCode.TOO_LARGE);
    assertNull(metrics(red, ip).getValue("heard_at"));
  }

  private static String nodeAt(String publicIp) {
    return find("SELECT node_id AS id FROM node WHERE public_ip = ?", publicIp);
  }

  private static String allocationAt(String publicIp) {
    return find(
        "SELECT allocation_id AS id FROM allocation WHERE gone_at IS NULL AND public_ip = ?",
        publicIp);
  }

  private static String find(String sql, String publicIp) {
    return RunningBourse.await(
            bourse.database().read(sql, List.of(publicIp), row -> row.text("id")))
        .get(0);
  }

  private static void record(String nodeId, String allocationId, long atMillis) {
    RunningBourse.await(
        bourse
            .database()
            .commit(
                List.of(
                    Statement.of(
                        """
                        INSERT INTO handover (allocation_id, node_id, cleaned_at, seconds, processes,
                        files, objects, baseline, replaced_key)
                        VALUES (?, ?, ?, 3, 41, 7, 1, 'd1', ?)\
                        """,
                        allocationId,
                        nodeId,
                        atMillis,
                        allocationId.equals("latest") ? "ssh-ed25519 old" : null))));
  }
}
