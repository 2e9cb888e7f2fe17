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
 * Makes a pool's machines follow its allocations: prepares the machine of an allocation that is
 * provisioning and cleans that of an allocation that is reclaiming, unless such work is already
 * running. Runs on the market's context, only while this process holds the lease.
 */
final class Fleet {
  private static final Logger LOG = LoggerFactory.getLogger(Fleet.class);

  /** Machines worked on at once, a number that a site's operators can follow; the others wait. */
  private static final int MAX_IN_WORK = 64;

  /** Limit for machines that failed before: half of the connections of the ssh provider. */
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
   * Active allocations whose machines lost their preparation, with the other allocation that the
   * machine is marked for, if any.
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
            new ProbeListener(),
            env.config().probeIntervalMillis(),
            env.clock());
    this.notices =
        new NoticeDelivery(
            vertx, provider, env.clusters(), nodes, env.nodes(), lease, turns, env.clock());
    this.lineage = new Lineage(env.database(), env.nodes(), lease, this::askAll);
    this.reimaging =
        new Reimaging(vertx, env, lease, provider, nodes, lineage, new ReimageListener());
    this.reassignment = new Reassignment(provider, env.nodes(), new HandoverRecorder());
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

  private final class HandoverRecorder implements Reassignment.Handovers {
    @Override
    public Future<Void> recordCleaning(String nodeId, String allocationId, Cleaning cleaning) {
      return Fleet.this.recordCleaning(nodeId, allocationId, cleaning);
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
    public Future<Void> recordLostGrant(String nodeId, String allocationId) {
      return Fleet.this.recordLostGrant(nodeId, allocationId);
    }

    @Override
    public Future<Void> clearLostGrants(String nodeId) {
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

  private final class ReimageListener implements Reimaging.Listener {
    @Override
    public void onReimaged(String nodeId) {
      Fleet.this.onReimaged(nodeId);
    }

    @Override
    public Future<Void> recordLostGrant(String nodeId, String allocationId) {
      return Fleet.this.recordLostGrant(nodeId, allocationId);
    }
  }

  private Future<Void> recordLostGrant(String nodeId, String allocationId) {
    return note(nodeId, node -> node.leftFor(allocationId));
  }

  private Future<Void> note(String nodeId, UnaryOperator<Node> change) {
    Node node = nodes.get(nodeId);
    Node changed = node == null ? null : change.apply(node);
    return stopped || changed == null || changed.equals(node)
        ? Future.succeededFuture()
        : nodes.note(changed);
  }

  private final class ProbeListener implements Prober.Listener {
    /** Asks the machine again, because it may have been reinstalled while it was silent. */
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
   * Reads the inventory, resumes unfinished work and asks every machine which allocation it holds,
   * without waiting for the answers.
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
              unsubscribe = env.clusters().onPublished(this::onPublished);
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
   * @return true if all rows were read; otherwise this process was writing some, and the caller
   *     must read once more
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

  /** Starts the work that waits for another attempt. */
  private void retry(String nodeId) {
    List<String> works = new ArrayList<>(List.of(nodeId));
    for (ClusterView view : env.clusters().stirringIn(lease.pool())) {
      view.cluster().allocations().stream()
          .filter(allocation -> allocation.nodeId().equals(nodeId))
          .forEach(allocation -> works.add(allocation.allocationId()));
    }
    for (String work : works) {
      workPool.recordSuccess(work);
      reclaimFailures.forget(work);
      workPool.runNow(work);
    }
  }

  /** Starts the stored, unfinished cleaning of machines without a holder. */
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

  /**
   * Asks a machine with a new image which allocation it holds, as for a machine that joins the
   * pool.
   */
  private void onReimaged(String nodeId) {
    if (!stopped) {
      suspects.remove(nodeId);
      reachability.recordAnswer(nodeId, env.now());
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

  /** Asks free machines first, because a cluster may be waiting for one. */
  private void ask(List<String> nodeIds) {
    if (nodeIds.isEmpty()) {
      return;
    }
    Set<String> occupied = allocations().keySet();
    holdingsScan.ask(nodeIds.stream().filter(id -> !occupied.contains(id)).toList());
    holdingsScan.ask(nodeIds.stream().filter(occupied::contains).toList());
  }

  /** Returns the holders of the pool's machines, by node. */
  private Map<String, Held> allocations() {
    Map<String, Held> allocations = new HashMap<>();
    for (ClusterView view : env.clusters().stirringIn(lease.pool())) {
      String name = view.cluster().name();
      view.cluster().allocations().forEach(a -> allocations.put(a.nodeId(), new Held(name, a)));
    }
    return allocations;
  }

  private record Held(String cluster, Allocation allocation) {}

  /** Returns the nodes for the next tick. */
  Tick.Nodes snapshot(long nowMillis) {
    Set<String> busy = holdingsScan.unheard();
    busy.addAll(orphans.inWork());
    // The command of a reimage that an operator ended may still install the machine.
    busy.addAll(reimaging.inWork());
    return new Tick.Nodes(
        nodes.all().stream().map(node -> withSilence(node, nowMillis)).toList(),
        busy,
        swapExclusions.at(nowMillis),
        leavers.at(nowMillis));
  }

  private Node withSilence(Node node, long nowMillis) {
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

  /** Returns how many machines answered the last probe. Called on any thread. */
  Reachability.Counts reach() {
    return prober.reach();
  }

  /** Returns the number of machines in each health state. Called on any thread. */
  Map<Health.State, Integer> health() {
    return prober.health();
  }

  String publicIp(String nodeId) {
    return nodes.machine(nodeId).publicIp();
  }

  /** Stops all work. */
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

  private void onPublished(Cluster cluster) {
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

  /**
   * Inspects the latest snapshot, because an older one may name a machine that has been granted
   * again.
   */
  private void inspect(String name) {
    env.clusters().find(name).map(ClusterView::cluster).ifPresent(this::inspect);
  }

  private void inspect(Cluster cluster) {
    for (Allocation allocation : cluster.allocations()) {
      if (allocation.isReady() && !lost.containsKey(allocation.allocationId())) {
        if (isNext(cluster, allocation)) {
          startWork(cluster.name(), allocation, () -> work.complete(cluster, allocation));
        }
      } else if (allocation.state() == Allocation.State.PROVISIONING && !allocation.isReady()) {
        startWork(cluster.name(), allocation, () -> work.provision(cluster, allocation));
      } else if (allocation.state() == Allocation.State.RECLAIMING) {
        swapExclusions.note(cluster, allocation);
        leavers.note(cluster, allocation);
        startWork(cluster.name(), allocation, () -> work.reclaim(cluster, allocation));
      } else if (lost.containsKey(allocation.allocationId())) {
        startWork(cluster.name(), allocation, () -> restore(cluster, allocation));
      }
    }
  }

  /** Returns true if the market must act for a ready node. */
  private boolean isNext(Cluster cluster, Allocation ready) {
    return env.clusters()
        .findPool(lease.pool())
        .filter(pool -> Gang.isNext(cluster, ready, pool.gpusPerNode()))
        .isPresent();
  }

  /**
   * Starts work for an allocation unless work is running; afterwards inspects its cluster again.
   */
  private void startWork(String cluster, Allocation allocation, Supplier<Future<Void>> todo) {
    String nodeId = allocation.nodeId();
    workPool.submit(
        allocation.allocationId(),
        cluster,
        () -> {
          holdingsScan.suspend(nodeId);
          return Future.succeededFuture()
              .compose(go -> todo.get())
              .onComplete(done -> holdingsScan.resume(nodeId));
        },
        () -> inspectAgain(cluster, allocation));
  }

  /** Forgets the work of an allocation that has ended, and inspects its cluster again. */
  private void inspectAgain(String cluster, Allocation allocation) {
    String allocationId = allocation.allocationId();
    if (env.clusters().find(cluster).flatMap(view -> view.cluster().find(allocationId)).isEmpty()) {
      workPool.recordSuccess(allocationId);
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
   * Cleans machines that are marked for an ended allocation, and restores machines that lost the
   * preparation of an active allocation.
   */
  private void reconcile(List<Holding> holdings) {
    if (stopped) {
      return;
    }
    Map<String, Held> allocations = allocations();
    for (Holding holding : holdings) {
      reachability.recordAnswer(holding.nodeId(), env.now());
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
      notices.recordAnswer(held.cluster(), allocationId, holding.notice());
    }
  }

  /**
   * Returns true if a free machine has a mark, or if a prepared machine lacks the mark of its
   * allocation.
   */
  private static boolean isAstray(Holding holding, @Nullable Held held) {
    String mark = holding.allocationId();
    return held == null
        ? mark != null
        : (held.allocation().state() == Allocation.State.ACTIVE || held.allocation().isReady())
            && !held.allocation().allocationId().equals(mark);
  }

  /**
   * Asks machines that seem astray once more, because their answers may be out of date after a
   * grant or a reclaim. Quarantines faulty machines without a holder. Runs on a worker because it
   * looks at every cluster.
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
      // A former tenant may have caused the finding.
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
    findings.forEach(this::reportToHolder);
  }

  /**
   * Adds a finding about a held machine, by cluster and allocation. A machine's own report counts
   * only where no tenant can be root, because root can forge each check.
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

  /**
   * Reports findings to the cluster. Most findings change nothing, so the command is tried on the
   * snapshot first.
   */
  private void reportToHolder(String name, Map<String, Finding> findings) {
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

  /** Records the handover of a machine and its first baseline. */
  private Future<Void> recordCleaning(String nodeId, String allocationId, Cleaning cleaning) {
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

  /** Quarantines a free machine at the second examination in a row that finds a fault. */
  private void judge(String nodeId, Examination examination, boolean isFree) {
    Health health = examination.health();
    reachability.recordExamination(nodeId, health, env.now());
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
