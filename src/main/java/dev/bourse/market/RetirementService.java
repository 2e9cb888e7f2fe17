package dev.bourse.market;

import dev.bourse.access.Operator;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Trails;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.Command;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Ends allocations at an operator's request, in any state. It never waits for the machine, because
 * a dead machine would never answer.
 */
public final class RetirementService {
  /**
   * Attempts at a change before it fails because the market changed the node first. A tick changes
   * a node once.
   */
  private static final int TRIES = 5;

  private final NodeStore store;
  private final ClusterOwners owners;
  private final NodeService nodes;
  private final Clock clock;

  public RetirementService(
      Database database, ClusterOwners owners, NodeService nodes, Clock clock) {
    this.store = new NodeStore(database);
    this.owners = owners;
    this.nodes = nodes;
    this.clock = clock;
  }

  /**
   * Retires a node in any state. Its allocation ends, and its id and its address become free.
   *
   * <p>Fails with {@code not-found}, with {@code forbidden} at another site than the operator's,
   * with {@code conflict} if it is already retired, and with {@code overloaded} if the market keeps
   * changing it.
   *
   * @param operator the requesting operator
   */
  public Future<NodeView> retireNode(Operator operator, String nodeId) {
    return changeWithRetries(operator, nodeId, TRIES, stored -> retire(operator.actor(), stored));
  }

  private Future<Void> retire(String actor, NodeStore.StoredNode stored) {
    String nodeId = stored.node().nodeId();
    NodeStore.Holder holder = stored.holder();
    AuditRow row = audit(actor, "node_retire", nodeId, describe(stored));
    return holder == null
        ? store.retire(stored.pool(), nodeId, row)
        : end(
            stored.pool(),
            holder,
            "an operator retired the machine",
            List.of(
                NodeStore.retired(stored.pool(), nodeId, row.atMillis()), AuditStore.insert(row)));
  }

  /**
   * Evicts a cluster from a node. The machine is cleaned, and the cluster bids for another node. A
   * node that its cluster already gives back stays unchanged.
   *
   * <p>Fails with {@code not-found}, with {@code forbidden} at another site than the operator's,
   * with {@code conflict} if the node is retired, if no cluster or another than the named one holds
   * it, and with {@code overloaded} if the market keeps changing it.
   *
   * @param operator the requesting operator
   * @param cluster the cluster that must hold the node; empty for any
   * @param reason the reason in the trail
   */
  public Future<NodeView> evictNode(
      Operator operator, String nodeId, Optional<String> cluster, String reason) {
    return changeWithRetries(
        operator, nodeId, TRIES, stored -> evict(operator.actor(), stored, cluster, reason));
  }

  private Future<Void> evict(
      String actor, NodeStore.StoredNode stored, Optional<String> cluster, String reason) {
    String nodeId = stored.node().nodeId();
    NodeStore.Holder holder = stored.holder();
    if (holder == null || !holder.cluster().equals(cluster.orElse(holder.cluster()))) {
      String instead = holder == null ? "nobody holds it" : holder.cluster() + " holds it";
      throw ApiException.of(
              ErrorCode.CONFLICT,
              "node %s is not granted%s: %s",
              nodeId,
              cluster.map(name -> " to cluster " + Text.shown(name)).orElse(""),
              instead)
          .with("reason", "wrong-status");
    }
    if (holder.state() == Allocation.State.RECLAIMING) {
      return Future.succeededFuture();
    }
    AuditRow row =
        audit(actor, "node_evict", nodeId, describe(holder) + " reason=" + Text.shown(reason));
    return submit(
        stored.pool(),
        holder,
        OperatorCommands.evict(holder.allocationId()),
        List.of(AuditStore.insert(row)));
  }

