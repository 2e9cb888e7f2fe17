package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A token's identity and reach, in the demo world. */
@ReplayedOnPostgres
class WhoamiApiTest {
  private static final String PRICE = "clearing_price_per_gpu_hour";

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("limits.requests-per-minute=100000");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static List<String> clusters(JsonObject whoami) {
    return ClusterClient.objects(whoami.getJsonArray("clusters")).stream()
        .map(c -> c.getString("name"))
        .toList();
  }

  private static JsonObject pool(ApiClient caller) {
    return caller.get("/api/vm/capacity?cluster=acme-batch").ok().getJsonObject("pool");
  }

  @Test
  void anOrgWideTokenReachesEveryCluster() {
    ApiClient caller = bourse.as("acme", "orgwide");
    RunningBourse.until("the pool is priced", () -> pool(caller).getValue(PRICE) != null);
    JsonObject whoami = caller.get("/api/whoami").ok();
    assertEquals("acme", whoami.getString("org_id"));
    assertEquals("Acme", whoami.getString("org_display"));
    assertEquals("standard", whoami.getString("org_kind"));
    assertEquals(caller.actor(), whoami.getString("subject"));
    assertEquals(caller.actor(), "token:" + whoami.getString("token_id"));
    assertEquals(
        new JsonArray(
            List.of("bid:read", "bid:write", "billing:read", "capacity:read", "capacity:write")),
        whoami.getJsonArray("scopes"));
    assertNull(whoami.getValue("cluster"));
    assertNull(whoami.getValue("expires_at"));
    assertEquals(List.of("acme-batch", "acme-k8s", "acme-legacy", "acme-train"), clusters(whoami));
    assertEquals(
        new JsonObject()
            .put("name", "acme-batch")
            .put("kind", "vm")
            .put("gpu_vendor", "NVIDIA")
            .put("gpu_model", "H100")
            .put("pool", pool(caller)),
        whoami.getJsonArray("clusters").getJsonObject(0));
    assertEquals(
        "k8s",
        whoami.getJsonArray("clusters").getJsonObject(1).getString("kind"),
        "Kubernetes clusters, too");
    assertEquals(100_000, whoami.getJsonObject("rate_limit").getInteger("requests_per_minute"));
    JsonObject service = whoami.getJsonObject("service");
    assertEquals(
        bourse.operator().get("/api/operator/status").ok().getLong("schema"),
        service.getLong("schema"));
    assertFalse(service.getString("version").isEmpty());
  }

  @Test
  void aBoundTokenReachesItsClusterAlone() {
    JsonObject whoami = bourse.as("acme", "bound").get("/api/whoami").ok();
    assertEquals("acme-train", whoami.getString("cluster"));
    assertEquals(List.of("acme-train"), clusters(whoami));
  }

  @Test
  void aTokenWithoutScopesIsStillSomebody() {
    JsonObject whoami = bourse.as("openlab", "bare").get("/api/whoami").ok();
    assertEquals(new JsonArray(), whoami.getJsonArray("scopes"));
    assertEquals("public_research", whoami.getString("org_kind"));
  }
}
