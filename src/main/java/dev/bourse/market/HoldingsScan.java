package dev.bourse.market;

import dev.bourse.nodes.Holding;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Asks machines what they hold, a few at a time, while the market goes on. Until a machine has
 * answered, it keeps its holder and is not granted to anybody new; it still counts as supply, like
 * a machine that is being cleaned, because most answer within seconds. A machine that repeatedly
 * fails to answer no longer counts. Used on one context.
 */
final class HoldingsScan {
  /**
   * Half of the connections the ssh provider has by default: a tenant's grant need not wait until a
   * whole fleet has been asked.
   */
  static final int ASKED_AT_ONCE = 8;

  /** How many of them may have failed to answer before. */
  private static final int ASKED_AGAIN_AT_ONCE = 2;

  /** Questions without an answer in a row after which a machine is no supply. */
  private static final int FAILURES_MEANING_SILENT = 3;

  /**
   * Whoever hears answers compares them with every cluster that may hold a machine: some ten
   * milliseconds of an event loop for 100,000. So that a fleet costs a tenth of the loop at most,
   * the next answers are gathered for nine times as long as that took. For a few clusters that is
   * no time at all, and the first tick knows what machines have said.
   */
  private static final int GATHERED_TIMES = 9;

  private final NodeProvider provider;
  private final Inventory nodes;
  private final Context context;
  private final WorkPool workPool;
  private final LongSupplier nanoTime;
  private final Consumer<List<Holding>> heard;

  /**
   * Machines not heard yet, and the number of the question that counts: what a machine answers to
   * an earlier one is of a time before.
   */
  private final Map<String, Long> open = new HashMap<>();

  /**
   * Since when machines have not said what they hold, by the monotonic clock. Another question does
   * not restart it, so that a tenant cannot extend a machine's silence by letting it answer probes
   * now and then.
   */
  private final Map<String, Long> openSinceNanos = new HashMap<>();

  private long questions;

  /** Answers that are passed on together. */
  private final Map<String, Holding> answers = new LinkedHashMap<>();

  private boolean isGathering;
  private long gatheredMillis;

  /** Machines that work is running on: what they say meanwhile would be out of date. */
  private final Set<String> inWork = new HashSet<>();

  /**
   * @param nanoTime a clock that nobody sets
   * @param heard is told what machines hold, before they count as heard
   */
  HoldingsScan(
      Vertx vertx,
      NodeProvider provider,
      Inventory nodes,
      LongSupplier nanoTime,
      Consumer<List<Holding>> heard) {
    this.provider = provider;
    this.nodes = nodes;
    this.context = vertx.getOrCreateContext();
    this.workPool = new WorkPool(vertx, new WorkQueue(ASKED_AT_ONCE, ASKED_AGAIN_AT_ONCE));
    this.nanoTime = nanoTime;
    this.heard = heard;
  }

  /** Asks these machines, in this order, whatever they said before. */
  void ask(Collection<String> nodeIds) {
    nodeIds.forEach(this::putAnew);
    nodeIds.forEach(this::look);
  }

  /** Ignores what a machine says until it {@linkplain #released is released}. */
  void taken(String nodeId) {
    inWork.add(nodeId);
    if (isOpen(nodeId)) {
      putAnew(nodeId);
    }
  }

  void released(String nodeId) {
    inWork.remove(nodeId);
    look(nodeId);
  }

  /** The pool has this machine no more. */
  void forget(String nodeId) {
    open.remove(nodeId);
    openSinceNanos.remove(nodeId);
    answers.remove(nodeId);
    workPool.succeeded(nodeId);
  }

  /** Machines that have not been heard. */
  Set<String> unheard() {
    Set<String> unheard = new HashSet<>(open.keySet());
    unheard.addAll(answers.keySet());
    return unheard;
  }

  /** Whether a machine failed to answer again and again. */
  boolean isSilent(String nodeId) {
    return isOpen(nodeId) && workPool.failedTries(nodeId) >= FAILURES_MEANING_SILENT;
  }

  /** Returns for how long a machine has not said what it holds; 0 if it has. */
  long unheardMillis(String nodeId) {
    Long since = openSinceNanos.get(nodeId);
    return since == null ? 0 : TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - since);
  }

  /** Asks no machine any more. */
  void stop() {
    workPool.stop();
    open.clear();
    openSinceNanos.clear();
    answers.clear();
  }

  /** Whether a machine has not been heard. */
  boolean isOpen(String nodeId) {
    return open.containsKey(nodeId) || answers.containsKey(nodeId);
  }

  private void putAnew(String nodeId) {
    answers.remove(nodeId);
    open.put(nodeId, ++questions);
    openSinceNanos.putIfAbsent(nodeId, nanoTime.getAsLong());
  }

  private void look(String nodeId) {
    if (!open.containsKey(nodeId)) {
      // A question that failed after its machine was forgotten counts for nothing.
      workPool.succeeded(nodeId);
    } else if (!inWork.contains(nodeId)) {
      workPool.submit(nodeId, nodes.pool(), () -> put(nodeId), () -> look(nodeId));
    }
  }

  private Future<Void> put(String nodeId) {
    Long question = open.get(nodeId);
    Node node = nodes.get(nodeId);
    if (question == null || node == null || inWork.contains(nodeId)) {
      return Future.succeededFuture();
    }
    return provider
        .held(List.of(node.machine()))
        .compose(
            holdings -> {
              if (holdings.isEmpty()) {
                return Future.failedFuture(
                    NodeFailureException.passing("what it holds is not known"));
              }
              if (open.remove(nodeId, question)) {
                openSinceNanos.remove(nodeId);
                pass(holdings.get(0));
              }
              return Future.succeededFuture();
            });
  }

  private void pass(Holding holding) {
    answers.put(holding.nodeId(), holding);
    if (!isGathering) {
      isGathering = true;
      if (gatheredMillis == 0) {
        context.runOnContext(go -> passGathered());
      } else {
        context
            .owner()
            .setTimer(gatheredMillis, timer -> context.runOnContext(go -> passGathered()));
      }
    }
  }

  private void passGathered() {
    isGathering = false;
    List<Holding> all = new ArrayList<>(answers.values());
    answers.clear();
    if (!all.isEmpty()) {
      long begun = nanoTime.getAsLong();
      heard.accept(all);
      gatheredMillis =
          TimeUnit.NANOSECONDS.toMillis(GATHERED_TIMES * (nanoTime.getAsLong() - begun));
    }
  }
}
