package dev.bourse.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The merged list of declarations and the market's actions on them. */
@ReplayedOnPostgres
class ActivityApiTest {
  private static final String ACTIVITY = "/api/vm/activity";

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(10);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @Test
  void aDeclarationIsARequestWithItsArguments() {
    ClusterClient client = bourse.market().redA();
    client.declare(0, 2.5);
    JsonObject entry = client.activity().get(0);
    assertEquals("request", entry.getString("kind"));
    assertEquals(client.cluster(), entry.getString("cluster"));
    assertEquals(client.caller().actor(), entry.getString("actor"));
    assertEquals("user", entry.getString("who"));
    assertEquals(0, entry.getInteger("max_gpus"));
    assertEquals(2.5, entry.getDouble("max_price_per_gpu_hour"));
    assertNull(entry.getValue("note"));
    assertNull(entry.getValue("reason"));
  }

  @Test
  void grantsAndReleasesAreActionsThatNameTheAddress() {
    ClusterClient client = bourse.market().redA();
    String node = client.hold(1, 2).get(0);
    client.declare(0, 2);
    client.untilHeld(0);
    List<JsonObject> activity = client.activity();
    assertEquals(
        List.of("action", "request", "action", "request"),
        activity.stream().map(e -> e.getString("kind")).toList());
    JsonObject released = activity.get(0);
    assertEquals("released " + node, released.getString("note"));
    assertEquals("scale-down", released.getString("reason"));
    assertEquals(client.caller().actor(), released.getString("actor"));
    JsonObject granted = activity.get(2);
    assertEquals("granted " + node, granted.getString("note"));
    assertNull(granted.getValue("reason"));
    assertNull(granted.getValue("who"));
    assertEquals("system:market", granted.getString("actor"));
  }

  @Test
  void readsAndRefusedWritesNeverAppear() {
    ClusterClient client = bourse.market().redA();
    client.state();
    client.put(client.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
    client.addKey();
    assertEquals(List.of(), client.activity());
  }

  @Test
  void thirtyEntriesAPageNewestFirst() {
    ClusterClient client = bourse.market().redA();
    for (int i = 0; i < 65; i++) {
      client.declare(0, (200 + i) / 100.0);
    }
    List<JsonObject> all = new ArrayList<>();
    for (int page = 0; page < 3; page++) {
      JsonObject answer = page(client, page, "");
      assertEquals(page < 2 ? 30 : 5, answer.getJsonArray("entries").size());
      assertEquals(page < 2, answer.getBoolean("more"));
      all.addAll(ClusterClient.objects(answer.getJsonArray("entries")));
    }
    assertEquals(
        all.stream().sorted(Comparator.comparingLong((JsonObject e) -> -e.getLong("id"))).toList(),
        all);
    assertEquals(2.64, all.get(0).getDouble("max_price_per_gpu_hour"));
    assertEquals(new JsonArray(), page(client, 3, "").getJsonArray("entries"));
    assertFalse(page(client, 1_000_000, "").getBoolean("more"));
  }

  private static JsonObject page(ClusterClient client, int page, String more) {
    return client
        .caller()
        .get(ACTIVITY + "?cluster=" + client.cluster() + "&page=" + page + more)
        .ok();
  }

  @Test
  void exactlyAPageHasNoMore() {
    ClusterClient client = bourse.market().redA();
    for (int i = 0; i < 30; i++) {
      client.declare(0, 2);
    }
    JsonObject page = page(client, 0, "");
    assertEquals(30, page.getJsonArray("entries").size());
    assertFalse(page.getBoolean("more"));
  }

  /** Declares 405 times, because a source is read 400 rows deep. */
  @Test
  void whoShowsOnlyRequestsOfThatOrigin() {
    ClusterClient client = bourse.market().redFixed();
    client.declare(1, 2);
    client.untilHeld(1);
    assertEquals(3, client.activity().size());
    List<JsonObject> users =
        ClusterClient.objects(page(client, 0, "&who=user").getJsonArray("entries"));
    assertEquals(1, users.size());
    assertEquals(client.caller().actor(), users.get(0).getString("actor"));
    List<JsonObject> systems =
        ClusterClient.objects(page(client, 0, "&who=system").getJsonArray("entries"));
    assertEquals(1, systems.size());
    assertEquals("system:operator", systems.get(0).getString("actor"));
    assertEquals("system", systems.get(0).getString("who"));
  }

  @Test
  void anOrgWideTokenSeesItsClustersMergedAndABoundOneItsOwn() {
    TestMarket market = bourse.market();
    market.redA().declare(0, 2);
    market.redB().declare(0, 3);
    market.blueA().declare(0, 4);
    assertEquals(
        Set.of(market.redA().cluster(), market.redB().cluster(), market.redFixed().cluster()),
        clusters(market.red("orgwide")));
    assertEquals(Set.of(market.redA().cluster()), clusters(market.red("bound")));
    market
        .red("bound")
        .get(ACTIVITY + "?cluster=" + market.redB().cluster())
        .refused(ErrorCode.FORBIDDEN);
    market.red("orgwide").get(ACTIVITY + "?cluster=" + market.blue()).refused(ErrorCode.NOT_FOUND);
  }

  private static Set<String> clusters(ApiClient caller) {
    Set<String> clusters = new HashSet<>();
    ClusterClient.objects(caller.get(ACTIVITY).ok().getJsonArray("entries"))
        .forEach(e -> clusters.add(e.getString("cluster")));
    return clusters;
  }

  @Test
  void faultyPagingIsABadRequest() {
    ApiClient caller = bourse.market().blue("bare");
    for (String query :
        List.of("page=-1", "page=x", "page=1.5", "page=", "who=market", "who=", "limit=5")) {
      String detail =
          caller.get(ACTIVITY + "?" + query).refused(ErrorCode.BAD_REQUEST).getString("detail");
      assertTrue(detail.contains(query.replaceAll("=.*", "")), detail);
    }
    caller.get(ACTIVITY + "?page=0&page=1").refused(ErrorCode.BAD_REQUEST);
  }
}
