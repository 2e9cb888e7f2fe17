package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Command;
import dev.bourse.capacity.Gang;
import dev.bourse.capacity.HealthCommands;
import dev.bourse.capacity.HeldHealth.Finding;
import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Examination;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.pools.Pool;
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
import java.util.function.UnaryOperator;
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
  private final Lineage lineage;
  private final WorkPool workPool;
  private final Reassignment reassignment;
  private final ReclaimFailures reclaimFailures;
  private final AllocationWork work;
  private final Reimaging reimaging;
  private final Orphans orphans;
  private final HoldingsScan holdingsScan;
  private final Reachability reachability;
  private final Prober prober;
  private final NoticeDelivery notices;
  private SwapExclusions swapExclusions = new SwapExclusions(List.of());
  private Leavers leavers = new Leavers(Map.of());

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
      NoticeTurns turns,
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
            () -> env.terms(lease.pool()),
            nodes,
            reachability,
            new Probed(),
            env.config().probeIntervalMillis(),
            env.clock());
    this.notices =
        new NoticeDelivery(
            vertx, provider, env.clusters(), nodes, env.nodes(), lease, turns, env.clock());
    this.lineage = new Lineage(env.database(), env.nodes(), lease, this::askAll);
    this.reimaging = new Reimaging(vertx, env, lease, provider, nodes, lineage, new Reimaged());
    this.reassignment = new Reassignment(provider, env.nodes(), new Recorded());
    this.reclaimFailures = new ReclaimFailures(nodes, env.clock());
    this.work =
        new AllocationWork(
            env,
            lease,
            nodes,
            reassignment,
            reimaging,
            reclaimFailures,
            signals,
            provider.idRange().map(range -> new LoginIdStore(env.database(), range)));
    this.orphans = new Orphans(nodes, reassignment, workPool, holdingsScan, reclaimFailures);
  }

  private final class Recorded implements Reassignment.Handovers {
    @Override
    public Future<Void> cleaned(String nodeId, String allocationId, Cleaning cleaning) {
      return Fleet.this.cleaned(nodeId, allocationId, cleaning);
    }

    @Override
    public boolean isReimaged(String nodeId) {
      return reimaging.isDemandedOf(nodeId);
    }

    @Override
    public Future<Void> reimage(String nodeId, String allocationId) {
      return reimaging.run(nodeId, allocationId);
    }

    @Override
    public Future<Boolean> isCertain(String nodeId) {
      Node node = nodes.get(nodeId);
      return node != null && node.mayBeWiped()
          ? Future.succeededFuture(true)
          : lineage.covers(nodeId);
    }

    @Override
    public Future<Void> left(String nodeId, String allocationId) {
      return Fleet.this.left(nodeId, allocationId);
    }

    @Override
    public Future<Void> known(String nodeId) {
      return note(nodeId, Node::withoutLostGrants);
    }

    @Override
    public Optional<String> unknownMark(String nodeId) {
      return Optional.ofNullable(nodes.get(nodeId)).map(Node::unknownMark);
    }

    @Override
    public boolean mayWipe(String nodeId, String allocationId) {
      Node node = nodes.get(nodeId);
      return node != null && node.mayBeWipedOf(allocationId);
    }
  }

  private final class Reimaged implements Reimaging.Listener {
    @Override
    public void reimaged(String nodeId) {
      Fleet.this.reimaged(nodeId);
    }

    @Override
    public Future<Void> doubted(String nodeId, String allocationId) {
      return left(nodeId, allocationId);
    }
  }

  private Future<Void> left(String nodeId, String allocationId) {
    return note(nodeId, node -> node.leftFor(allocationId));
  }

  private Future<Void> note(String nodeId, UnaryOperator<Node> change) {
    Node node = nodes.get(nodeId);
    Node changed = node == null ? null : change.apply(node);
    return stopped || changed == null || changed.equals(node)
        ? Future.succeededFuture()
        : nodes.note(changed);
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
    public void receive(Prober.Slice slice) {
      compare(slice);
    }
  }

  /**
   * Reads the inventory, takes up what was left undone, and has every machine asked what it holds;
   * waits for none of them.
   */
  Future<Void> start() {
    return lineage
        .start()
        .compose(started -> Future.all(nodes.read(), reachability.load()))
        .compose(read -> env.nodes().listGivenBack(lease.pool(), env.now() - Leavers.MILLIS))
        .compose(
            left -> {
              leavers = new Leavers(left);
              return env.nodes().listSwappedAway(lease.pool(), env.now() - SwapExclusions.MILLIS);
            })
        .map(
            list -> {
              swapExclusions = new SwapExclusions(list);
              if (stopped) {
                return null;
              }
              unsubscribe = env.clusters().onPublished(this::published);
              env.clusters()
                  .stirringIn(lease.pool())
                  .forEach(
                      view -> {
                        inspect(view.cluster().name());
                        notices.look(view.cluster().name());
                      });
              askAll();
              cleanFree();
              prober.start();
              return null;
            });
  }

  /**
   * Reads the inventory again after operators changed it.
   *
   * @return whether all of it was; what this process writes meanwhile must be read once more
   */
  Future<Boolean> reread() {
    return lineage
        .follow()
        .compose(followed -> nodes.read())
        .map(
            reading -> {
              if (!stopped) {
                reading.removed().forEach(this::forget);
                ask(reading.added());
                reading.retried().forEach(this::retry);
                cleanFree();
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

  /** Takes up the cleaning of machines without a holder that is stored and not done. */
  private void cleanFree() {
    List<Node> needing = nodes.all().stream().filter(node -> toClean(node) != null).toList();
    if (!needing.isEmpty()) {
      Set<String> occupied = allocations().keySet();
      needing.stream().filter(n -> !occupied.contains(n.nodeId())).forEach(this::cleanFree);
    }
  }

  private void cleanFree(Node node) {
    String allocationId = toClean(node);
    if (allocationId != null && !orphans.inWork().contains(node.nodeId())) {
      orphans.clean(node.nodeId(), allocationId);
    }
  }

  /** Returns the allocation after which a node is reimaged, or may be wiped by a retry. */
  private static @Nullable String toClean(Node node) {
    if (node.reimage() != null) {
      return node.reimage().allocationId();
    }
    LostGrants lost = node.lostGrants();
    return lost != null && node.mayBeWiped() ? lost.latest() : null;
  }

  /** A machine with a new image is asked what it holds, as one that joins the pool. */
  private void reimaged(String nodeId) {
    if (!stopped) {
      suspects.remove(nodeId);
      reachability.seen(nodeId, env.now());
      holdingsScan.ask(List.of(nodeId));
    }
  }

  private void forget(String nodeId) {
    holdingsScan.forget(nodeId);
    reachability.forget(nodeId);
    prober.forget(nodeId);
    suspects.remove(nodeId);
    orphans.forget(nodeId);
    reclaimFailures.forget(nodeId);
  }

  private void askAll() {
    if (!stopped) {
      ask(nodes.all().stream().map(Node::nodeId).toList());
    }
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
    // The command of a reimage that an operator ended may still install the machine.
    busy.addAll(reimaging.inWork());
    return new Tick.Nodes(
        nodes.all().stream().map(node -> seen(node, nowMillis)).toList(),
        busy,
        swapExclusions.at(nowMillis),
        leavers.at(nowMillis));
  }

  private Node seen(Node node, long nowMillis) {
    Long unreachableSince = reachability.silentSinceMillis(node.nodeId());
    if (unreachableSince == null && !holdingsScan.isSilent(node.nodeId())) {
      return node.found(null);
    }
    long unheardSince = nowMillis - holdingsScan.unheardMillis(node.nodeId());
    return node.found(
        unreachableSince == null ? unheardSince : Math.min(unreachableSince, unheardSince));
  }

  /** Returns the history of the database in which nodes are granted now. */
  String lineage() {
    return lineage.current();
  }

  /** How many machines answered when last tried. Called on any thread. */
  Reachability.Counts reach() {
    return prober.reach();
  }

  /** How many machines have a health of each state. Called on any thread. */
  Map<Health.State, Integer> health() {
    return prober.health();
  }

  String publicIp(String nodeId) {
    return nodes.machine(nodeId).publicIp();
  }

  /** Starts nothing more. */
  void stop() {
    stopped = true;
    unsubscribe.run();
    reimaging.stop();
    orphans.stop();
    reclaimFailures.stop();
    work.stop();
    workPool.stop();
    holdingsScan.stop();
    prober.stop();
    notices.stop();
  }

  private void published(Cluster cluster) {
    if (stopped || !cluster.pool().equals(lease.pool())) {
      return;
    }
    if (cluster.allocations().stream().anyMatch(a -> a.state() != Allocation.State.ACTIVE)) {
      context.runOnContext(go -> inspect(cluster.name()));
    }
    if (notices.concerns(cluster)) {
      context.runOnContext(go -> notices.look(cluster.name()));
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
        leavers.note(cluster, allocation);
        take(cluster.name(), allocation, () -> work.reclaim(cluster, allocation));
      } else if (lost.containsKey(allocation.allocationId())) {
        take(cluster.name(), allocation, () -> restore(cluster, allocation));
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
        () -> lookAgain(cluster, allocation));
  }

  /** Forgets the work of an allocation that is over, which may have ended in another way. */
  private void lookAgain(String cluster, Allocation allocation) {
    String allocationId = allocation.allocationId();
    if (env.clusters().find(cluster).flatMap(view -> view.cluster().find(allocationId)).isEmpty()) {
      workPool.succeeded(allocationId);
      notices.forget(allocationId);
      reclaimFailures.forget(allocationId);
      lost.remove(allocationId);
      Node node = nodes.get(allocation.nodeId());
      if (node != null && !stopped) {
        cleanFree(node);
      }
    }
    inspect(cluster);
  }

  private Future<Void> restore(Cluster cluster, Allocation allocation) {
    String id = allocation.allocationId();
    return work.restore(cluster, allocation, lost.getOrDefault(id, Optional.empty()))
        .onSuccess(restored -> lost.remove(id))
        .compose(restored -> work.clearIfLate(allocation));
  }

  /**
   * Cleans machines that are prepared for an allocation that is gone, and notes those that lost
   * what an active allocation needs.
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
      if (held != null) {
        hear(holding, held);
      }
      reclaimFailures.forget(holding.nodeId());
    }
  }

  private void hear(Holding holding, Held held) {
    String allocationId = held.allocation().allocationId();
    if (allocationId.equals(holding.allocationId())) {
      notices.heard(held.cluster(), allocationId, holding.notice());
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
  private void compare(Prober.Slice slice) {
    context
        .executeBlocking(this::allocations, false)
        .onSuccess(allocations -> compare(slice, allocations));
  }

  private void compare(Prober.Slice slice, Map<String, Held> allocations) {
    if (stopped) {
      return;
    }
    Map<String, Map<String, Finding>> findings = new HashMap<>();
    slice.silent().forEach(id -> note(findings, allocations.get(id), Finding.SILENT));
    slice.unchecked().forEach(id -> note(findings, allocations.get(id), Finding.UNCHECKED));
    List<String> astray = new ArrayList<>();
    for (Examination examination : slice.examined()) {
      Holding holding = examination.holding();
      String nodeId = holding.nodeId();
      Held held = allocations.get(nodeId);
      String holder = held == null ? null : held.allocation().allocationId();
      // A tenant that is gone by now may have caused what was found.
      if (nodes.get(nodeId) != null && Objects.equals(holding.allocationId(), holder)) {
        judge(nodeId, examination, holder == null);
        note(findings, held, Finding.of(examination.health()));
        if (held != null) {
          hear(holding, held);
        }
      }
      if (nodes.get(nodeId) != null
          && !orphans.inWork().contains(nodeId)
          && isAstray(holding, allocations.get(nodeId))) {
        astray.add(nodeId);
      }
    }
    holdingsScan.ask(astray);
    findings.forEach(this::tellHolder);
  }

  /**
   * Adds a finding about a held machine, by cluster and allocation. What a machine says of itself
   * counts only where no tenant can be root, because root can forge each check.
   */
  private void note(
      Map<String, Map<String, Finding>> findings, @Nullable Held held, Finding finding) {
    if (held != null) {
      boolean isTrusted = finding.equals(Finding.SILENT) || isConfined(held);
      findings
          .computeIfAbsent(held.cluster(), name -> new HashMap<>())
          .put(held.allocation().allocationId(), isTrusted ? finding : Finding.UNCHECKED);
    }
  }

  /** Pods of a Kubernetes cluster can be root on its nodes. */
  private boolean isConfined(Held held) {
    return !env.terms(lease.pool()).hasRootTenants()
        && env.clusters()
            .find(held.cluster())
            .filter(view -> view.cluster().kind() == Cluster.Kind.VM)
            .isPresent();
  }

  /** Most findings change nothing, so the command is tried on the snapshot first. */
  private void tellHolder(String name, Map<String, Finding> findings) {
    Pool pool = env.clusters().findPool(lease.pool()).orElseThrow();
    boolean maySwap = pool.swapsEnabled() && env.clusters().switches().writesArmed();
    Command command = HealthCommands.found(findings, maySwap);
    boolean isNews =
        env.clusters()
            .find(name)
            .filter(view -> HealthCommands.changes(command, view.cluster(), env.now()))
            .isPresent();
    if (isNews) {
      env.owners()
          .order(name, command, List.of(lease.fence()))
          .onFailure(
              e ->
                  LOG.warn(
                      "pool {}: could not store the health of nodes of cluster {}, which the next"
                          + " probe repeats: {}",
                      lease.pool(),
                      name,
                      e.toString()));
    }
  }

  /** Records the handover of a machine, and its first list of what root owns. */
  private Future<Void> cleaned(String nodeId, String allocationId, Cleaning cleaning) {
    if (stopped || nodes.get(nodeId) == null || cleaning.equals(Cleaning.UNRECORDED)) {
      return Future.succeededFuture();
    }
    return env.nodes()
        .record(new Handover(allocationId, nodeId, env.now(), cleaning, null), lease)
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
