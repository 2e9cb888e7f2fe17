package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Allotment;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeFailure;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.sshkeys.SshKeyStore;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a pool's machines follow its allocations: one that is provisioning and not in work is
 * prepared, one that is reclaiming and not in work is cleaned. Runs on the market's context, only
 * while it holds the lease.
 */
final class Fleet {
  private static final Logger LOG = LoggerFactory.getLogger(Fleet.class);

  /** A swapped-away machine is not granted to the same organization again for this long. */
  static final long SWAP_EXCLUSION_MILLIS = 3_600_000;

  /** Machines in work at once: a site's operators can follow that many; the others wait in line. */
  private static final int MAX_IN_WORK = 64;

  /** How many of them may have failed before: half of what the ssh provider has connections for. */
  private static final int MAX_RETRIED = 8;

  private final Context context;
  private final Clusters clusters;
  private final ClusterOwners owners;
  private final SshKeyStore keys;
  private final MarketStore store;
  private final MarketStore.Lease lease;
  private final Reassignment reassignment;
  private final MarketConfig config;
  private final Clock clock;

  private final Inventory nodes;
  private final Map<String, MarketStore.SwappedAway> swappedAway = new HashMap<>();
  private final WorkPool workPool;

  private final ReclaimFailures reclaimFailures;
  private final Orphans orphans;
  private final HoldingsScan holdingsScan;
  private final Reachability reachability;
  private final Prober prober;

  /**
   * Active allocations whose machines lost what they were prepared with, and the other allocation
   * the machine is marked for, if any.
   */
  private final Map<String, Optional<String>> lost = new HashMap<>();

  private boolean stopped;
  private Runnable unsubscribe = () -> {};

  Fleet(
      Vertx vertx,
      Clusters clusters,
      ClusterOwners owners,
      SshKeyStore keys,
      MarketStore store,
      MarketStore.Lease lease,
      NodeProvider provider,
      MarketConfig config,
      Clock clock) {
    this.context = vertx.getOrCreateContext();
    this.workPool = new WorkPool(vertx, new WorkQueue(MAX_IN_WORK, MAX_RETRIED));
    this.clusters = clusters;
    this.owners = owners;
    this.keys = keys;
    this.store = store;
    this.lease = lease;
    this.nodes = new Inventory(store, lease);
    this.holdingsScan = new HoldingsScan(vertx, provider, nodes, this::reconcile);
    this.reachability = store.reachability(lease);
    this.prober =
        new Prober(
            vertx,
            provider,
            nodes,
            reachability,
            // It may have been installed anew meanwhile.
            nodeId -> holdingsScan.ask(List.of(nodeId)),
            config.probeIntervalMillis(),
            clock);
    this.reassignment = new Reassignment(provider, store);
    this.reclaimFailures = new ReclaimFailures(nodes, clock);
    this.orphans = new Orphans(nodes, reassignment, workPool, holdingsScan, reclaimFailures);
    this.config = config;
    this.clock = clock;
  }

  /**
   * Reads the inventory, takes up what was left undone, and has every machine asked what it holds;
   * waits for none of them.
   */
  Future<Void> start() {
    return Future.all(nodes.read(), reachability.load())
        .compose(
            read -> store.listSwappedAway(lease.pool(), clock.millis() - SWAP_EXCLUSION_MILLIS))
        .map(
            list -> {
              list.forEach(swapped -> swappedAway.put(swapped.nodeId(), swapped));
              if (stopped) {
                return null;
              }
              unsubscribe = clusters.onPublished(this::published);
              clusters.ofPool(lease.pool()).forEach(view -> inspect(view.cluster().name()));
              ask(nodes.all().stream().map(Node::nodeId).toList());
              prober.start();
              return null;
            });
  }

  /**
   * Reads the inventory anew, for operators changed it.
   *
   * @return whether all of it was; what this process writes meanwhile must be read once more
   */
  Future<Boolean> reread() {
    return nodes
        .read()
        .map(
            reading -> {
              if (!stopped) {
                reading.removed().forEach(this::forget);
                ask(reading.added());
                reading.retried().forEach(this::retry);
              }
              return reading.isWhole();
            });
  }

  /** Takes up at once what waits for another try. */
  private void retry(String nodeId) {
    List<String> works = new ArrayList<>(List.of(nodeId));
    for (ClusterView view : clusters.ofPool(lease.pool())) {
      view.cluster().allocations().stream()
          .filter(allocation -> allocation.nodeId().equals(nodeId))
          .forEach(allocation -> works.add(allocation.allocationId()));
    }
    for (String work : works) {
      workPool.succeeded(work);
      reclaimFailures.forget(work);
      workPool.runNow(work);
    }
  }

  private void forget(String nodeId) {
    holdingsScan.forget(nodeId);
    reachability.forget(nodeId);
    orphans.forget(nodeId);
    reclaimFailures.forget(nodeId);
  }