  /**
   * Ends a node's reclaim after an operator cleaned the machine.
   *
   * <p>Fails with {@code not-found}, with {@code forbidden} at another site than the operator's,
   * with {@code conflict} if the node is retired or not being reclaimed, and with {@code
   * overloaded} if the market keeps changing it.
   *
   * @param operator the requesting operator
   * @param backToMarket true to let the market grant the node as soon as the machine reports that
   *     it holds no allocation; false to quarantine it until it is released
   */
  public Future<NodeView> endReclaim(Operator operator, String nodeId, boolean backToMarket) {
    return changeWithRetries(
        operator, nodeId, TRIES, stored -> endReclaim(operator.actor(), stored, backToMarket));
  }

  private Future<Void> endReclaim(String actor, NodeStore.StoredNode stored, boolean backToMarket) {
    String nodeId = stored.node().nodeId();
    NodeStore.Holder holder = stored.holder();
    if (holder == null || holder.state() != Allocation.State.RECLAIMING) {
      String instead = holder == null ? "nobody holds it" : holder.cluster() + " holds it";
      throw ApiException.of(
              ErrorCode.CONFLICT, "node %s is not being reclaimed: %s", nodeId, instead)
          .with("reason", "wrong-status");
    }
    String detail = "back_to_market=" + backToMarket + " " + describe(holder);
    AuditRow row = audit(actor, "node_end_reclaim", nodeId, detail);
    return end(
        stored.pool(),
        holder,
        "an operator cleaned the machine",
        List.of(
            NodeStore.cleaned(stored.pool(), nodeId, backToMarket, row.atMillis()),
            AuditStore.insert(row)));
  }

  /**
   * Ends an allocation in one commit with the statements. Fails with {@link
   * NodeStore.NodeMovedException} if it has already ended.
   */
  private Future<Void> end(
      String pool, NodeStore.Holder holder, String why, List<Statement> statements) {
    return submit(pool, holder, OperatorCommands.end(holder.allocationId(), why), statements);
  }

  private Future<Void> submit(
      String pool, NodeStore.Holder holder, Command command, List<Statement> statements) {
    return owners
        .submit(holder.cluster(), command, statements, List.of(NodeStore.changed(pool)))
        .<Void>mapEmpty()
        .recover(
            e ->
                Future.failedFuture(
                    e instanceof ApiException refused && refused.code() == ErrorCode.NOT_FOUND
                        ? new NodeStore.NodeMovedException()
                        : e));
  }

  /**
   * Carries out a change on the current node, and repeats it if the node changes before the commit.
   */
  private Future<NodeView> changeWithRetries(
      Operator operator,
      String nodeId,
      int triesLeft,
      Function<NodeStore.StoredNode, Future<Void>> change) {
    return nodes
        .get(operator, nodeId)
        .compose(
            stored -> {
              if (stored.retiredAtMillis() != null) {
                throw NodeStore.isRetired(nodeId);
              }
              return change
                  .apply(stored)
                  .compose(done -> nodes.changed(operator, stored.pool(), nodeId));
            })
        .recover(
            e -> {
              if (!(e instanceof NodeStore.NodeMovedException)) {
                return Future.failedFuture(e);
              }
              return triesLeft > 1
                  ? changeWithRetries(operator, nodeId, triesLeft - 1, change)
                  : Future.failedFuture(
                      ApiException.retryLater(
                          ErrorCode.OVERLOADED,
                          "the market keeps changing node " + nodeId + "; nothing was stored",
                          1_000));
            });
  }

  /** Describes the machine for the trail, the only record of it after its id is reused. */
  private static String describe(NodeStore.StoredNode stored) {
    Machine machine = stored.machine();
    NodeStore.Holder holder = stored.holder();
    return "pool=%s public_ip=%s ssh_port=%d host_key=%s%s"
        .formatted(
            stored.pool(),
            machine.publicIp(),
            machine.sshPort(),
            NodeService.fingerprint(machine.hostKey()),
            holder == null ? "" : " " + describe(holder));
  }

  private static String describe(NodeStore.Holder holder) {
    return "cluster=" + holder.cluster() + " allocation=" + holder.allocationId();
  }

  private AuditRow audit(String actor, String action, String nodeId, String detail) {
    return new AuditRow(clock.millis(), Trails.PLATFORM, actor, action, nodeId, detail);
  }
}
