package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Command;
import dev.bourse.capacity.MarketTransitions;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.MachineTerms;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the machines of allocations, takes them back and reports the result to the clusters, for
 * as long as one lease is held. Used on one context.
 */
final class AllocationWork {
  private static final Logger LOG = LoggerFactory.getLogger(AllocationWork.class);

  private final MarketEnvironment env;
  private final Lease lease;
  private final Inventory nodes;
  private final Reassignment reassignment;
  private final Reimaging reimaging;
  private final ReclaimFailures reclaimFailures;
  private final MarketSignals signals;
  private final Optional<LoginIdStore> loginIds;
  private boolean stopped;

  /**
   * @param loginIds assigns the ids of tenants' logins; empty if the machines need none
   */
  AllocationWork(
      MarketEnvironment env,
      Lease lease,
      Inventory nodes,
      Reassignment reassignment,
      Reimaging reimaging,
      ReclaimFailures reclaimFailures,
      MarketSignals signals,
      Optional<LoginIdStore> loginIds) {
    this.signals = signals;
    this.loginIds = loginIds;
    this.env = env;
    this.lease = lease;
    this.nodes = nodes;
    this.reassignment = reassignment;
    this.reimaging = reimaging;
    this.reclaimFailures = reclaimFailures;
  }

  /** Stops reporting to clusters. */
  void stop() {
    stopped = true;
  }

  /** Prepares the machine of a new allocation; a machine that fails ends the allocation. */
  Future<Void> provision(Cluster cluster, Allocation allocation) {
    return prepare(
        cluster, allocation, keyIds(allocation), () -> reportProvisioned(cluster, allocation));
  }

  /**
   * Continues a ready allocation whose gang has its minimum: writes its keys, or makes it active
   * because the keys of the minimum are written.
   */
  Future<Void> complete(Cluster cluster, Allocation allocation) {
    return allocation.keysDue()
        ? prepare(cluster, allocation, allocation.keyIds(), () -> reportKeyed(cluster, allocation))
        : reportProvisioned(cluster, allocation);
  }

  private Future<Void> prepare(
      Cluster cluster, Allocation allocation, List<String> keyIds, Supplier<Future<Void>> report) {
    return timed("provision", () -> prepare(cluster, allocation, keyIds))
        .transform(
            done -> {
              Throwable why = done.cause();
              if (why != null && !ReclaimFailures.isMachineFailure(why)) {
                return Future.failedFuture(why);
              }
              if (stopped) {
                // A closed provider fails the calls in progress; the next start repeats them.
                return why == null ? clearIfLate(allocation) : Future.succeededFuture();
              }
              if (why == null) {
                return report.get();
              }
              LOG.warn("node {} could not be prepared: {}", allocation.nodeId(), why.toString());
              return reportUnwound(cluster, allocation, why);
            });
  }

  private <T> Future<T> timed(String kind, Supplier<Future<T>> work) {
    long begun = env.nanoTime().getAsLong();
    return work.get()
        .onComplete(
            done ->
                signals.recordWork(lease.pool(), kind, env.nanoTime().getAsLong() - begun, done));
  }

  private Future<Void> prepare(Cluster cluster, Allocation allocation, List<String> keyIds) {
    String id = allocation.allocationId();
    return env.keyStore()
        .listLines(keyIds)
        .compose(
            lines ->
                terms(cluster, id)
                    .compose(
                        terms ->
                            reassignment.provision(
                                nodes.machine(allocation.nodeId()), id, lines, terms)));
  }

  private Future<MachineTerms> terms(Cluster cluster, String allocationId) {
    return loginIds
        .map(store -> store.of(cluster.orgId(), allocationId).map(ids -> terms().with(ids)))
        .orElseGet(() -> Future.succeededFuture(terms()));
  }

  /** Returns the keys that may be written now; empty while a gang's minimum is not ready. */
  private static List<String> keyIds(Allocation allocation) {
    return allocation.keysDue() ? List.of() : allocation.keyIds();
  }

  /**
   * Cleans the machine of an allocation that the current holder of the lease may have ended before
   * the machine was ready.
   */
  Future<Void> clearIfLate(Allocation allocation) {
    return nodes.get(allocation.nodeId()) == null
        ? Future.succeededFuture()
        : reassignment
            .clear(nodes.machine(allocation.nodeId()), allocation.allocationId())
            .mapEmpty();
  }

  /**
   * Prepares the machine of an active allocation once more.
   *
   * @param mark the other allocation that the machine is marked for; the machine is cleaned of that
   *     first. If the store does not know that allocation, two tenants may believe that they hold
   *     the machine, so it is quarantined unchanged
   */
  Future<Void> restore(Cluster cluster, Allocation allocation, Optional<String> mark) {
    Machine machine = nodes.machine(allocation.nodeId());
    // A machine that needs a new image is not cleared of another allocation's mark, so preparing it
    // fails.
    Future<Boolean> cleared =
        reimaging.isDemandedOf(machine.nodeId())
            ? reassignment.requireKnown(machine, allocation.allocationId()).map(true)
            : mark.map(other -> reassignment.clear(machine, other))
                .orElse(Future.succeededFuture(true));
    return cleared
        .recover(e -> quarantinedIfUnknown(allocation.nodeId(), e))
        .recover(AllocationWork::ignoreOtherMark)
        .compose(clear -> prepare(cluster, allocation, keyIds(allocation)));
  }

