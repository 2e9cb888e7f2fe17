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
 * Has the machines of a pool tell their tenants' programs of notices ({@link ProgramNotices}).
 *
 * <p>Nothing is stored of deliveries: the machine knows what it was told and says so when it is
 * asked what it holds, so a process that takes the lease over delivers what is missing. A machine
 * ignores what it was told already and what has a lower sequence, so a late or repeated delivery
 * changes nothing. It answers the sequence that it keeps, so a notice that it ignored does not
 * count as delivered.
 *
 * <p>Deliveries have a queue and connections of their own: they wait for no grant or reclaim, and
 * no grant or reclaim waits for them. Used on one context but for {@link #concerns}.
 */
final class NoticeDelivery {
  /**
   * After so many tries in a row, which take minutes, the next answer of the machine is awaited.
   */
  private static final int MOST_TRIES = 8;

  /** Deliveries of one lease are fewer, and the numbers of the next lease are higher. */
  private static final long MOST_A_LEASE = 1_000_000_000;

  /** The wall clock is looked at again after so long, because it may have been set. */
  private static final long LONGEST_WAIT_MILLIS = 60_000;

  private final Vertx vertx;
  private final NodeProvider provider;
  private final Clusters clusters;
  private final Inventory nodes;
  private final NodeStore store;
  private final Lease lease;
  private final Clock clock;
  private final WorkPool workPool;

  /** What machines were told last, as far as that is known, by cluster and allocation. */
  private final Map<String, Map<String, NodeNotice>> told = new ConcurrentHashMap<>();

  /** By cluster, the timer of its next change. */
  private final Map<String, Long> timers = new HashMap<>();

  private long sent;
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

  /** True if machines of a cluster may have to be told of something. Called on any thread. */
  boolean concerns(Cluster cluster) {
    return told.containsKey(cluster.name())
        || ProgramNotices.nextChangeMillis(cluster, 0).isPresent()
        || cluster.allocations().stream().anyMatch(Notices::isUnderNotice);
  }

  /** Starts the deliveries that are due for a cluster, by its latest snapshot. */
  void look(String name) {
    Cluster cluster = clusters.find(name).map(ClusterView::cluster).orElse(null);
    if (stopped || cluster == null) {
      return;
    }
    forgetOthers(cluster);
    long now = clock.millis();
    for (Allocation allocation : cluster.allocations()) {
      due(cluster, allocation, now).ifPresent(notice -> submit(cluster, allocation, notice));
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

  /** Takes note of what a machine says that it was told. */
  void heard(String cluster, String allocationId, @Nullable NodeNotice last) {
    boolean hasFailed = workPool.failedTries(allocationId) > 0;
    workPool.succeeded(allocationId);
    NodeNotice standing = last == null || last.isWithdrawn() ? null : last;
    boolean isNews = !Objects.equals(standing, lastOf(cluster, allocationId));
    if (isNews) {
      note(cluster, allocationId, standing);
    }
    if (isNews || hasFailed) {
      look(cluster);
    }
  }

  /** The allocation is over. */
  void forget(String allocationId) {
    workPool.succeeded(allocationId);
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

  /** Forgets the failures of an allocation that is over. */
  private void lookAgain(String cluster, String allocationId) {
    if (clusters.find(cluster).flatMap(view -> view.cluster().find(allocationId)).isEmpty()) {
      workPool.succeeded(allocationId);
    }
    look(cluster);
  }

  /** Decides at its turn: what was due may be out of date. */
  private Future<Void> deliver(String name, String allocationId) {
    Cluster cluster = clusters.find(name).map(ClusterView::cluster).orElse(null);
    Allocation allocation = cluster == null ? null : cluster.find(allocationId).orElse(null);
    if (stopped || cluster == null || allocation == null) {
      return Future.succeededFuture();
    }
    Node node = nodes.get(allocation.nodeId());
    NodeNotice notice = due(cluster, allocation, clock.millis()).orElse(null);
    if (node == null || notice == null) {
      return Future.succeededFuture();
    }
    long sequence = lease.epoch() * MOST_A_LEASE + ++sent;
    return provider
        .deliverNotice(node.machine(), allocationId, notice, sequence)
        .compose(
            kept ->
                kept <= sequence
                    ? Future.succeededFuture()
                    : deliverAbove(kept, node.machine(), allocationId, notice))
        .onSuccess(delivered -> note(name, allocationId, notice));
  }

  /**
   * Delivers a notice to a machine that keeps one of a higher sequence. Either another process has
   * the lease by now, or the database lost the leases that the higher ones were counted by, as in a
   * fail-over. A commit that fails without the lease tells which.
   */
  private Future<Void> deliverAbove(
      long kept, Machine machine, String allocationId, NodeNotice notice) {
    return store
        .commit(List.of(), lease)
        .compose(
            held ->
                stopped
                    ? Future.failedFuture(new Lease.LeaseLostException())
                    : provider.deliverNotice(machine, allocationId, notice, kept + 1))
        .compose(
            now ->
                now <= kept + 1
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        NodeFailureException.passing(
                            "%s: the machine keeps a notice of sequence %d, above %d"
                                .formatted(machine.nodeId(), now, kept + 1))));
  }

  private Optional<NodeNotice> due(Cluster cluster, Allocation allocation, long nowMillis) {
    if (allocation.state() != Allocation.State.ACTIVE) {
      return Optional.empty();
    }
    NodeNotice last = lastOf(cluster.name(), allocation.allocationId());
    return ProgramNotices.due(ProgramNotices.standing(cluster, allocation, last, nowMillis), last);
  }

  private void forgetOthers(Cluster cluster) {
    Map<String, NodeNotice> known = told.get(cluster.name());
    if (known != null) {
      Set<String> held = new HashSet<>();
      cluster.allocations().forEach(a -> held.add(a.allocationId()));
      known.keySet().retainAll(held);
      if (known.isEmpty()) {
        told.remove(cluster.name());
      }
    }
  }

  private @Nullable NodeNotice lastOf(String cluster, String allocationId) {
    return told.getOrDefault(cluster, Map.of()).get(allocationId);
  }

  /** A notice that was withdrawn is nothing to withdraw, as if there had been none. */
  private void note(String cluster, String allocationId, @Nullable NodeNotice last) {
    if (last != null && !last.isWithdrawn()) {
      told.computeIfAbsent(cluster, name -> new HashMap<>()).put(allocationId, last);
    } else {
      told.getOrDefault(cluster, new HashMap<>()).remove(allocationId);
    }
  }
}
