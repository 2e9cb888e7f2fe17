package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Gang;
import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Examination;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a pool's machines follow its allocations: the machine of an allocation that is provisioning
 * is prepared, that of one that is reclaiming is cleaned, unless such work is running already. Runs
 * on the market's context, only while it holds the lease.
 */
final class Fleet {
  private static final Logger LOG = LoggerFactory.getLogger(Fleet.class);

  /** Machines worked on at once, as many as a site's operators can follow; the others wait. */
  private static final int MAX_IN_WORK = 64;

  /** How many of them may have failed before: half of what the ssh provider has connections for. */
  private static final int MAX_RETRIED = 8;

  private final Context context;
  private final MarketEnvironment env;
  private final Lease lease;
  private final Inventory nodes;
  private final WorkPool workPool;
  private final ReclaimFailures reclaimFailures;
  private final AllocationWork work;
  private final Orphans orphans;
  private final HoldingsScan holdingsScan;
  private final Reachability reachability;
  private final Prober prober;
  private SwapExclusions swapExclusions = new SwapExclusions(List.of());

  /**
   * Active allocations whose machines lost what they were prepared with, and the other allocation
   * the machine is marked for, if any.
   */
  private final Map<String, Optional<String>> lost = new HashMap<>();

  /** Free machines whose last examination found a fault. */
  private final Set<String> suspects = new HashSet<>();

  private boolean stopped;
  private Runnable unsubscribe = () -> {};

  Fleet(
      Vertx vertx,
      MarketEnvironment env,
      Lease lease,
      NodeProvider provider,
      MarketSignals signals) {
    this.context = vertx.getOrCreateContext();
    this.env = env;
    this.lease = lease;
    this.workPool = new WorkPool(vertx, new WorkQueue(MAX_IN_WORK, MAX_RETRIED));
    this.nodes = new Inventory(env.nodes(), lease);
    this.holdingsScan = new HoldingsScan(vertx, provider, nodes, env.nanoTime(), this::reconcile);
    this.reachability = new Reachability(env.database(), lease);
    this.prober =
        new Prober(
            vertx,
            provider,
            () -> env.hardware(lease.pool()),
            nodes,
            reachability,
            new Probed(),
            env.config().probeIntervalMillis(),
            env.clock());
    Reassignment reassignment = new Reassignment(provider, env.nodes(), this::cleaned);
    this.reclaimFailures = new ReclaimFailures(nodes, env.clock());
    this.work = new AllocationWork(env, lease, nodes, reassignment, reclaimFailures, signals);
    this.orphans = new Orphans(nodes, reassignment, workPool, holdingsScan, reclaimFailures);
  }

  private final class Probed implements Prober.Listener {
    /** It may have been installed anew meanwhile. */
    @Override
    public void isBack(String nodeId) {
      holdingsScan.ask(List.of(nodeId));
    }

    @Override
    public boolean isAsked(String nodeId) {
      return holdingsScan.isOpen(nodeId);
    }

    @Override
    public void told(List<Examination> examinations) {
      compare(examinations);
    }
  }