  private Future<Boolean> quarantinedIfUnknown(String nodeId, Throwable why) {
    Node node = nodes.get(nodeId);
    return (node == null || node.unknownMark() == null
            ? Future.<Void>succeededFuture()
            : nodes.note(node.unfit(env.now(), why.getMessage())))
        .compose(noted -> Future.failedFuture(why));
  }

  /**
   * Ignores that the machine no longer has the other mark: an interrupted attempt may have marked
   * it for the allocation to restore. The preparation that follows finds out.
   */
  private static Future<Boolean> ignoreOtherMark(Throwable e) {
    return e instanceof NodeFailureException refused && refused.isHeldByAnother()
        ? Future.succeededFuture(true)
        : Future.failedFuture(e);
  }

  private Future<Void> reportProvisioned(Cluster cluster, Allocation allocation) {
    String id = allocation.allocationId();
    Node node = nodes.get(allocation.nodeId());
    return (node == null ? Future.<Void>succeededFuture() : nodes.note(node.healthy()))
        .compose(
            noted ->
                report(
                    cluster,
                    allocation,
                    (state, now) ->
                        MarketTransitions.provisioned(
                            state,
                            id,
                            gpusPerNode(),
                            env.config().protectionMillis(),
                            this::address,
                            now)));
  }

  private Future<Void> reportKeyed(Cluster cluster, Allocation allocation) {
    return report(
        cluster,
        allocation,
        (state, now) ->
            MarketTransitions.keyed(
                state,
                allocation.allocationId(),
                gpusPerNode(),
                env.config().protectionMillis(),
                this::address,
                now));
  }

  /**
   * Reports progress to the cluster; cleans the machine if the cluster no longer has the
   * allocation.
   */
  private Future<Void> report(Cluster cluster, Allocation allocation, Command command) {
    return submit(cluster, command)
        .onFailure(refused -> clearIfLate(allocation))
        .compose(
            state ->
                state.cluster().find(allocation.allocationId()).isPresent()
                    ? Future.succeededFuture()
                    : clearIfLate(allocation));
  }

  /**
   * Unwinds a grant that failed. Records the failure of the node first, so that no tick grants it
   * before its backoff is stored. A node that a Kubernetes cluster refused has no failure to
   * record.
   */
  private Future<Void> reportUnwound(Cluster cluster, Allocation allocation, Throwable why) {
    if (cluster.kind() == Cluster.Kind.K8S
        && why instanceof NodeFailureException refusal
        && refusal.isJoinRefused()) {
      return submit(
              cluster,
              (state, now) -> MarketTransitions.joinRefused(state, allocation.allocationId(), now))
          .mapEmpty();
    }
    Node node = nodes.get(allocation.nodeId());
    boolean isUnfit = why instanceof NodeFailureException failure && failure.isUnfit();
    return (node == null
            ? Future.<Void>succeededFuture()
            : nodes.note(
                isUnfit
                    ? node.unfit(env.now(), why.getMessage())
                    : node.failed(env.now(), why.getMessage())))
        .compose(
            noted ->
                submit(
                    cluster,
                    (state, now) ->
                        MarketTransitions.unwound(
                            state,
                            allocation.allocationId(),
                            isUnfit
                                ? "the machine failed its checks"
                                : "the machine could not be prepared",
                            now)))
        .mapEmpty();
  }

  /** Cleans or reimages the machine of an allocation that is being reclaimed. */
  Future<Void> reclaim(Cluster cluster, Allocation allocation) {
    String id = allocation.allocationId();
    String nodeId = allocation.nodeId();
    boolean isReimaged = reimaging.isDemandedOf(nodeId);
    return timed(
            isReimaged ? "reimage" : "reclaim",
            () ->
                isReimaged
                    ? reimage(cluster, nodeId, id)
                    : reassignment.reclaim(nodes.machine(nodeId), id))
        .recover(
            e ->
                reclaimFailures
                    .recordFailure(id, nodeId, id, e)
                    .compose(noted -> Future.failedFuture(e)))
        .compose(clean -> reclaimFailures.recordSuccess(id, nodeId, id))
        .compose(
            clean -> isReimaged ? Future.succeededFuture() : endAllocation(cluster, id, List.of()));
  }

  private Future<Void> reimage(Cluster cluster, String nodeId, String id) {
    return (reimaging.isUnderWay(nodeId, id)
            ? Future.<Void>succeededFuture()
            : reassignment.requireKnown(nodes.machine(nodeId), id))
        .compose(
            known -> reimaging.run(nodeId, id, reimaged -> endAllocation(cluster, id, reimaged)));
  }

  /** Ends an allocation in one commit with the statements. */
  private Future<Void> endAllocation(Cluster cluster, String id, List<Statement> statements) {
    List<Statement> all = new ArrayList<>(List.of(lease.fence()));
    all.addAll(statements);
    return env.owners()
        .order(cluster.name(), (state, now) -> MarketTransitions.reclaimed(state, id), all)
        .mapEmpty();
  }

  private @Nullable String address(String nodeId) {
    Node node = nodes.get(nodeId);
    return node == null ? null : node.machine().publicIp();
  }

  private int gpusPerNode() {
    return terms().gpus();
  }

  private MachineTerms terms() {
    return env.terms(lease.pool());
  }

  private Future<ClusterView> submit(Cluster cluster, Command command) {
    return env.owners().order(cluster.name(), command, List.of(lease.fence()));
  }
}
