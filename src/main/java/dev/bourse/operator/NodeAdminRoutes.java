package dev.bourse.operator;

import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.market.NodeService;
import dev.bourse.market.NodeView;
import dev.bourse.market.RetirementService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Optional;

/** The operator contract's operations on nodes. */
public final class NodeAdminRoutes {
  private final NodeService nodes;
  private final RetirementService retirement;

  public NodeAdminRoutes(NodeService nodes, RetirementService retirement) {
    this.nodes = nodes;
    this.retirement = retirement;
  }

  public void bind(Operations operations) {
    operations
        .bind("listNodes", this::list)
        .bind("addNode", this::add)
        .bind(
            "readNode",
            call -> nodes.readNode(call.text("node_id")).map(node -> Answer.ok(node(node))))
        .bind("updateNode", this::update)
        .bind(
            "releaseNode",
            call ->
                nodes
                    .releaseNode(call.operator().actor(), call.text("node_id"))
                    .map(node -> Answer.ok(node(node))))
        .bind(
            "retryNode",
            call ->
                nodes
                    .retryNode(call.operator().actor(), call.text("node_id"))
                    .map(node -> Answer.ok(node(node))))
        .bind(
            "retireNode",
            call ->
                retirement
                    .retireNode(call.operator().actor(), call.text("node_id"))
                    .map(node -> Answer.ok(node(node))))
        .bind("replaceNodeHostKey", this::replaceHostKey)
        .bind("endNodeReclaim", this::endReclaim);
  }

  private Future<Answer> replaceHostKey(Call call) {
    return nodes
        .replaceHostKey(
            call.operator().actor(), call.text("node_id"), call.body().getString("host_key"))
        .map(node -> Answer.ok(node(node)));
  }

  private Future<Answer> endReclaim(Call call) {
    return retirement
        .endReclaim(
            call.operator().actor(), call.text("node_id"), call.body().getBoolean("back_to_market"))
        .map(node -> Answer.ok(node(node)));
  }

  private Future<Answer> list(Call call) {
    return nodes
        .listNodes(
            call.text("pool"),
            call.findText("after").orElse(""),
            call.findText("status").filter("retired"::equals).isPresent(),
            CommonFields.limit(call))
        .map(page -> Answer.ok(CommonFields.page("nodes", page, "node_id", NodeAdminRoutes::node)));
  }

  private Future<Answer> add(Call call) {
    JsonObject body = call.body();
    return nodes
        .addNode(
            call.operator().actor(),
            call.text("pool"),
            new NodeService.Added(
                body.getString("node_id"),
                Optional.ofNullable(body.getString("public_ip")),
                Optional.ofNullable(body.getInteger("ssh_port")),
                Optional.ofNullable(body.getString("host_key"))))
        .map(node -> Answer.created(node(node)));
  }

  private Future<Answer> update(Call call) {
    return nodes
        .cordonNode(
            call.operator().actor(), call.text("node_id"), call.body().getBoolean("cordoned"))
        .map(node -> Answer.ok(node(node)));
  }

  private static JsonObject node(NodeView node) {
    return new JsonObject()
        .put("node_id", node.nodeId())
        .put("pool", node.pool())
        .put("public_ip", node.publicIp())
        .put("ssh_port", node.sshPort())
        .put("host_key", node.hostKey())
        .put("state", node.state().name().toLowerCase(Locale.ROOT).replace('_', '-'))
        .put("cluster", node.cluster())
        .put("cordoned", node.cordoned())
        .put("failures", node.failures())
        .put("backing_off_until", Times.rfc3339OrNull(node.backingOffUntilMillis()))
        .put("quarantined_since", Times.rfc3339OrNull(node.quarantinedAtMillis()))
        .put("unclean_after", node.uncleanAfter())
        .put("last_seen", Times.rfc3339OrNull(node.lastSeenMillis()))
        .put("last_error", node.lastError())
        .put("created_at", Times.rfc3339(node.createdAtMillis()))
        .put("retired_at", Times.rfc3339OrNull(node.retiredAtMillis()));
  }
}
