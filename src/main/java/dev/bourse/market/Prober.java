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
 * Probes every machine of a pool once an interval, free or held, so that a dead machine is known
 * before it is granted or given back. It also examines the machine's hardware and its mark, because
 * a late call of an earlier process may have changed the mark, or the machine may have been
 * reinstalled between two probes. The prober takes no machine from its holder, because it does not
 * know whether the tenant still reaches the machine. Used on one context.
 */
final class Prober {
  private static final Logger LOG = LoggerFactory.getLogger(Prober.class);

  /** Slices of a round, so that a pool's machines are not all probed at once. */
  private static final int SLICES = 60;

  /** Probes at once: a quarter of the ssh provider's default connections. */
  private static final int TRIED_AT_ONCE = 4;

  /** Limit for machines that failed to answer before. */
  private static final int MISSING_TRIED_AT_ONCE = 2;

  /**
   * Examinations at once: all connections of the ssh provider for examinations. Pools share the
   * connections in the order of their calls, so a small pool waits behind this many of each other
   * pool.
   */
  private static final int EXAMINED_AT_ONCE = 64;

  /** Limit for machines whose examination failed before, because each takes a minute. */
  private static final int MUTE_EXAMINED_AT_ONCE = 16;

  /**
   * Rounds in a row without an answer that count as a failure. A restart of the machine misses one
   * round. Each round tries twice.
   */
  private static final int SILENT_ROUNDS = 3;

  /** Consecutive unfinished examinations after which the state of the hardware is unknown. */
  private static final int MUTE_ROUNDS = 2;

  /** The longest time between two commits of probe results. */
  private static final long STORE_MILLIS = 5_000;

  /** Receives the results, on the same context. */
  interface Listener {
    /** A machine answers again. */
    void isBack(String nodeId);

    /** Returns true if another query for the machine's allocation is in progress. */
    boolean isAsked(String nodeId);

    /** Receives the answers of a slice of the machines. */
    void receive(Slice slice);
  }

  /**
   * The answers of machines since the last slice.
   *
   * @param examined the marks and hardware of the machines that were examined
   * @param silent machines that did not answer in several rounds, while another one of the pool did
   * @param unchecked machines whose examinations do not end
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
   * A separate queue, because an examination takes seconds if the cards are slow, and must not
   * delay the probes that find dead machines. A machine that waits is not added again.
   */
  private final WorkQueue examinations = new WorkQueue(EXAMINED_AT_ONCE, MUTE_EXAMINED_AT_ONCE);

  private final Set<String> examining = new HashSet<>();

  /** Consecutive rounds without an answer, by machine. */
  private final Map<String, Integer> missedRounds = new HashMap<>();

  /**
   * Consecutive rounds in which a machine answered the probe but not the examination, by machine;
   * each takes until a time-out.
   */
  private final Map<String, Integer> muteRounds = new HashMap<>();

  // Results since the last slice.
  private final List<Examination> examined = new ArrayList<>();
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

  /** Stops probing and drops results that are not stored. */
  void stop() {
    stopped = true;
    queue.stop();
    examinations.stop();
  }

  /** Forgets a machine that left the pool. */
  void forget(String nodeId) {
    missedRounds.remove(nodeId);
    muteRounds.remove(nodeId);
  }

  /** Returns how many machines answered the last probe. Called on any thread. */
  Reachability.Counts reach() {
    return reach;
  }

  /** Returns the number of machines in each health state. Called on any thread. */
  Map<Health.State, Integer> health() {
    return health;
  }

  private void trySlice() {
    if (stopped) {
      return;
    }
    if (!examined.isEmpty() || !silent.isEmpty() || !unchecked.isEmpty()) {
      listener.receive(new Slice(List.copyOf(examined), Set.copyOf(silent), Set.copyOf(unchecked)));
      examined.clear();
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

  /**
   * Probes a machine, a second time if the first fails, because one lost packet does not mean that
   * the machine died.
   */
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
                recordMissedRound(nodeId, done.cause());
                return;
              }
              missedRounds.remove(nodeId);
              if (reachability.recordAnswer(nodeId, clock.millis())) {
                listener.isBack(nodeId);
              }
            });
  }

  /**
   * Records a missed round. If no machine of the pool answers, the network is at fault and not each
   * machine.
   */
  private void recordMissedRound(String nodeId, Throwable why) {
    if (!reachability.isUnreachable(nodeId)) {
      // The machine answered another call since the last round.
      missedRounds.remove(nodeId);
    }
    reachability.recordSilence(nodeId, why, clock.millis());
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
                examined.add(examination);
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
                    "pool {}: could not store probe results; the next commit retries: {}",
                    nodes.pool(),
                    e.toString());
              }
            });
    vertx.setTimer(Math.min(STORE_MILLIS, intervalMillis), timer -> store());
  }
}
