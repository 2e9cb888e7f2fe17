package dev.bourse.market;

import dev.bourse.nodes.Examination;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.MachineTerms;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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

  /**
   * As many as the ssh provider has connections for examinations. Pools share those in the order of
   * their calls, so that a small pool waits behind this many of each other pool.
   */
  private static final int EXAMINED_AT_ONCE = 64;

  /** How many of them may have failed before: each of those takes a minute. */
  private static final int MUTE_EXAMINED_AT_ONCE = 16;

  /**
   * Rounds in a row without an answer that count as a failure. A restart of the machine misses one
   * round. Each round tries twice.
   */
  private static final int SILENT_ROUNDS = 3;

  /** Examinations in a row without an end, after which nothing is known of the hardware. */
  private static final int MUTE_ROUNDS = 2;

  /** Longest time between two commits of what was seen. */
  private static final long STORE_MILLIS = 5_000;

  /** Who is told, on the same context. */
  interface Listener {
    /** A machine answers again. */
    void isBack(String nodeId);

    /** Whether a machine is being asked what it holds anyway. */
    boolean isAsked(String nodeId);

    /** Receives the answers of a slice of the machines. */
    void receive(Slice slice);
  }

  /**
   * What machines told since the last slice.
   *
   * @param examined what they held a moment ago and how their hardware is
   * @param silent those that did not answer in several rounds, while another one of the pool did
   * @param unchecked those whose examinations do not end
   */
  record Slice(List<Examination> examined, Set<String> silent, Set<String> unchecked) {}

  private final Vertx vertx;
  private final NodeProvider provider;
  private final Supplier<MachineTerms> terms;
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

  /** Rounds in a row in which machines did not answer. */
  private final Map<String, Integer> missedRounds = new HashMap<>();

  /**
   * Rounds in a row in which machines answered and did not tell what they hold; each takes until a
   * time-out.
   */
  private final Map<String, Integer> muteRounds = new HashMap<>();

  // What machines told since the last slice.
  private final List<Examination> told = new ArrayList<>();
  private final Set<String> silent = new HashSet<>();
  private final Set<String> unchecked = new HashSet<>();

  private int slice;
  private boolean stopped;
  private volatile Reachability.Counts reach = new Reachability.Counts(0, 0, 0);
  private volatile Map<Health.State, Integer> health = Map.of();

  Prober(
      Vertx vertx,
      NodeProvider provider,
      Supplier<MachineTerms> terms,
      Inventory nodes,
      Reachability reachability,
      Listener listener,
      long intervalMillis,
      Clock clock) {
    this.vertx = vertx;
    this.provider = provider;
    this.terms = terms;
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

  /** The pool has this machine no more. */
  void forget(String nodeId) {
    missedRounds.remove(nodeId);
    muteRounds.remove(nodeId);
  }

  /** How many machines answered when last tried. Called on any thread. */
  Reachability.Counts reach() {
    return reach;
  }

  /** How many machines have a health of each state. Called on any thread. */
  Map<Health.State, Integer> health() {
    return health;
  }

  private void trySlice() {
    if (stopped) {
      return;
    }
    if (!told.isEmpty() || !silent.isEmpty() || !unchecked.isEmpty()) {
      listener.receive(new Slice(List.copyOf(told), Set.copyOf(silent), Set.copyOf(unchecked)));
      told.clear();
      silent.clear();
      unchecked.clear();
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
                missedRounds.remove(nodeId);
                return;
              }
              if (done.failed()) {
                missed(nodeId, done.cause());
                return;
              }
              missedRounds.remove(nodeId);
              if (reachability.seen(nodeId, clock.millis())) {
                listener.isBack(nodeId);
              }
            });
  }

  /** If no machine of the pool answers, the network between is at fault and not each machine. */
  private void missed(String nodeId, Throwable why) {
    if (!reachability.isUnreachable(nodeId)) {
      // It answered another call since the last round.
      missedRounds.remove(nodeId);
    }
    reachability.missed(nodeId, why, clock.millis());
    int rounds = missedRounds.merge(nodeId, 1, Integer::sum);
    if (rounds >= SILENT_ROUNDS && reachability.counts(nodes.all().size()).reachable() > 0) {
      silent.add(nodeId);
    }
  }

  private void examine(String nodeId) {
    if (examining.add(nodeId)) {
      examinations.add(
          muteRounds.containsKey(nodeId),
          () -> look(nodeId).onComplete(done -> examining.remove(nodeId)));
    }
  }

  private Future<Void> look(String nodeId) {
    Node node = nodes.get(nodeId);
    if (stopped || node == null || listener.isAsked(nodeId)) {
      return Future.succeededFuture();
    }
    return provider
        .examine(node.machine(), terms.get())
        .onComplete(
            (examination, failure) -> {
              if (stopped || !node.isSameMachineAs(nodes.get(nodeId))) {
                muteRounds.remove(nodeId);
              } else if (failure != null) {
                if (!WorkPool.isBusy(failure)
                    && muteRounds.merge(nodeId, 1, Integer::sum) >= MUTE_ROUNDS) {
                  unchecked.add(nodeId);
                }
              } else {
                muteRounds.remove(nodeId);
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
    health = reachability.countHealth(nodes.all().size());
    reachability
        .store(clock.millis())
        .onFailure(
            e -> {
              if (!stopped && !(e instanceof Lease.LeaseLostException)) {
                LOG.warn(
                    "pool {}: could not store when machines were seen: {}",
                    nodes.pool(),
                    e.toString());
              }
            });
    vertx.setTimer(Math.min(STORE_MILLIS, intervalMillis), timer -> store());
  }
}
