package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Operations on the machines that a cluster holds. */
public final class HeldNodeRoutes {
  private final ClusterAccess access;
  private final NodeStore nodes;

  public HeldNodeRoutes(Database database, Clusters clusters) {
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.nodes = new NodeStore(database);
  }

  public void bind(Operations operations) {
    operations.bind("listHostKeys", this::listHostKeys).bind("readHandover", this::readHandover);
  }

  private Future<Answer> listHostKeys(Call call) {
    String cluster = access.resolve(call.principal(), call.findText("cluster")).cluster().name();
    return nodes.listHeld(cluster).map(held -> Answer.ok(toJson(held)));
  }

  private Future<Answer> readHandover(Call call) {
    String publicIp = call.text("public_ip");
    Allocation held =
        access.listUnsettled(call.principal()).stream()
            .flatMap(view -> view.cluster().allocations().stream())
            .filter(allocation -> publicIp.equals(allocation.publicIp()))
            .findFirst()
            .orElseThrow(() -> ApiException.notFound("node", publicIp));
    return nodes
        .listHandovers(held.nodeId(), held.allocationId(), 1)
        .map(
            handovers ->
                Answer.ok(
                    new JsonObject()
                        .put("public_ip", publicIp)
                        .put(
                            "handover",
                            handovers.isEmpty() ? null : handovers.get(0).forTenant())));
  }

  private static JsonObject toJson(List<Machine> held) {
    JsonArray keys = new JsonArray();
    for (Machine machine : held) {
      keys.add(
          new JsonObject()
              .put("public_ip", machine.publicIp())
              .put("ssh_port", machine.sshPort())
              .put("host_key", machine.hostKey()));
    }
    return new JsonObject().put("host_keys", keys);
  }
}
