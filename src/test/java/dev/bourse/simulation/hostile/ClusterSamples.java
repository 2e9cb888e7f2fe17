package dev.bourse.simulation.hostile;

import dev.bourse.access.Scope;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.EnumSet;
import java.util.function.UnaryOperator;

/** Requests of members about clusters and spending. */
final class ClusterSamples {
  private static final String CLUSTERS = "/api/console/clusters";

  private final HostileTarget world;
  private final RunningBourse bourse;
  private final String token;

  ClusterSamples(HostileTarget world) {
    this.world = world;
    this.bourse = world.bourse();
    this.token = McpClient.token(bourse, "acme", "alice", EnumSet.allOf(Scope.class));
  }

  void add() {
    bourse
        .operator()
        .patch("/api/operator/orgs/acme", new JsonObject().put("max_clusters", 10_000))
        .ok();
    member("listConsolePools", s -> s);
    member(
        "listConsoleClusters",
        s -> s.value("state", "in-use").value("limit", "5").value("after", "a"));
    member("createConsoleCluster", s -> s.json(order(world.fresh("c"))));
    member("readConsoleCluster", s -> s.value("cluster", "acme-train"));
    member(
        "describeConsoleCluster",
        s ->
            s.value("cluster", "acme-train")
                .json(new JsonObject().put("description", world.fresh("d"))));
    member("retireConsoleCluster", s -> s.value("cluster", made()).value("give_back", "true"));
    member("readOrgSettings", s -> s);
    member("setOrgSettings", s -> s.json(new JsonObject().put("ssh_keys_need_write", false)));
    member("readSpendLimit", s -> s.value("limit_usd", "12.5"));
    member("setSpendLimit", s -> s.json(new JsonObject().put("limit_usd", 1_000_000.25)));
    member("clearSpendLimit", s -> s);
    member("listUsageDays", s -> s.value("month", "2026-11"));
  }

  private void member(String operationId, UnaryOperator<AcceptedRequest> complete) {
    world.add(operationId, s -> complete.apply(HostileTarget.bearing(s, token)));
  }

  private static JsonObject order(String name) {
    return new JsonObject()
        .put("name", name)
        .put("pool", "demo-h100")
        .put("kind", "vm")
        .put("description", "d");
  }

  private String made() {
    String name = world.fresh("c");
    ApiClient alice = bourse.with(token);
    alice.post(CLUSTERS, order(name));
    return name;
  }
}