  /**
   * Reads the inventory, takes up what was left undone, and has every machine asked what it holds;
   * waits for none of them.
   */
  Future<Void> start() {
    return Future.all(nodes.read(), reachability.load())
        .compose(
            read -> env.nodes().listSwappedAway(lease.pool(), env.now() - SwapExclusions.MILLIS))
        .map(
            list -> {
              swapExclusions = new SwapExclusions(list);
              if (stopped) {
                return null;
              }
              unsubscribe = env.clusters().onPublished(this::published);
              env.clusters()
                  .stirringIn(lease.pool())
                  .forEach(view -> inspect(view.cluster().name()));
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

  /** Starts at once the work that waits for another try. */
  private void retry(String nodeId) {
    List<String> works = new ArrayList<>(List.of(nodeId));
    for (ClusterView view : env.clusters().stirringIn(lease.pool())) {
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
    suspects.remove(nodeId);
    orphans.forget(nodeId);
    reclaimFailures.forget(nodeId);
  }

  /** Asks the machines that nobody holds first: a cluster may be waiting for one. */
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
    for (ClusterView view : env.clusters().stirringIn(lease.pool())) {
      String name = view.cluster().name();
      view.cluster().allocations().forEach(a -> allocations.put(a.nodeId(), new Held(name, a)));
    }
    return allocations;
  }

  private record Held(String cluster, Allocation allocation) {}

  /** What the next tick may grant. */
  Tick.Nodes snapshot(long nowMillis) {
    Set<String> busy = holdingsScan.unheard();
    busy.addAll(orphans.inWork());
    return new Tick.Nodes(
        nodes.all().stream().map(this::seen).toList(), busy, swapExclusions.at(nowMillis));
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
    return nodes.machine(nodeId).publicIp();
  }

  /** Starts nothing more. */
  void stop() {
    stopped = true;
    unsubscribe.run();
    orphans.stop();
    reclaimFailures.stop();
    work.stop();
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
    env.clusters().find(name).map(ClusterView::cluster).ifPresent(this::inspect);
  }

  private void inspect(Cluster cluster) {
    for (Allocation allocation : cluster.allocations()) {
      if (allocation.isReady() && !lost.containsKey(allocation.allocationId())) {
        if (isNext(cluster, allocation)) {
          take(cluster.name(), allocation, () -> work.complete(cluster, allocation));
        }
      } else if (allocation.state() == Allocation.State.PROVISIONING && !allocation.isReady()) {
        take(cluster.name(), allocation, () -> work.provision(cluster, allocation));
      } else if (allocation.state() == Allocation.State.RECLAIMING) {
        swapExclusions.note(cluster, allocation);
        take(cluster.name(), allocation, () -> work.reclaim(cluster, allocation));
      } else if (lost.containsKey(allocation.allocationId())) {
        take(cluster.name(), allocation, () -> restore(allocation));
      }
    }
  }

  /** True if the market has to act for a ready node. */
  private boolean isNext(Cluster cluster, Allocation ready) {
    return env.clusters()
        .findPool(lease.pool())
        .filter(pool -> Gang.isNext(cluster, ready, pool.gpusPerNode()))
        .isPresent();
  }

  /**
   * Starts work for an allocation unless some is running; afterwards inspects its cluster again.
   */
  private void take(String cluster, Allocation allocation, Supplier<Future<Void>> todo) {
    String nodeId = allocation.nodeId();
    workPool.submit(
        allocation.allocationId(),
        cluster,
        () -> {
          holdingsScan.taken(nodeId);
          return Future.succeededFuture()
              .compose(go -> todo.get())
              .onComplete(done -> holdingsScan.released(nodeId));
        },
        () -> lookAgain(cluster, allocation.allocationId()));
  }

  /** Forgets the work of an allocation that is over, which may have ended in another way. */
  private void lookAgain(String cluster, String allocationId) {
    if (env.clusters().find(cluster).flatMap(view -> view.cluster().find(allocationId)).isEmpty()) {
      workPool.succeeded(allocationId);
      reclaimFailures.forget(allocationId);
      lost.remove(allocationId);
    }
    inspect(cluster);
  }

  private Future<Void> restore(Allocation allocation) {
    String id = allocation.allocationId();
    return work.restore(allocation, lost.getOrDefault(id, Optional.empty()))
        .onSuccess(restored -> lost.remove(id))
        .compose(restored -> work.clearIfLate(allocation));
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
      reachability.seen(holding.nodeId(), env.now());
      Held held = allocations.get(holding.nodeId());
      if (isAstray(holding, held)) {
        if (held == null) {
          orphans.clean(holding.nodeId(), Objects.requireNonNull(holding.allocationId()));
          continue;
        }
        lost.put(held.allocation().allocationId(), Optional.ofNullable(holding.allocationId()));
        inspect(held.cluster());
      }
      reclaimFailures.forget(holding.nodeId());
    }
  }

  /**
   * Whether a machine bears the mark of an allocation that nobody has, or lacks that of its own,
   * for which it was prepared.
   */
  private static boolean isAstray(Holding holding, @Nullable Held held) {
    String mark = holding.allocationId();
    return held == null
        ? mark != null
        : (held.allocation().state() == Allocation.State.ACTIVE || held.allocation().isReady())
            && !held.allocation().allocationId().equals(mark);
  }

  /**
   * Asks those machines properly that seem astray: what they told may be out of date, as they were
   * granted and taken back meanwhile. Quarantines faulty machines that nobody holds. Every cluster
   * is looked at, so on a worker.
   */
  private void compare(List<Examination> told) {
    context
        .executeBlocking(this::allocations, false)
        .onSuccess(allocations -> compare(told, allocations));
  }

  private void compare(List<Examination> told, Map<String, Held> allocations) {
    if (stopped) {
      return;
    }
    List<String> astray = new ArrayList<>();
    for (Examination examination : told) {
      Holding holding = examination.holding();
      String nodeId = holding.nodeId();
      Held held = allocations.get(nodeId);
      String holder = held == null ? null : held.allocation().allocationId();
      // A tenant that is gone by now may have caused what was found.
      if (nodes.get(nodeId) != null && Objects.equals(holding.allocationId(), holder)) {
        judge(nodeId, examination, holder == null);
      }
      if (nodes.get(nodeId) != null
          && !orphans.inWork().contains(nodeId)
          && isAstray(holding, allocations.get(nodeId))) {
        astray.add(nodeId);
      }
    }
    holdingsScan.ask(astray);
  }

  /** Records the handover of a machine, and its first list of what root owns. */
  private Future<Void> cleaned(String nodeId, String allocationId, Cleaning cleaning) {
    if (stopped || nodes.get(nodeId) == null || cleaning.equals(Cleaning.UNRECORDED)) {
      return Future.succeededFuture();
    }
    return env.nodes()
        .record(new Handover(allocationId, nodeId, env.now(), cleaning), lease)
        .compose(recorded -> pin(nodeId, cleaning.baseline()));
  }

  private Future<Void> pin(String nodeId, @Nullable String baseline) {
    Node node = nodes.get(nodeId);
    return baseline == null || node == null || node.machine().baseline() != null
        ? Future.succeededFuture()
        : nodes.note(node.withBaseline(baseline));
  }

  /** A free machine with a fault is quarantined at the second examination that finds one. */
  private void judge(String nodeId, Examination examination, boolean isFree) {
    Health health = examination.health();
    reachability.examined(nodeId, health, env.now());
    if (!isFree || !health.isFaulty()) {
      suspects.remove(nodeId);
    } else if (!suspects.add(nodeId)) {
      quarantine(Objects.requireNonNull(nodes.get(nodeId)), health);
    }
    pin(nodeId, examination.baseline())
        .onFailure(
            e ->
                LOG.warn(
                    "pool {}: could not store the baseline of node {}, which the next probe"
                        + " repeats: {}",
                    lease.pool(),
                    nodeId,
                    e.toString()));
  }

  private void quarantine(Node node, Health health) {
    nodes
        .note(node.unfit(env.now(), String.join("; ", health.reasons())))
        .onFailure(
            e ->
                LOG.warn(
                    "pool {}: could not store the quarantine of node {}, which the next probe repeats:"
                        + " {}",
                    lease.pool(),
                    node.nodeId(),
                    e.toString()));
  }
}
