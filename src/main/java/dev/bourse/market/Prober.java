package dev.bourse.market;

import dev.bourse.nodes.Examination;
import dev.bourse.nodes.Hardware;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Probes every machine of a pool once an interval, free or held, so that a dead one is known before
 * it is granted or given back, and examines its hardware and what it holds: a call of a process
 * that is gone may have come late, or the machine been installed anew between two probes. It takes
 * no machine from anybody: whether a tenant still reaches a machine is not known here. Used on one
 * context.
 */
final class Prober {
  private static final Logger LOG = LoggerFactory.getLogger(Prober.class);

  /** A round is made in slices, so that a pool's machines are not all tried at once. */
  private static final int SLICES = 60;

  /** A quarter of the connections the ssh provider has by default. */
  private static final int TRIED_AT_ONCE = 4;

  /** How many of those may have failed to answer before, or to tell what they hold. */
  private static final int MISSING_TRIED_AT_ONCE = 2;

  /** An eighth of the connections the ssh provider has by default, which grants need, too. */
  private static final int EXAMINED_AT_ONCE = 2;

  private static final int MUTE_EXAMINED_AT_ONCE = 1;

  /** Longest time between two commits of what was seen. */
  private static final long STORE_MILLIS = 5_000;

  /** Who is told, on the same context. */
  interface Listener {
    /** A machine answers again. */
    void isBack(String nodeId);

    /** Whether a machine is being asked what it holds anyway. */
    boolean isAsked(String nodeId);

    /** What machines held a moment ago and how their hardware is, those of a slice together. */
    void told(List<Examination> examinations);
  }

  private final Vertx vertx;
  private final NodeProvider provider;
  private final Supplier<Hardware> hardware;
  private final Inventory nodes;
  private final Reachability reachability;
  private final Listener listener;
  private final long intervalMillis;
  private final Clock clock;
  private final WorkQueue queue = new WorkQueue(TRIED_AT_ONCE, MISSING_TRIED_AT_ONCE);
  private final Set<String> inWork = new HashSet<>();

  /**
   * A queue of its own, because an examination takes seconds where cards are slow, and a dead
   * machine is to be noticed meanwhile. A machine that waits is not added again.
   */
  private final WorkQueue examinations = new WorkQueue(EXAMINED_AT_ONCE, MUTE_EXAMINED_AT_ONCE);

  private final Set<String> examining = new HashSet<>();

  /** Machines that answer and did not tell what they hold; each takes until a time-out. */
  private final Set<String> mute = new HashSet<>();

  /** What machines told since the last slice. */
  private final List<Examination> told = new ArrayList<>();

  private int slice;
  private boolean stopped;
  private volatile Reachability.Counts reach = new Reachability.Counts(0, 0, 0);

  Prober(
      Vertx vertx,
      NodeProvider provider,
      Supplier<Hardware> hardware,
      Inventory nodes,
      Reachability reachability,
      Listener listener,
      long intervalMillis,
      Clock clock) {
    this.vertx = vertx;
    this.provider = provider;
    this.hardware = hardware;
    this.nodes = nodes;
    this.reachability = reachability;
    this.listener = listener;
    this.intervalMillis = intervalMillis;
    this.clock = clock;
  }

  void start() {
    trySlice();
    store();
  }

  /** Probes no machine any more; what was seen and is not stored is forgotten. */
  void stop() {
    stopped = true;
    queue.stop();
    examinations.stop();
  }

  /** How many machines answered when last tried. Called on any thread. */
  Reachability.Counts reach() {
    return reach;
  }

  private void trySlice() {
    if (stopped) {
      return;
    }
    if (!told.isEmpty()) {
      listener.told(List.copyOf(told));
      told.clear();
    }
    slice = (slice + 1) % SLICES;
    for (Node node : nodes.all()) {
      String nodeId = node.nodeId();
      if (Math.floorMod(nodeId.hashCode(), SLICES) == slice && inWork.add(nodeId)) {
        queue.add(
            reachability.isUnreachable(nodeId),
            () ->
                tryOnce(nodeId)
                    .onSuccess(answers -> examine(nodeId))
                    .onComplete(done -> inWork.remove(nodeId)));
      }
    }
    vertx.setTimer(Math.max(1, intervalMillis / SLICES), timer -> trySlice());
  }

  /** Tries a second time when the first fails: one lost packet does not mean that it died. */
  private Future<Void> tryOnce(String nodeId) {
    Node node = nodes.get(nodeId);
    if (node == null) {
      return Future.succeededFuture();
    }
    return Future.succeededFuture()
        .compose(go -> provider.probe(node.machine()))
        .recover(e -> stopped ? Future.failedFuture(e) : provider.probe(node.machine()))
        .onComplete(
            done -> {
              if (stopped || !node.isSameMachineAs(nodes.get(nodeId))) {
                return;
              }
              if (done.failed()) {
                reachability.missed(nodeId, done.cause());
              } else if (reachability.seen(nodeId, clock.millis())) {
                listener.isBack(nodeId);
              }
            });
  }

  private void examine(String nodeId) {
    if (examining.add(nodeId)) {
      examinations.add(
          mute.contains(nodeId), () -> look(nodeId).onComplete(done -> examining.remove(nodeId)));
    }
  }

  private Future<Void> look(String nodeId) {
    Node node = nodes.get(nodeId);
    if (stopped || node == null || listener.isAsked(nodeId)) {
      return Future.succeededFuture();
    }
    return provider
        .examine(node.machine(), hardware.get())
        .onComplete(
            (examination, failure) -> {
              if (stopped || !node.isSameMachineAs(nodes.get(nodeId))) {
                mute.remove(nodeId);
              } else if (failure != null) {
                mute.add(nodeId);
              } else {
                mute.remove(nodeId);
                told.add(examination);
              }
            })
        .mapEmpty();
  }

  private void store() {
    if (stopped) {
      return;
    }
    reach = reachability.counts(nodes.all().size());
    reachability
        .store(clock.millis())
        .onFailure(
            e -> {
              if (!stopped && !(e instanceof Lease.Lost)) {
                LOG.warn(
                    "pool {}: could not store when machines were seen: {}",
                    nodes.pool(),
                    e.toString());
              }
            });
    vertx.setTimer(Math.min(STORE_MILLIS, intervalMillis), timer -> store());
  }
}