  /** Those that nobody has first: somebody may be waiting for them. */
  private void ask(List<String> nodeIds) {
    if (nodeIds.isEmpty()) {
      return;
    }
    Set<String> occupied = allocations().keySet();
    holdingsScan.ask(nodeIds.stream().filter(id -> !occupied.contains(id)).toList());
    holdingsScan.ask(nodeIds.stream().filter(occupied::contains).toList());
  }

  /** Whose the pool's machines are, by node. */
  private Map<String, Held> allocations() {
    Map<String, Held> allocations = new HashMap<>();
    for (ClusterView view : clusters.ofPool(lease.pool())) {
      String name = view.cluster().name();
      view.cluster().allocations().forEach(a -> allocations.put(a.nodeId(), new Held(name, a)));
    }
    return allocations;
  }

  private record Held(String cluster, Allocation allocation) {}

  /** What the next tick may grant. */
  Tick.Nodes snapshot(long nowMillis) {
    Map<String, String> excluded = new HashMap<>();
    // One that lies further ahead than it lasts was written by a clock that was ahead.
    swappedAway.values().removeIf(s -> Math.abs(nowMillis - s.atMillis()) >= SWAP_EXCLUSION_MILLIS);
    swappedAway.values().forEach(s -> excluded.put(s.nodeId(), s.orgId()));
    Set<String> busy = holdingsScan.unheard();
    busy.addAll(orphans.inWork());
    return new Tick.Nodes(nodes.all().stream().map(this::seen).toList(), busy, excluded);
  }

  private Node seen(Node node) {
    return node.found(
        reachability.isUnreachable(node.nodeId()) || holdingsScan.isSilent(node.nodeId()));
  }

  /** How many machines answered when last tried. Called on any thread. */
  Reachability.Counts reach() {
    return prober.reach();
  }

  String publicIp(String nodeId) {
    return machine(nodeId).publicIp();
  }

  /** Starts nothing more. */
  void stop() {
    stopped = true;
    unsubscribe.run();
    orphans.stop();
    reclaimFailures.stop();
    workPool.stop();
    holdingsScan.stop();
    prober.stop();
  }

  private void published(Cluster cluster) {
    if (!stopped
        && cluster.pool().equals(lease.pool())
        && cluster.allocations().stream().anyMatch(a -> a.state() != Allocation.State.ACTIVE)) {
      context.runOnContext(go -> inspect(cluster.name()));
    }
  }

  /** Looks at the latest snapshot: an older one may name a machine that is granted anew by now. */
  private void inspect(String name) {
    clusters.find(name).map(ClusterView::cluster).ifPresent(this::inspect);
  }

  private void inspect(Cluster cluster) {
    for (Allocation allocation : cluster.allocations()) {
      if (allocation.state() == Allocation.State.PROVISIONING) {
        take(cluster.name(), allocation, () -> provision(cluster, allocation));
      } else if (allocation.state() == Allocation.State.RECLAIMING) {
        noteSwap(cluster, allocation);
        take(cluster.name(), allocation, () -> reclaim(cluster, allocation));
      } else if (lost.containsKey(allocation.allocationId())) {
        take(cluster.name(), allocation, () -> restore(allocation));
      }
    }
  }

  /** Takes an allocation into work unless it is; afterwards looks at its cluster again. */
  private void take(String cluster, Allocation allocation, Supplier<Future<Void>> work) {
    String nodeId = allocation.nodeId();
    workPool.submit(
        allocation.allocationId(),
        cluster,
        () -> {
          holdingsScan.taken(nodeId);
          return Future.succeededFuture()
              .compose(go -> work.get())
              .onComplete(done -> holdingsScan.released(nodeId));
        },
        () -> lookAgain(cluster, allocation.allocationId()));
  }

  /** What is over may have ended otherwise than by the work that is remembered for it. */
  private void lookAgain(String cluster, String allocationId) {
    if (clusters.find(cluster).flatMap(view -> view.cluster().find(allocationId)).isEmpty()) {
      workPool.succeeded(allocationId);
      reclaimFailures.forget(allocationId);
      lost.remove(allocationId);
    }
    inspect(cluster);
  }

  private void noteSwap(Cluster cluster, Allocation allocation) {
    Allocation.Reclaim reclaim = allocation.reclaim();
    if (reclaim != null && reclaim.reason() == Allocation.Reason.SWAP) {
      swappedAway.put(
          allocation.nodeId(),
          new MarketStore.SwappedAway(allocation.nodeId(), cluster.orgId(), reclaim.atMillis()));
    }
  }

