package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
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

/** The merged list of declarations and what the market did about them. */
@EachEngine
class ActivityApiTest {
  private static final String ACTIVITY = "/api/vm/activity";

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(10);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @Test
  void aDeclarationIsARequestWithItsArguments() {
    Desk desk = bourse.stage().redA();
    desk.declare(0, 2.5);
    JsonObject entry = desk.activity().get(0);
    assertEquals("request", entry.getString("kind"));
    assertEquals(desk.cluster(), entry.getString("cluster"));
    assertEquals(desk.caller().actor(), entry.getString("actor"));
    assertEquals("user", entry.getString("who"));
    assertEquals(0, entry.getInteger("max_gpus"));
    assertEquals(2.5, entry.getDouble("max_price_per_gpu_hour"));
    assertNull(entry.getValue("note"));
    assertNull(entry.getValue("reason"));
  }

  @Test
  void grantsAndReleasesAreActionsThatNameTheAddress() {
    Desk desk = bourse.stage().redA();
    String node = desk.hold(1, 2).get(0);
    desk.declare(0, 2);
    desk.untilHeld(0);
    List<JsonObject> activity = desk.activity();
    assertEquals(
        List.of("action", "request", "action", "request"),
        activity.stream().map(e -> e.getString("kind")).toList());
    JsonObject released = activity.get(0);
    assertEquals("released " + node, released.getString("note"));
    assertEquals("scale-down", released.getString("reason"));
    assertEquals(desk.caller().actor(), released.getString("actor"));
    JsonObject granted = activity.get(2);
    assertEquals("granted " + node, granted.getString("note"));
    assertNull(granted.getValue("reason"));
    assertNull(granted.getValue("who"));
    assertEquals("system:market", granted.getString("actor"));
  }

  @Test
  void readsAndRefusedWritesNeverAppear() {
    Desk desk = bourse.stage().redA();
    desk.state();
    desk.put(desk.order(1, 2)).refused(ErrorCode.NO_SSH_KEYS);
    desk.addKey();
    assertEquals(List.of(), desk.activity());
  }

  @Test
  void thirtyEntriesAPageNewestFirst() {
    Desk desk = bourse.stage().redA();
    for (int i = 0; i < 65; i++) {
      desk.declare(0, (200 + i) / 100.0);
    }
    List<JsonObject> all = new ArrayList<>();
    for (int page = 0; page < 3; page++) {
      JsonObject answer = page(desk, page, "");
      assertEquals(page < 2 ? 30 : 5, answer.getJsonArray("entries").size());
      assertEquals(page < 2, answer.getBoolean("more"));
      all.addAll(Desk.objects(answer.getJsonArray("entries")));
    }
    assertEquals(
        all.stream().sorted(Comparator.comparingLong((JsonObject e) -> -e.getLong("id"))).toList(),
        all);
    assertEquals(2.64, all.get(0).getDouble("max_price_per_gpu_hour"));
    assertEquals(new JsonArray(), page(desk, 3, "").getJsonArray("entries"));
    assertFalse(page(desk, 1_000_000, "").getBoolean("more"));
  }

  private static JsonObject page(Desk desk, int page, String more) {
    return desk.caller().get(ACTIVITY + "?cluster=" + desk.cluster() + "&page=" + page + more).ok();
  }

  @Test
  void exactlyAPageHasNoMore() {
    Desk desk = bourse.stage().redA();
    for (int i = 0; i < 30; i++) {
      desk.declare(0, 2);
    }
    JsonObject page = page(desk, 0, "");
    assertEquals(30, page.getJsonArray("entries").size());
    assertFalse(page.getBoolean("more"));
  }

  @Test
  void eachSourceIsRead400RowsDeep() {
    Desk desk = bourse.stage().redA();
    desk.hold(1, 2);
    for (int i = 0; i < 405; i++) {
      desk.declare(1, 2);
    }
    int requests = 0;
    int actions = 0;
    for (int page = 0; page < 14; page++) {
      for (JsonObject entry : Desk.objects(page(desk, page, "").getJsonArray("entries"))) {
        requests += entry.getString("kind").equals("request") ? 1 : 0;
        actions += entry.getString("kind").equals("action") ? 1 : 0;
      }
    }
    assertEquals(400, requests);
    assertEquals(1, actions, "an old action shows though as many requests are newer");
    assertFalse(page(desk, 13, "").getBoolean("more"));
  }

  @Test
  void whoShowsOnlyRequestsOfThatOrigin() {
    Desk desk = bourse.stage().redFixed();
    desk.declare(1, 2);
    desk.untilHeld(1);
    assertEquals(3, desk.activity().size());
    List<JsonObject> users = Desk.objects(page(desk, 0, "&who=user").getJsonArray("entries"));
    assertEquals(1, users.size());
    assertEquals(desk.caller().actor(), users.get(0).getString("actor"));
    List<JsonObject> systems = Desk.objects(page(desk, 0, "&who=system").getJsonArray("entries"));
    assertEquals(1, systems.size());
    assertEquals("system:operator", systems.get(0).getString("actor"));
    assertEquals("system", systems.get(0).getString("who"));
  }

  @Test
  void anOrgWideTokenSeesItsClustersMergedAndABoundOneItsOwn() {
    Stage stage = bourse.stage();
    stage.redA().declare(0, 2);
    stage.redB().declare(0, 3);
    stage.blueA().declare(0, 4);
    assertEquals(
        Set.of(stage.redA().cluster(), stage.redB().cluster(), stage.redFixed().cluster()),
        clusters(stage.red("orgwide")));
    assertEquals(Set.of(stage.redA().cluster()), clusters(stage.red("bound")));
    stage
        .red("bound")
        .get(ACTIVITY + "?cluster=" + stage.redB().cluster())
        .refused(ErrorCode.FORBIDDEN);
    stage.red("orgwide").get(ACTIVITY + "?cluster=" + stage.blue()).refused(ErrorCode.NOT_FOUND);
  }

  private static Set<String> clusters(Caller caller) {
    Set<String> clusters = new HashSet<>();
    Desk.objects(caller.get(ACTIVITY).ok().getJsonArray("entries"))
        .forEach(e -> clusters.add(e.getString("cluster")));
    return clusters;
  }

  @Test
  void faultyPagingIsABadRequest() {
    Caller caller = bourse.stage().blue("bare");
    for (String query :
        List.of("page=-1", "page=x", "page=1.5", "page=", "who=market", "who=", "limit=5")) {
      String detail =
          caller.get(ACTIVITY + "?" + query).refused(ErrorCode.BAD_REQUEST).getString("detail");
      assertTrue(detail.contains(query.replaceAll("=.*", "")), detail);
    }
    caller.get(ACTIVITY + "?page=0&page=1").refused(ErrorCode.BAD_REQUEST);
  }
}
