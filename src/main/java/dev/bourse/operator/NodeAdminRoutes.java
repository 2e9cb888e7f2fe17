package dev.bourse.operator;

import dev.bourse.core.Page;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.market.NodeService;
import dev.bourse.market.NodeStore;
import dev.bourse.market.NodeView;
import dev.bourse.market.RetirementService;
import dev.bourse.schemas.operator.NewNodeJson;
import dev.bourse.schemas.operator.NodeChangeJson;
import dev.bourse.schemas.operator.NodeEvictionJson;
import dev.bourse.schemas.operator.NodeHostKeyJson;
import dev.bourse.schemas.operator.NodeReclaimEndJson;
import dev.bourse.schemas.operator.RebaselineJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Operations of the operator contract on nodes. */
public final class NodeAdminRoutes {
  private final NodeService nodes;
  private final RetirementService retirement;

  public NodeAdminRoutes(NodeService nodes, RetirementService retirement) {
    this.nodes = nodes;
    this.retirement = retirement;
  }

  public void bind(Operations operations) {
    operations
        .ok("listNodes", this::list, CommonFields.page("nodes", "node_id", NodeView::toJson))
        .ok("findNodes", this::find, CommonFields.page("nodes", "node_id", NodeView::toJson))
        .created("addNode", this::add, NodeView::toJson)
        .ok("readNode", call -> nodes.readNode(call.operator(), node(call)), NodeView::toJson)
        .ok(
            "updateNode",
            call ->
                nodes.cordonNode(
                    call.operator(), node(call), NodeChangeJson.read(call.body()).cordoned()),
            NodeView::toJson)
        .ok("releaseNode", call -> nodes.releaseNode(call.operator(), node(call)), NodeView::toJson)
        .ok(
            "reviewNodeHandovers",
            call ->
                nodes
                    .listHandovers(call.operator(), node(call))
                    .map(list -> new JsonObject().put("handovers", new JsonArray(list))),
            handovers -> handovers)
        .ok(
            "rebaselineNode",
            call ->
                nodes.rebaselineNode(
                    call.operator(),
                    node(call),
                    Optional.ofNullable(RebaselineJson.read(call.body()).digest())),
            result -> result)
        .ok("retryNode", call -> nodes.retryNode(call.operator(), node(call)), NodeView::toJson)
        .ok(
            "retireNode",
            call -> retirement.retireNode(call.operator(), node(call)),
            NodeView::toJson)
        .ok("evictNode", this::evict, NodeView::toJson)
        .ok(
            "replaceNodeHostKey",
            call ->
                nodes.replaceHostKey(
                    call.operator(), node(call), NodeHostKeyJson.read(call.body()).hostKey()),
            NodeView::toJson)
        .ok(
            "endNodeReclaim",
            call ->
                retirement.endReclaim(
                    call.operator(),
                    node(call),
                    NodeReclaimEndJson.read(call.body()).backToMarket()),
            NodeView::toJson);
  }

  private Future<NodeView> evict(Call call) {
    NodeEvictionJson sent = NodeEvictionJson.read(call.body());
    return retirement.evictNode(
        call.operator(), node(call), Optional.ofNullable(sent.cluster()), sent.reason());
  }

  private static String node(Call call) {
    return call.text("node_id");
  }

  private Future<Page<NodeView>> list(Call call) {
    return nodes.listNodes(
        call.operator(),
        call.text("pool"),
        call.after(),
        call.findText("status").filter("retired"::equals).isPresent(),
        call.limit());
  }

  private Future<Page<NodeView>> find(Call call) {
    return nodes.findNodes(
        call.operator(),
        new NodeStore.Sought(
            call.findText("pool"),
            call.findText("site"),
            call.findText("state").map(NodeView.State::of)),
        call.after(),
        call.limit());
  }

  private Future<NodeView> add(Call call) {
    NewNodeJson sent = NewNodeJson.read(call.body());
    return nodes.addNode(
        call.operator(),
        call.text("pool"),
        new NodeService.Added(
            sent.nodeId(),
            Optional.ofNullable(sent.publicIp()),
            Optional.ofNullable(sent.sshPort()),
            Optional.ofNullable(sent.hostKey())));
  }
}