  private Future<Void> provision(Cluster cluster, Allocation allocation) {
    String id = allocation.allocationId();
    return keys.listLines(allocation.keyIds())
        .compose(
            lines ->
                reassignment
                    .provision(machine(allocation.nodeId()), id, lines)
                    .map(ready -> true)
                    .recover(
                        e -> {
                          if (!ReclaimFailures.speaksAgainstTheMachine(e)) {
                            return Future.failedFuture(e);
                          }
                          if (!stopped) {
                            LOG.warn(
                                "node {} could not be prepared: {}",
                                allocation.nodeId(),
                                e.toString());
                          }
                          return Future.succeededFuture(false);
                        }))
        .compose(
            ready -> {
              if (stopped) {
                // A provider that is closed fails what is under way; the next start takes it up.
                return ready ? clearIfLate(allocation) : Future.succeededFuture();
              }
              return ready ? provisioned(cluster, allocation) : unwound(cluster, allocation);
            });
  }

  /** Whoever has the lease by now may have given the allocation up before its machine was ready. */
  private Future<Void> clearIfLate(Allocation allocation) {
    if (nodes.get(allocation.nodeId()) == null) {
      return Future.succeededFuture();
    }
    return reassignment.clear(machine(allocation.nodeId()), allocation.allocationId()).mapEmpty();
  }

  /** Prepares a machine once more; first cleaned when it carries another allocation's mark. */
  private Future<Void> restore(Allocation allocation) {
    String id = allocation.allocationId();
    Machine machine = machine(allocation.nodeId());
    return lost.getOrDefault(id, Optional.empty())
        .map(mark -> reassignment.clear(machine, mark).recover(Fleet::passOverOtherMark))
        .orElse(Future.succeededFuture(true))
        .compose(done -> keys.listLines(allocation.keyIds()))
        .compose(lines -> reassignment.provision(machine, id, lines))
        .onSuccess(restored -> lost.remove(id))
        .compose(restored -> clearIfLate(allocation));
  }

  /**
   * The machine does not bear the mark any more that it was asked for: a try that broke off may
   * have marked it for the very allocation that is to be restored. Preparing it tells.
   */
  private static Future<Boolean> passOverOtherMark(Throwable e) {
    return e instanceof NodeFailure refused && refused.isHeldByAnother()
        ? Future.succeededFuture(true)
        : Future.failedFuture(e);
  }

  private Future<Void> provisioned(Cluster cluster, Allocation allocation) {
    Node node = nodes.get(allocation.nodeId());
    Future<Void> noted =
        node == null || node.failures() == 0 ? Future.succeededFuture() : note(node.healthy());
    return noted
        .compose(
            ok ->
                owners.submit(
                    cluster.name(),
                    (state, now) ->
                        Allotment.provisioned(
                            state, allocation.allocationId(), config.protectionMillis(), now),
                    List.of(lease.fence())))
        .onFailure(refused -> clearIfLate(allocation))
        .compose(
            state ->
                state.find(allocation.allocationId()).isPresent()
                    ? Future.succeededFuture()
                    : clearIfLate(allocation));
  }

  /** The node is set aside first, so that no tick grants it before its back-off is known. */
  private Future<Void> unwound(Cluster cluster, Allocation allocation) {
    Node node = nodes.get(allocation.nodeId());
    Future<Void> noted =
        node == null ? Future.succeededFuture() : note(node.failed(clock.millis()));
    return noted.compose(
        ok ->
            owners
                .submit(
                    cluster.name(),
                    (state, now) ->
                        Allotment.unwound(
                            state,
                            allocation.allocationId(),
                            "the machine could not be prepared",
                            now),
                    List.of(lease.fence()))
                .mapEmpty());
  }

  private Future<Void> reclaim(Cluster cluster, Allocation allocation) {
    String id = allocation.allocationId();
    return reassignment
        .reclaim(machine(allocation.nodeId()), id)
        .recover(
            e ->
                reclaimFailures
                    .failed(id, allocation.nodeId(), id, e)
                    .compose(noted -> Future.failedFuture(e)))
        .compose(clean -> reclaimFailures.ended(id, allocation.nodeId(), id))
        .compose(
            clean ->
                owners.submit(
                    cluster.name(),
                    (state, now) -> Allotment.reclaimed(state, id),
                    List.of(lease.fence())))
        .mapEmpty();
  }

  private Future<Void> note(Node changed) {
    return nodes.note(changed);
  }

  /**
   * Cleans machines that are prepared for an allocation nobody has, and notes those that lost what
   * an active allocation needs.
   */
  private void reconcile(List<Holding> holdings) {
    if (stopped) {
      return;
    }
    Map<String, Held> allocations = allocations();
    for (Holding holding : holdings) {
      reachability.seen(holding.nodeId(), clock.millis());
      Held held = allocations.get(holding.nodeId());
      if (held == null) {
        if (holding.allocationId() != null) {
          orphans.clean(holding.nodeId(), holding.allocationId());
          continue;
        }
      } else if (held.allocation().state() == Allocation.State.ACTIVE
          && !held.allocation().allocationId().equals(holding.allocationId())) {
        lost.put(held.allocation().allocationId(), Optional.ofNullable(holding.allocationId()));
        inspect(held.cluster());
      }
      reclaimFailures.forget(holding.nodeId());
    }
  }

  private Machine machine(String nodeId) {
    return nodes.machine(nodeId);
  }
}
