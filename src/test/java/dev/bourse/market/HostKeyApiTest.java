package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** How nodes are known to whoever logs in to them. */
@ReplayedOnPostgres
class HostKeyApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(2, "market.tick=200ms", "capacity.write-cadence=0");
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
}
