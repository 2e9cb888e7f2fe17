package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.Clusters;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Tells who logs in to nodes how to know them. */
public final class HostKeyRoutes {
  private final ClusterAccess access;
  private final NodeStore nodes;

  public HostKeyRoutes(Database database, Clusters clusters) {
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.nodes = new NodeStore(database);
  }

  public void bind(Operations operations) {
    operations.bind("listHostKeys", this::listHostKeys);
  }

  private Future<Answer> listHostKeys(Call call) {
    String cluster = access.resolve(call.principal(), call.findText("cluster")).cluster().name();
    return nodes.listHeld(cluster).map(held -> Answer.ok(toJson(held)));
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
