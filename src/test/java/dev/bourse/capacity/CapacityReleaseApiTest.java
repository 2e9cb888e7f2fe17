package dev.bourse.capacity;

import static dev.bourse.testing.ClusterClient.texts;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.testing.CapacityApiFixture;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order in which a shrink releases nodes, and the slots that stay. */
@ReplayedOnPostgres
class CapacityReleaseApiTest extends CapacityApiFixture {
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
    assertEquals(3, client.untilHeld(3).size(), "a nomination releases nothing");
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
}
