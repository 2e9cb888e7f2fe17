package dev.bourse.market;

import dev.bourse.nodes.Holding;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeFailure;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Machines that do as a test says: fail so many times, never answer, remember marks of another
 * life. A failed provision leaves its mark behind, as one that broke half-way does.
 */
final class FakeNodes implements NodeProvider {
  final Map<String, String> marks = new HashMap<>();
  final Map<String, Integer> provisionsToFail = new HashMap<>();
  final Map<String, Integer> reclaimsToFail = new HashMap<>();
  final Map<String, List<String>> keys = new HashMap<>();
  final List<String> calls = new ArrayList<>();
  final List<String> faults = new ArrayList<>();
  final List<Promise<Void>> unanswered = new ArrayList<>();
  boolean hangs;
  private final Set<String> inWork = new HashSet<>();

  @Override
  public synchronized Future<Void> provision(
      Machine machine, String allocationId, List<String> publicKeys) {
    String node = machine.nodeId();
    begin("provision " + node, node);
    String holder = marks.putIfAbsent(node, allocationId);
    if (holder != null && !holder.equals(allocationId)) {
      faults.add(node + " was marked for " + holder + " when " + allocationId + " came");
      return end(node, NodeFailure.heldByAnother(node + " holds " + holder));
    }
    if (takeOne(provisionsToFail, node)) {
      return end(node, NodeFailure.passing("made to fail"));
    }
    keys.put(node, publicKeys);
    return hangs ? hang(node) : end(node, null);
  }

  @Override
  public synchronized Future<Void> reclaim(Machine machine, String allocationId) {
    String node = machine.nodeId();
    begin("reclaim " + node, node);
    if (takeOne(reclaimsToFail, node)) {
      return end(node, NodeFailure.passing("made to fail"));
    }
    String holder = marks.getOrDefault(node, allocationId);
    if (!holder.equals(allocationId)) {
      return end(node, NodeFailure.heldByAnother(node + " holds " + holder));
    }
    marks.remove(node);
    return end(node, null);
  }

  @Override
  public synchronized Future<List<Holding>> held(List<Machine> machines) {
    return Future.succeededFuture(
        machines.stream().map(m -> new Holding(m.nodeId(), marks.get(m.nodeId()))).toList());
  }

  @Override
  public synchronized Future<Void> close() {
    List<Promise<Void>> ended = List.copyOf(unanswered);
    unanswered.clear();
    ended.forEach(promise -> promise.tryFail(NodeFailure.passing("closed")));
    return Future.succeededFuture();
  }

  synchronized int count(String call) {
    return (int) calls.stream().filter(call::equals).count();
  }

  synchronized Map<String, String> marks() {
    return Map.copyOf(marks);
  }

  synchronized List<String> faults() {
    return List.copyOf(faults);
  }

  private void begin(String call, String node) {
    calls.add(call);
    if (!inWork.add(node)) {
      faults.add("two calls at once: " + call);
    }
  }

  private Future<Void> end(String node, @Nullable Throwable failure) {
    inWork.remove(node);
    return failure == null ? Future.succeededFuture() : Future.failedFuture(failure);
  }

  private Future<Void> hang(String node) {
    Promise<Void> promise = Promise.promise();
    unanswered.add(promise);
    return promise.future().onComplete(done -> free(node));
  }

  private synchronized void free(String node) {
    inWork.remove(node);
  }

  private static boolean takeOne(Map<String, Integer> left, String node) {
    int count = left.getOrDefault(node, 0);
    left.put(node, Math.max(0, count - 1));
    return count > 0;
  }
}
