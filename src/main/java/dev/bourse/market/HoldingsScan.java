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
 * Asks machines which allocation they hold, a few at a time, while the market goes on. Until a
 * machine has answered, it keeps its holder and is not granted to a new one. It still counts as
 * supply, like a machine that is being cleaned, because most machines answer within seconds. A
 * machine that repeatedly fails to answer no longer counts. Used on one context.
 */
final class HoldingsScan {
  /**
   * Machines asked at once: half of the ssh provider's default connections, so that a tenant's
   * grant does not wait until a whole fleet has been asked.
   */
  static final int ASKED_AT_ONCE = 8;

  /** Limit for machines that failed to answer before. */
  private static final int ASKED_AGAIN_AT_ONCE = 2;

  /** Consecutive unanswered questions after which a machine is not supply. */
  private static final int FAILURES_MEANING_SILENT = 3;

  /**
   * The listener compares the answers with every cluster that may hold a machine, which takes some
   * ten milliseconds of an event loop for 100,000 clusters. After each comparison, the scan
   * collects answers for nine times as long, so that it uses at most a tenth of the loop. With few
   * clusters the wait is negligible, so the first tick knows the machines' answers.
   */
  private static final int GATHERED_TIMES = 9;

  private final NodeProvider provider;
  private final Inventory nodes;
  private final Context context;
  private final WorkPool workPool;
  private final LongSupplier nanoTime;
  private final Consumer<List<Holding>> heard;

  /**
   * Machines that have not answered, with the number of the latest question. An answer to an
   * earlier question is out of date.
   */
  private final Map<String, Long> open = new HashMap<>();

  /**
   * When each unanswered machine was first asked, by the monotonic clock. Another question does not
   * restart the time, so that a tenant cannot extend a machine's silence by letting it answer
   * probes now and then.
   */
  private final Map<String, Long> openSinceNanos = new HashMap<>();

  private long questions;

  /** Answers that wait for the next comparison. */
  private final Map<String, Holding> answers = new LinkedHashMap<>();

  private boolean isGathering;
  private long gatheredMillis;

  /** Machines with work in progress; their answers would be out of date. */
  private final Set<String> inWork = new HashSet<>();

  /**
   * @param nanoTime the monotonic clock
   * @param heard receives the machines' holdings before they count as heard
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

  /** Asks these machines, in this order, and drops their earlier answers. */
  void ask(Collection<String> nodeIds) {
    nodeIds.forEach(this::openQuestion);
    nodeIds.forEach(this::askIfOpen);
  }

  /** Ignores a machine's answers until {@link #resume}. */
  void suspend(String nodeId) {
    inWork.add(nodeId);
    if (isOpen(nodeId)) {
      openQuestion(nodeId);
    }
  }

  void resume(String nodeId) {
    inWork.remove(nodeId);
    askIfOpen(nodeId);
  }

  /** Forgets a machine that left the pool. */
  void forget(String nodeId) {
    open.remove(nodeId);
    openSinceNanos.remove(nodeId);
    answers.remove(nodeId);
    workPool.recordSuccess(nodeId);
  }

  /** Returns the machines that have not been heard. */
  Set<String> unheard() {
    Set<String> unheard = new HashSet<>(open.keySet());
    unheard.addAll(answers.keySet());
    return unheard;
  }

  /** Returns true if a machine repeatedly failed to answer. */
  boolean isSilent(String nodeId) {
    return isOpen(nodeId) && workPool.failedTries(nodeId) >= FAILURES_MEANING_SILENT;
  }

  /**
   * Returns for how long a machine has not reported its allocation, in milliseconds; 0 if it has.
   */
  long unheardMillis(String nodeId) {
    Long since = openSinceNanos.get(nodeId);
    return since == null ? 0 : TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - since);
  }

  /** Stops asking machines. */
  void stop() {
    workPool.stop();
    open.clear();
    openSinceNanos.clear();
    answers.clear();
  }

  /** Returns true if a machine has not been heard. */
  boolean isOpen(String nodeId) {
    return open.containsKey(nodeId) || answers.containsKey(nodeId);
  }

  private void openQuestion(String nodeId) {
    answers.remove(nodeId);
    open.put(nodeId, ++questions);
    openSinceNanos.putIfAbsent(nodeId, nanoTime.getAsLong());
  }

  private void askIfOpen(String nodeId) {
    if (!open.containsKey(nodeId)) {
      // Drops the failures of a machine that was forgotten while a question was open.
      workPool.recordSuccess(nodeId);
    } else if (!inWork.contains(nodeId)) {
      workPool.submit(nodeId, nodes.pool(), () -> query(nodeId), () -> askIfOpen(nodeId));
    }
  }

  private Future<Void> query(String nodeId) {
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
                    NodeFailureException.passing("the machine did not report its allocation"));
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
