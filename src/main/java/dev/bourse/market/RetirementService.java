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
 * Takes machines out of allocations by an operator's word, whatever they are doing: nothing is
 * asked of a machine, for one that is dead or gone would never answer.
 */
public final class RetirementService {
  /** How often a node is looked at anew because the market moved it first; a tick moves it once. */
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
   * Retires a node in any state: an allocation ends with it, its id and its address are free.
   *
   * <p>Refused with {@code not-found}, with {@code forbidden} at another site than the operator's,
   * with {@code conflict} when it is retired already, with {@code overloaded} when the market keeps
   * moving it.
   *
   * @param operator who asks
   */
  public Future<NodeView> retireNode(Operator operator, String nodeId) {
    return untilItHolds(operator, nodeId, TRIES, stored -> retire(operator.actor(), stored));
  }

  private Future<Void> retire(String actor, NodeStore.StoredNode stored) {
    String nodeId = stored.node().nodeId();
    NodeStore.Holder holder = stored.holder();
    AuditRow row = audit(actor, "node_retire", nodeId, told(stored));
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
   * Takes a granted node from its cluster; the machine is cleaned, and the cluster bids on for
   * another. One that its cluster gives back already stays as it is.
   *
   * <p>Refused with {@code not-found}, with {@code forbidden} at another site than the operator's,
   * with {@code conflict} when it is retired, when nobody holds it or another cluster than the one
   * named does, with {@code overloaded} when the market keeps moving it.
   *
   * @param operator who asks
   * @param cluster the cluster that must hold it; empty for whichever does
   * @param reason why, for the trail
   */
  public Future<NodeView> evictNode(
      Operator operator, String nodeId, Optional<String> cluster, String reason) {
    return untilItHolds(
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
        audit(actor, "node_evict", nodeId, told(holder) + " reason=" + Text.shown(reason));
    return submit(
        stored.pool(),
        holder,
        OperatorCommands.evict(holder.allocationId()),
        List.of(AuditStore.insert(row)));
  }

  /**
   * Ends a node's reclaim: an operator cleaned the machine.
   *
   * <p>Refused with {@code not-found}, with {@code forbidden} at another site than the operator's,
   * with {@code conflict} when it is retired or not being reclaimed, with {@code overloaded} when
   * the market keeps moving it.
   *
   * @param operator who asks
   * @param backToMarket whether it may be granted, as soon as it says that it holds nothing; else
   *     it is quarantined until it is released
   */
  public Future<NodeView> endReclaim(Operator operator, String nodeId, boolean backToMarket) {
    return untilItHolds(
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
    String detail = "back_to_market=" + backToMarket + " " + told(holder);
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
   * In one commit with the statements; fails with {@link NodeStore.NodeMovedException} when it is
   * over already.
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

  /** Carries a change out on the node as it is, anew for as long as it moves before the commit. */
  private Future<NodeView> untilItHolds(
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
                  ? untilItHolds(operator, nodeId, triesLeft - 1, change)
                  : Future.failedFuture(
                      ApiException.retryLater(
                          ErrorCode.OVERLOADED,
                          "the market keeps moving node " + nodeId + "; nothing was changed",
                          1_000));
            });
  }

  /** The machine as it was, for once its id is another's the trail alone remembers it. */
  private static String told(NodeStore.StoredNode stored) {
    Machine machine = stored.machine();
    NodeStore.Holder holder = stored.holder();
    return "pool=%s public_ip=%s ssh_port=%d host_key=%s%s"
        .formatted(
            stored.pool(),
            machine.publicIp(),
            machine.sshPort(),
            NodeService.fingerprint(machine.hostKey()),
            holder == null ? "" : " " + told(holder));
  }

  private static String told(NodeStore.Holder holder) {
    return "cluster=" + holder.cluster() + " allocation=" + holder.allocationId();
  }

  private AuditRow audit(String actor, String action, String nodeId, String detail) {
    return new AuditRow(clock.millis(), Trails.PLATFORM, actor, action, nodeId, detail);
  }
}
