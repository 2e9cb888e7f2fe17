package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.logs.RequestContext;
import dev.bourse.nodes.Machine;
import dev.bourse.schemas.vm.HostKeyJson;
import dev.bourse.schemas.vm.HostKeyListJson;
import dev.bourse.schemas.vm.NodeHandoverJson;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Operations on the machines that a cluster holds. */
public final class HeldNodeRoutes {
  private final ClusterAccess access;
  private final NodeStore nodes;
  private final NoticePolls polls;

  /**
   * @param polls receives the polls of nodes' agents
   */
  public HeldNodeRoutes(Database database, Clusters clusters, NoticePolls polls) {
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.nodes = new NodeStore(database);
    this.polls = polls;
  }

  public void bind(Operations operations) {
    operations
        .bind("listHostKeys", this::listHostKeys)
        .bind("readHandover", this::readHandover)
        .bind("awaitNotice", this::awaitNotice);
  }

  private Future<Answer> awaitNotice(Call call) {
    RequestContext request = RequestContext.current();
    long begunNanos = request == null ? 0 : request.nanos();
    return polls
        .next(call.node(), call.findText("last"), call.integer("wait_s") * 1_000, call::ifGone)
        .onComplete(
            over -> {
              if (request != null) {
                request.recordWait(RequestContext.Wait.CHANGE, begunNanos);
              }
            })
        .map(notice -> Answer.ok(new JsonObject().put("notice", notice.orElse(null))));
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
        .map(handovers -> Answer.ok(toJson(publicIp, handovers)));
  }

  /** Returns the latest record of a node; null in it if the node has none. */
  static NodeHandoverJson toJson(String publicIp, List<Handover> latest) {
    return new NodeHandoverJson(publicIp, latest.isEmpty() ? null : latest.get(0).toJson());
  }

  static HostKeyListJson toJson(List<Machine> held) {
    return new HostKeyListJson(
        held.stream()
            .map(
                machine ->
                    new HostKeyJson(machine.publicIp(), machine.sshPort(), machine.hostKey()))
            .toList());
  }
}
