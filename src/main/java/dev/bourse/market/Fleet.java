package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Allotment;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.SshKeyStore;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.HashMap;
import java.util.HashSet;
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

  /** Reclaims that failed in a row after which an operator must look at the machine. */
  private static final int RECLAIM_FAILURES_MEANING_QUARANTINE = 3;

  private final Vertx vertx;
  private final Context context;
  private final Clusters clusters;
  private final ClusterOwners owners;
  private final SshKeyStore keys;
  private final MarketStore store;
  private final MarketStore.Lease lease;
  private final NodeProvider provider;
  private final Handover handover;
  private final MarketConfig config;
  private final Clock clock;

  private final Inventory nodes;
  private final Map<String, MarketStore.SwappedAway> swappedAway = new HashMap<>();
  private final Crew crew;

  private final Set<String> cleaning = new HashSet<>();

  /** New machines that are being asked what they hold. */
  private final Set<String> joining = new HashSet<>();

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
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.crew = new Crew(vertx);
    this.clusters = clusters;
    this.owners = owners;
    this.keys = keys;
    this.store = store;
    this.lease = lease;
    this.nodes = new Inventory(store, lease);
    this.provider = provider;
    this.handover = new Handover(provider, store);
    this.config = config;
    this.clock = clock;
  }

  /** Reads the inventory, compares it with the allocations, and takes up what was left undone. */
  Future<Void> start() {
    return nodes
        .read()
        .compose(
            read -> store.listSwappedAway(lease.pool(), clock.millis() - SWAP_EXCLUSION_MILLIS))
        .compose(
            list -> {
              list.forEach(swapped -> swappedAway.put(swapped.nodeId(), swapped));
              return provider
                  .held(nodes.all().stream().map(Node::machine).toList())
                  .otherwise(
                      e -> {
                        LOG.warn("pool {}: machines cannot be asked", lease.pool(), e);
                        return List.of();
                      });
            })
        .map(
            holdings -> {
              if (stopped) {
                return null;
              }
              reconcile(holdings);
              unsubscribe = clusters.onPublished(this::published);
              clusters.ofPool(lease.pool()).forEach(view -> inspect(view.cluster().name()));
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
              join(reading.added());
              return reading.isWhole();
            });
  }

  /** A new machine is granted only once it is known to hold nothing, or as far as that is known. */
  private void join(List<Machine> added) {
    if (stopped || added.isEmpty()) {
      return;
    }
    added.forEach(machine -> joining.add(machine.nodeId()));
    provider
        .held(added)
        .otherwise(
            e -> {
              LOG.warn("pool {}: new machines cannot be asked", lease.pool(), e);
              return List.of();
            })
        .onSuccess(
            holdings -> {
              added.forEach(machine -> joining.remove(machine.nodeId()));
              if (!stopped) {
                reconcile(holdings);
              }
            });
  }

  /** What the next tick may grant. */
  Tick.Nodes snapshot(long nowMillis) {
    Map<String, String> excluded = new HashMap<>();
    swappedAway.values().removeIf(s -> s.atMillis() + SWAP_EXCLUSION_MILLIS <= nowMillis);
    swappedAway.values().forEach(s -> excluded.put(s.nodeId(), s.orgId()));
    Set<String> busy = new HashSet<>(cleaning);
    busy.addAll(joining);
    return new Tick.Nodes(nodes.all(), busy, excluded);
  }

  String publicIp(String nodeId) {
    return machine(nodeId).publicIp();
  }

  /** Starts nothing more. */
  void stop() {
    stopped = true;
    unsubscribe.run();
    crew.stop();
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
    crew.take(allocation.allocationId(), cluster, work, () -> inspect(cluster));
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
                handover
                    .provision(machine(allocation.nodeId()), id, lines)
                    .map(ready -> true)
                    .recover(
                        e -> {
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
    return handover.clear(machine(allocation.nodeId()), allocation.allocationId()).mapEmpty();
  }

  /** Prepares a machine once more; first cleaned when it carries another allocation's mark. */
  private Future<Void> restore(Allocation allocation) {
    String id = allocation.allocationId();
    Machine machine = machine(allocation.nodeId());
    return lost.getOrDefault(id, Optional.empty())
        .map(mark -> handover.clear(machine, mark))
        .orElse(Future.succeededFuture(true))
        .compose(done -> keys.listLines(allocation.keyIds()))
        .compose(lines -> handover.provision(machine, id, lines))
        .onSuccess(restored -> lost.remove(id))
        .compose(restored -> clearIfLate(allocation));
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
    return handover
        .reclaim(machine(allocation.nodeId()), allocation.allocationId())
        .recover(
            e ->
                afterFailedReclaim(allocation.allocationId(), allocation.nodeId())
                    .compose(noted -> Future.failedFuture(e)))
        .compose(
            clean ->
                owners.submit(
                    cluster.name(),
                    (state, now) -> Allotment.reclaimed(state, allocation.allocationId()),
                    List.of(lease.fence())))
        .mapEmpty();
  }

  /** A tenant may still be on a machine that cannot be cleaned: it never goes back by itself. */
  private Future<Void> afterFailedReclaim(String work, String nodeId) {
    int failures = crew.failedTries(work) + 1;
    Node node = nodes.get(nodeId);
    return stopped
            || node == null
            || node.quarantinedAtMillis() != null
            || failures < RECLAIM_FAILURES_MEANING_QUARANTINE
        ? Future.succeededFuture()
        : note(node.quarantined(clock.millis()));
  }

  private Future<Void> note(Node changed) {
    return nodes.note(changed);
  }

  /**
   * Cleans machines that are prepared for an allocation nobody has, and notes those that lost what
   * an active allocation needs.
   */
  private void reconcile(List<Holding> holdings) {
    Map<String, Allocation> allocations = new HashMap<>();
    for (ClusterView view : clusters.ofPool(lease.pool())) {
      view.cluster().allocations().forEach(a -> allocations.put(a.nodeId(), a));
    }
    for (Holding holding : holdings) {
      Allocation allocation = allocations.get(holding.nodeId());
      if (allocation == null) {
        if (holding.allocationId() != null) {
          clean(holding.nodeId(), holding.allocationId());
        }
      } else if (allocation.state() == Allocation.State.ACTIVE
          && !allocation.allocationId().equals(holding.allocationId())) {
        lost.put(allocation.allocationId(), Optional.ofNullable(holding.allocationId()));
      }
    }
  }

  private void clean(String nodeId, String mark) {
    if (stopped) {
      return;
    }
    cleaning.add(nodeId);
    handover
        .clear(machine(nodeId), mark)
        .onSuccess(
            clean -> {
              crew.succeeded(nodeId);
              cleaning.remove(nodeId);
            })
        .recover(e -> afterFailedReclaim(nodeId, nodeId).compose(noted -> Future.failedFuture(e)))
        .onFailure(
            e -> {
              LOG.warn("orphaned node {} could not be cleaned: {}", nodeId, e.toString());
              crew.failed(nodeId);
              vertx.setTimer(Crew.LAST_RETRY_MILLIS, timer -> clean(nodeId, mark));
            });
  }

  private Machine machine(String nodeId) {
    return nodes.machine(nodeId);
  }
}
