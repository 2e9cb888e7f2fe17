package dev.bourse.app;

import static dev.bourse.app.Desk.texts;
import static dev.bourse.app.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a shrink releases, in which order, and which slots are left. */
@EachEngine
class CapacityReleaseApiTest extends CapacityApiFixture {
  @Test
  void aShrinkReclaimsAtOnceInThePlannedOrder() {
    Desk desk = bourse.stage().redA();
    desk.hold(1, 2);
    desk.hold(3, 2);
    List<String> planned = texts(desk.state().getJsonArray("planned_release"));
    JsonObject shrunk = desk.declare(1, 2);
    assertEquals(0, shrunk.getInteger("pending"));
    List<String> going = new ArrayList<>();
    for (JsonObject allocation : Desk.objects(shrunk.getJsonArray("allocations"))) {
      if (allocation.getString("state").equals("reclaiming")) {
        going.add(allocation.getString("public_ip"));
      }
    }
    assertEquals(new HashSet<>(planned.subList(0, 2)), new HashSet<>(going));
    assertEquals(planned.subList(2, 3), texts(shrunk.getJsonArray("planned_release")));
    assertEquals(planned.subList(2, 3), desk.untilHeld(1));
  }

  @Test
  void thePlanTakesTheNewestGrantFirst() {
    Desk desk = bourse.stage().redA();
    String first = desk.hold(1, 2).get(0);
    desk.hold(3, 2);
    List<String> planned = texts(desk.state().getJsonArray("planned_release"));
    assertEquals(first, planned.get(2));
    assertEquals(desk.allocations().get(2).getString("public_ip"), planned.get(0));
  }

  @Test
  void zeroReleasesEverything() {
    Desk desk = bourse.stage().redA();
    desk.hold(3, 2);
    JsonObject empty = desk.declare(0, 2);
    assertEquals(new JsonArray(), empty.getJsonArray("planned_release"));
    assertTrue(
        Desk.objects(empty.getJsonArray("allocations")).stream()
            .allMatch(a -> a.getString("state").equals("reclaiming")));
    desk.untilHeld(0);
    assertEquals(0, desk.state().getJsonObject("declared").getInteger("max_gpus"));
  }

  @Test
  void nominatedNodesGoFirst() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(3, 2);
    JsonArray release = new JsonArray().add(held.get(0)).add(held.get(2));
    JsonObject nominated = desk.put(desk.order(3, 2).put("release", release)).ok();
    assertEquals(release, nominated.getJsonArray("nominations"));
    assertEquals(
        List.of(held.get(0), held.get(2), held.get(1)),
        texts(nominated.getJsonArray("planned_release")));
    assertEquals(3, desk.untilHeld(3).size(), "naming alone releases nothing");
    desk.declare(2, 2);
    assertEquals(List.of(held.get(1), held.get(2)), desk.untilHeld(2));
    assertEquals(List.of(held.get(2)), texts(desk.state().getJsonArray("nominations")));
  }

  @Test
  void releaseReplacesTheNominationsOmissionKeepsThemAndAnEmptyArrayClearsThem() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(2, 2);
    desk.put(desk.order(2, 2).put("release", new JsonArray().add(held.get(0)))).ok();
    assertEquals(List.of(held.get(0)), texts(desk.declare(2, 3).getJsonArray("nominations")));
    JsonObject replaced =
        desk.put(desk.order(2, 2).put("release", new JsonArray().add(held.get(1)))).ok();
    assertEquals(List.of(held.get(1)), texts(replaced.getJsonArray("nominations")));
    JsonObject cleared = desk.put(desk.order(2, 2).put("release", new JsonArray())).ok();
    assertEquals(new JsonArray(), cleared.getJsonArray("nominations"));
  }

  @Test
  void anAddressThatIsNotHeldWritesNothing() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(2, 2);
    JsonObject before = desk.state();
    JsonArray release = new JsonArray().add(held.get(0)).add("192.0.2.7");
    JsonObject refusal =
        desk.put(desk.order(1, 2).put("release", release)).refused(ErrorCode.UNKNOWN_NODE);
    assertTrue(refusal.getString("detail").contains("192.0.2.7"), refusal.encode());
    assertEquals(before, desk.state());
  }

  @Test
  void aNominationTiedToASwapOutlivesAnEmptyRelease() {
    // Blue holds what is left, so that the swap stays in flight.
    Stage stage = bourse.stage();
    Desk desk = stage.redA();
    List<String> held = desk.hold(2, 2);
    stage.blueA().hold(2, 2);
    desk.put(desk.order(2, 2).put("release", new JsonArray().add(held.get(0)))).ok();
    desk.swap(held.get(1)).ok();
    JsonObject cleared = desk.put(desk.order(2, 2).put("release", new JsonArray())).ok();
    assertEquals(List.of(held.get(1)), texts(cleared.getJsonArray("nominations")));
    assertEquals(List.of(held.get(1)), texts(cleared.getJsonArray("swaps")));
    JsonObject named =
        desk.put(desk.order(2, 2).put("release", new JsonArray().add(held.get(0)))).ok();
    assertEquals(held, texts(named.getJsonArray("nominations")));
  }

  @Test
  void aFilledSlotIsNotPending() {
    Desk desk = bourse.stage().redA();
    desk.addKey();
    assertEquals(6, desk.declare(6, 2).getInteger("pending"));
    until("four of six", () -> desk.state().getInteger("pending") == 2);
    assertEquals(Stage.NODES, desk.untilHeld(Stage.NODES).size());
  }

  @Test
  void slotsAreTheLowestFreeOnes() {
    Desk desk = bourse.stage().redA();
    List<String> held = desk.hold(3, 2);
    desk.put(desk.order(2, 2).put("release", new JsonArray().add(held.get(1)))).ok();
    desk.untilHeld(2);
    desk.declare(3, 2);
    desk.untilHeld(3);
    List<Integer> slots = new ArrayList<>();
    desk.allocations().forEach(a -> slots.add(a.getInteger("slot")));
    Collections.sort(slots);
    assertEquals(List.of(0, 1, 2), slots);
  }
}
