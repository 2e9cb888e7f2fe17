package dev.bourse.capacity;

import static dev.bourse.testing.ClusterClient.texts;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.CapacityApiFixture;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a shrink releases, in which order, and which slots are left. */
@ReplayedOnPostgres
class CapacityReleaseApiTest extends CapacityApiFixture {
  @Test
  void aShrinkReclaimsAtOnceInThePlannedOrder() {
    ClusterClient client = bourse.market().redA();
    client.hold(1, 2);
    client.hold(3, 2);
    List<String> planned = texts(client.state().getJsonArray("planned_release"));
    JsonObject shrunk = client.declare(1, 2);
    assertEquals(0, shrunk.getInteger("pending"));
    List<String> going = new ArrayList<>();
    for (JsonObject allocation : ClusterClient.objects(shrunk.getJsonArray("allocations"))) {
      if (allocation.getString("state").equals("reclaiming")) {
        going.add(allocation.getString("public_ip"));
      }
    }
    assertEquals(new HashSet<>(planned.subList(0, 2)), new HashSet<>(going));
    assertEquals(planned.subList(2, 3), texts(shrunk.getJsonArray("planned_release")));
    assertEquals(planned.subList(2, 3), client.untilHeld(1));
  }

  @Test
  void thePlanTakesTheNewestGrantFirst() {
    ClusterClient client = bourse.market().redA();
    String first = client.hold(1, 2).get(0);
    client.hold(3, 2);
    List<String> planned = texts(client.state().getJsonArray("planned_release"));
    assertEquals(first, planned.get(2));
    assertEquals(client.allocations().get(2).getString("public_ip"), planned.get(0));
  }

  @Test
  void zeroReleasesEverything() {
    ClusterClient client = bourse.market().redA();
    client.hold(3, 2);
    JsonObject empty = client.declare(0, 2);
    assertEquals(new JsonArray(), empty.getJsonArray("planned_release"));
    assertTrue(
        ClusterClient.objects(empty.getJsonArray("allocations")).stream()
            .allMatch(a -> a.getString("state").equals("reclaiming")));
    client.untilHeld(0);
    assertEquals(0, client.state().getJsonObject("declared").getInteger("max_gpus"));
  }

  @Test
  void nominatedNodesGoFirst() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(3, 2);
    JsonArray release = new JsonArray().add(held.get(0)).add(held.get(2));
    JsonObject nominated = client.put(client.order(3, 2).put("release", release)).ok();
    assertEquals(release, nominated.getJsonArray("nominations"));
    assertEquals(
        List.of(held.get(0), held.get(2), held.get(1)),
        texts(nominated.getJsonArray("planned_release")));
    assertEquals(3, client.untilHeld(3).size(), "naming alone releases nothing");
    client.declare(2, 2);
    assertEquals(List.of(held.get(1), held.get(2)), client.untilHeld(2));
    assertEquals(List.of(held.get(2)), texts(client.state().getJsonArray("nominations")));
  }

  @Test
  void releaseReplacesTheNominationsOmissionKeepsThemAndAnEmptyArrayClearsThem() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(2, 2);
    client.put(client.order(2, 2).put("release", new JsonArray().add(held.get(0)))).ok();
    assertEquals(List.of(held.get(0)), texts(client.declare(2, 3).getJsonArray("nominations")));
    JsonObject replaced =
        client.put(client.order(2, 2).put("release", new JsonArray().add(held.get(1)))).ok();
    assertEquals(List.of(held.get(1)), texts(replaced.getJsonArray("nominations")));
    JsonObject cleared = client.put(client.order(2, 2).put("release", new JsonArray())).ok();
    assertEquals(new JsonArray(), cleared.getJsonArray("nominations"));
  }

  @Test
  void anAddressThatIsNotHeldWritesNothing() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(2, 2);
    JsonObject before = client.withoutPrices();
    JsonArray release = new JsonArray().add(held.get(0)).add("192.0.2.7");
    JsonObject refusal =
        client.put(client.order(1, 2).put("release", release)).refused(ErrorCode.UNKNOWN_NODE);
    assertTrue(refusal.getString("detail").contains("192.0.2.7"), refusal.encode());
    assertEquals(before, client.withoutPrices());
  }

  @Test
  void aNominationTiedToASwapOutlivesAnEmptyRelease() {
    // Blue holds what is left, so that the swap stays in flight.
    TestMarket market = bourse.market();
    ClusterClient client = market.redA();
    List<String> held = client.hold(2, 2);
    market.blueA().hold(2, 2);
    client.put(client.order(2, 2).put("release", new JsonArray().add(held.get(0)))).ok();
    client.swap(held.get(1)).ok();
    JsonObject cleared = client.put(client.order(2, 2).put("release", new JsonArray())).ok();
    assertEquals(List.of(held.get(1)), texts(cleared.getJsonArray("nominations")));
    assertEquals(List.of(held.get(1)), texts(cleared.getJsonArray("swaps")));
    JsonObject named =
        client.put(client.order(2, 2).put("release", new JsonArray().add(held.get(0)))).ok();
    assertEquals(held, texts(named.getJsonArray("nominations")));
  }

  @Test
  void aFilledSlotIsNotPending() {
    ClusterClient client = bourse.market().redA();
    client.addKey();
    assertEquals(6, client.declare(6, 2).getInteger("pending"));
    until("four of six", () -> client.state().getInteger("pending") == 2);
    assertEquals(TestMarket.NODES, client.untilHeld(TestMarket.NODES).size());
  }

  @Test
  void slotsAreTheLowestFreeOnes() {
    ClusterClient client = bourse.market().redA();
    List<String> held = client.hold(3, 2);
    client.put(client.order(2, 2).put("release", new JsonArray().add(held.get(1)))).ok();
    client.untilHeld(2);
    client.declare(3, 2);
    client.untilHeld(3);
    List<Integer> slots = new ArrayList<>();
    client.allocations().forEach(a -> slots.add(a.getInteger("slot")));
    Collections.sort(slots);
    assertEquals(List.of(0, 1, 2), slots);
  }
}
