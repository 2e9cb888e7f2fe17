package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.nodes.NodeNotice;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Delivers notices to the machines of a pool, where tenants' programs read them ({@link
 * ProgramNotices}).
 *
 * <p>Deliveries are not stored: a machine keeps its last notice and reports it with its allocation,
 * so a process that takes over the lease delivers the missing notices. A machine ignores a notice
 * that it has already, for example from its agent ({@link NoticePolls}), or one with a lower
 * sequence, so a late or repeated delivery changes nothing. It answers with the sequence that it
 * keeps, so an ignored notice does not count as delivered.
 *
 * <p>Deliveries have a queue and connections of their own: they do not wait for grants or reclaims,
 * and no grant or reclaim waits for them. Used on one context, except for {@link #concerns}.
 */
final class NoticeDelivery {
  /**
   * Consecutive attempts, which take minutes; after them the next delivery waits until the machine
   * answers.
   */
  private static final int MOST_TRIES = 8;

  /** The longest timer: the wall clock is read again after it, because it may have been set. */
  private static final long LONGEST_WAIT_MILLIS = 60_000;

  private final Vertx vertx;
  private final NodeProvider provider;
  private final Clusters clusters;
  private final Inventory nodes;
  private final NodeStore store;
  private final Lease lease;
  private final Clock clock;
  private final WorkPool workPool;

  /** The last notice known to be on each machine, by cluster and allocation. */
  private final Map<String, Map<String, NodeNotice>> delivered = new ConcurrentHashMap<>();

  /** The timer of the next change, by cluster. */
  private final Map<String, Long> timers = new HashMap<>();

  private boolean stopped;

  NoticeDelivery(
      Vertx vertx,
      NodeProvider provider,
      Clusters clusters,
      Inventory nodes,
      NodeStore store,
      Lease lease,
      NoticeTurns turns,
      Clock clock) {
    this.vertx = vertx;
    this.provider = provider;
    this.clusters = clusters;
    this.nodes = nodes;
    this.store = store;
    this.lease = lease;
    this.clock = clock;
    this.workPool = new WorkPool(vertx, turns.on(vertx.getOrCreateContext()));
  }

  /** Returns true if a cluster may have notices to deliver. Called on any thread. */
  boolean concerns(Cluster cluster) {
    return delivered.containsKey(cluster.name())
        || ProgramNotices.nextChangeMillis(cluster, 0).isPresent()
        || cluster.allocations().stream().anyMatch(Notices::isUnderNotice);
  }

  /** Starts the deliveries that are due for the latest snapshot of a cluster. */
  void look(String name) {
    Cluster cluster = clusters.find(name).map(ClusterView::cluster).orElse(null);
    if (stopped || cluster == null) {
      return;
    }
    forgetOthers(cluster);
    long now = clock.millis();
    for (Allocation allocation : cluster.allocations()) {
      due(cluster, allocation, now).ifPresent(due -> submit(cluster, allocation, due.notice()));
    }
    Long timer = timers.remove(name);
    if (timer != null) {
      vertx.cancelTimer(timer);
    }
    ProgramNotices.nextChangeMillis(cluster, now)
        .ifPresent(
            at ->
                timers.put(
                    name,
                    vertx.setTimer(
                        Math.min(at - now, LONGEST_WAIT_MILLIS),
                        fired -> {
                          timers.remove(name);
                          look(name);
                        })));
  }

  /** Records the notice that a machine reports. */
  void recordAnswer(String cluster, String allocationId, @Nullable NodeNotice last) {
    boolean hasFailed = workPool.failedTries(allocationId) > 0;
    workPool.recordSuccess(allocationId);
    NodeNotice standing = last == null || last.isWithdrawn() ? null : last;
    boolean isNews = !Objects.equals(standing, lastOf(cluster, allocationId));
    if (isNews) {
      note(cluster, allocationId, standing);
    }
    if (isNews || hasFailed) {
      look(cluster);
    }
  }

  /** Forgets an allocation that has ended. */
  void forget(String allocationId) {
    workPool.recordSuccess(allocationId);
  }

  void stop() {
    stopped = true;
    workPool.stop();
    timers.values().forEach(vertx::cancelTimer);
    timers.clear();
  }

  private void submit(Cluster cluster, Allocation allocation, NodeNotice notice) {
    String id = allocation.allocationId();
    if (workPool.failedTries(id) < MOST_TRIES) {
      workPool.submit(
          id,
          cluster.orgId(),
          notice.isDrill(),
          () -> deliver(cluster.name(), id),
          () -> lookAgain(cluster.name(), id));
    }
  }

  /** Forgets the failures of an allocation that has ended, and looks at its cluster again. */
  private void lookAgain(String cluster, String allocationId) {
    if (clusters.find(cluster).flatMap(view -> view.cluster().find(allocationId)).isEmpty()) {
      workPool.recordSuccess(allocationId);
    }
    look(cluster);
  }

  /**
   * Delivers the notice that is due when the delivery gets its turn; the notice at submission may
   * be out of date.
   */
  private Future<Void> deliver(String name, String allocationId) {
    Cluster cluster = clusters.find(name).map(ClusterView::cluster).orElse(null);
    Allocation allocation = cluster == null ? null : cluster.find(allocationId).orElse(null);
    if (stopped || cluster == null || allocation == null) {
      return Future.succeededFuture();
    }
    Node node = nodes.get(allocation.nodeId());
    ProgramNotices.Due next = due(cluster, allocation, clock.millis()).orElse(null);
    if (node == null) {
      return Future.succeededFuture();
    }
    if (next == null) {
      // The notice ended before its turn, but the machine's agent may have delivered it.
      return learn(node.machine(), name, allocationId).onSuccess(known -> look(name));
    }
    NodeNotice notice = next.notice();
    return provider
        .deliverNotice(node.machine(), allocationId, notice, next.sequence())
        .compose(
            kept ->
                kept <= next.sequence()
                    ? Future.succeededFuture()
                    : deliverAbove(kept, node.machine(), name, allocationId, notice))
        .onSuccess(done -> note(name, allocationId, notice));
  }

  /** Asks a machine for its last notice. */
  private Future<Void> learn(Machine machine, String cluster, String allocationId) {
    return provider
        .held(List.of(machine))
        .onSuccess(
            answers ->
                answers.stream()
                    .filter(holding -> allocationId.equals(holding.allocationId()))
                    .forEach(holding -> note(cluster, allocationId, holding.notice())))
        .mapEmpty();
  }

  /**
   * Delivers a notice to a machine that keeps one of a higher sequence. Usually that notice is
   * newer: the machine's agent or the process that has the lease by now delivered it. If this
   * process has the lease, and the stored state still requires this notice after the one on the
   * machine, the database lost the state that the higher sequence came from, as in a fail-over.
   */
  private Future<Void> deliverAbove(
      long kept, Machine machine, String cluster, String allocationId, NodeNotice notice) {
    return store
        .commit(List.of(), lease)
        .compose(held -> learn(machine, cluster, allocationId))
        .compose(learnt -> store.findRevision(cluster))
        .compose(
            stored -> {
              if (stopped) {
                return Future.failedFuture(new Lease.LeaseLostException());
              }
              boolean isInForce =
                  clusters
                      .find(cluster)
                      .map(ClusterView::cluster)
                      .filter(latest -> stored.equals(Optional.of(latest.revision())))
                      .flatMap(
                          latest ->
                              latest
                                  .find(allocationId)
                                  .flatMap(held -> due(latest, held, clock.millis())))
                      .filter(due -> due.notice().equals(notice))
                      .isPresent();
              return isInForce
                  ? provider.deliverNotice(machine, allocationId, notice, kept + 1)
                  : Future.failedFuture(
                      NodeFailureException.passing(
                          machine.nodeId() + ": the machine has a newer notice"));
            })
        .compose(
            now ->
                now <= kept + 1
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        NodeFailureException.passing(
                            "%s: the machine keeps a notice of sequence %d, above %d"
                                .formatted(machine.nodeId(), now, kept + 1))));
  }

  private Optional<ProgramNotices.Due> due(Cluster cluster, Allocation allocation, long nowMillis) {
    return ProgramNotices.next(
        cluster, allocation, lastOf(cluster.name(), allocation.allocationId()), nowMillis);
  }

  private void forgetOthers(Cluster cluster) {
    Map<String, NodeNotice> known = delivered.get(cluster.name());
    if (known != null) {
      Set<String> held = new HashSet<>();
      cluster.allocations().forEach(a -> held.add(a.allocationId()));
      known.keySet().retainAll(held);
      if (known.isEmpty()) {
        delivered.remove(cluster.name());
      }
    }
  }

  private @Nullable NodeNotice lastOf(String cluster, String allocationId) {
    return delivered.getOrDefault(cluster, Map.of()).get(allocationId);
  }

  /** Records the last notice of a machine; a withdrawn notice counts as no notice. */
  private void note(String cluster, String allocationId, @Nullable NodeNotice last) {
    if (last != null && !last.isWithdrawn()) {
      delivered.computeIfAbsent(cluster, name -> new HashMap<>()).put(allocationId, last);
    } else {
      delivered.getOrDefault(cluster, new HashMap<>()).remove(allocationId);
    }
  }
}
