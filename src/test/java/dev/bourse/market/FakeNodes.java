package dev.bourse.market;

import dev.bourse.nodes.BaselineReview;
import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Examination;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.MachineTerms;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.nodes.NodeNotice;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.ReimageOrder;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Machines that a test controls: they fail a number of times, never answer, or have marks of
 * earlier allocations. A failed provision leaves its mark, like one that was interrupted.
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

  /** Calls that fail before the machine is asked, as if the store were away. */
  final Map<String, Integer> callsToBreak = new HashMap<>();

  /** The number of further calls for which a machine is busy. */
  final Map<String, Integer> busyCalls = new HashMap<>();

  /** Machines that never answer a query for their allocation, and machines whose query fails. */
  final Set<String> mute = new HashSet<>();

  final Set<String> unasked = new HashSet<>();
  final Map<String, List<Question>> questions = new HashMap<>();
  private final List<String> asked = new ArrayList<>();
  int mostAskedAtOnce;

  /** Machines that answer neither a probe nor a query. */
  final Set<String> dead = new HashSet<>();

  /** Machines whose hardware check fails at a grant. */
  final Set<String> unfit = new HashSet<>();

  /** The number of further provisions that the tenant's Kubernetes cluster refuses. */
  final Map<String, Integer> joinsToRefuse = new HashMap<>();

  /** Reclaims that find the files of root changed. */
  final Map<String, Integer> changed = new HashMap<>();

  /**
   * Machines whose cleaning ends when the test calls {@link #finish}, also if its caller is gone.
   */
  final Set<String> slow = new HashSet<>();

  /** The result of an examination. */
  final Map<String, Health> health = new HashMap<>();

  final Map<String, String> baselines = new HashMap<>();

  /** Machines whose examinations never end, and the examinations that were begun. */
  final Set<String> hangingChecks = new HashSet<>();

  private final List<String> hungChecks = new ArrayList<>();

  /** The record of a reclaim. */
  final Map<String, Cleaning> cleanings = new HashMap<>();

  /** The last notice delivered to a machine's programs, by machine. */
  final Map<String, NodeNotice> told = new HashMap<>();

  /** The sequence of the last notice, by machine. */
  final Map<String, Long> sequences = new HashMap<>();

  final Map<String, Integer> noticesToFail = new HashMap<>();

  private final List<String> delivered = new ArrayList<>();

  /** How long a new image may take; empty for machines that need none. */
  OptionalLong reimageMillis = OptionalLong.empty();

  /** Returns the answer of the operator's command. */
  Function<ReimageOrder, Future<String>> imaging =
      order -> Future.failedFuture(NodeFailureException.unfit("no command is set"));

  /** The orders that the operator's command received. */
  final List<ReimageOrder> reimages = new ArrayList<>();

  /** The host keys of machines that show another key than the pinned one. */
  final Map<String, String> shown = new HashMap<>();

  final List<String> probed = new ArrayList<>();
  private final Set<String> inWork = new HashSet<>();

  /** A query that waits for its answer. */
  record Question(Context context, Promise<List<Holding>> answer) {}

  @Override
  public synchronized Future<Void> provision(
      Machine machine, String allocationId, List<String> publicKeys, MachineTerms terms) {
    String node = machine.nodeId();
    begin("provision " + node, node);
    if (isOther(machine)) {
      return end(node, NodeFailureException.lasting("another host key"));
    }
    if (takeOne(busyCalls, node)) {
      return end(node, NodeFailureException.busy("somebody is at work"));
    }
    if (takeOne(callsToBreak, node)) {
      return end(node, new IllegalStateException("the store is away"));
    }
    String holder = marks.putIfAbsent(node, allocationId);
    if (holder != null && !holder.equals(allocationId)) {
      faults.add(node + " was marked for " + holder + " when " + allocationId + " came");
      return end(node, NodeFailureException.heldByAnother(node + " holds " + holder));
    }
    if (unfit.contains(node)) {
      return end(node, NodeFailureException.unfit("GPU 3 has 2 uncorrected memory errors"));
    }
    if (takeOne(joinsToRefuse, node)) {
      return end(node, NodeFailureException.joinRefused("the control plane does not answer"));
    }
    if (takeOne(provisionsToFail, node)) {
      return end(node, NodeFailureException.passing("made to fail"));
    }
    keys.put(node, publicKeys);
    return hangs ? hang(node) : end(node, null);
  }

  @Override
  public synchronized Future<Cleaning> reclaim(Machine machine, String allocationId) {
    return clean(machine, allocationId)
        .map(done -> cleanings.getOrDefault(machine.nodeId(), Cleaning.UNRECORDED));
  }

  private Future<Void> clean(Machine machine, String allocationId) {
    String node = machine.nodeId();
    if (slow.contains(node) && inWork.contains(node)) {
      calls.add("busy " + node);
      return Future.failedFuture(NodeFailureException.busy("somebody is at work"));
    }
    begin("reclaim " + node, node);
    if (slow.contains(node)) {
      Promise<Void> promise = Promise.promise();
      unanswered.add(promise);
      return promise.future();
    }
    if (takeOne(busyCalls, node)) {
      return end(node, NodeFailureException.busy("somebody is at work"));
    }
    if (takeOne(changed, node)) {
      return end(node, NodeFailureException.unfit("+keys /root/.ssh/authorized_keys"));
    }
    if (takeOne(reclaimsToFail, node)) {
      return end(node, NodeFailureException.passing("made to fail"));
    }
    String holder = marks.getOrDefault(node, allocationId);
    if (!holder.equals(allocationId)) {
      return end(node, NodeFailureException.heldByAnother(node + " holds " + holder));
    }
    marks.remove(node);
    return end(node, null);
  }

  @Override
  public OptionalLong reimageTimeoutMillis() {
    return reimageMillis;
  }

  @Override
  public synchronized Future<String> reimage(Machine machine, ReimageOrder order) {
    reimages.add(order);
    return imaging.apply(order);
  }

  synchronized List<String> reimageIds() {
    return reimages.stream().map(ReimageOrder::id).toList();
  }

  private boolean isOther(Machine machine) {
    String key = shown.get(machine.nodeId());
    return key != null && !key.equals(machine.hostKey());
  }

  @Override
  public synchronized Future<List<Holding>> held(List<Machine> machines) {
    machines.forEach(m -> asked.add(m.nodeId()));
    if (machines.stream().anyMatch(this::isOther)) {
      return Future.failedFuture(NodeFailureException.lasting("another host key"));
    }
    if (machines.stream().anyMatch(m -> mute.contains(m.nodeId()))) {
      Question question = new Question(Vertx.currentContext(), Promise.promise());
      questions.computeIfAbsent(machines.get(0).nodeId(), id -> new ArrayList<>()).add(question);
      mostAskedAtOnce =
          Math.max(mostAskedAtOnce, questions.values().stream().mapToInt(List::size).sum());
      return question.answer.future();
    }
    if (machines.stream()
        .anyMatch(m -> unasked.contains(m.nodeId()) || dead.contains(m.nodeId()))) {
      return Future.failedFuture(NodeFailureException.passing("cannot be asked"));
    }
    return Future.succeededFuture(
        machines.stream()
            .map(m -> new Holding(m.nodeId(), marks.get(m.nodeId()), told.get(m.nodeId())))
            .toList());
  }

  @Override
  public synchronized Future<Examination> examine(Machine machine, MachineTerms terms) {
    String node = machine.nodeId();
    if (hangingChecks.contains(node)) {
      hungChecks.add(node);
      return Promise.<Examination>promise().future();
    }
    return held(List.of(machine))
        .map(
            held ->
                new Examination(
                    held.get(0), health.getOrDefault(node, Health.UNKNOWN), baselines.get(node)));
  }

  @Override
  public synchronized Future<Long> deliverNotice(
      Machine machine, String allocationId, NodeNotice notice, long sequence) {
    String node = machine.nodeId();
    if (takeOne(noticesToFail, node)) {
      return Future.failedFuture(NodeFailureException.passing("made to fail"));
    }
    if (!allocationId.equals(marks.get(node))) {
      return Future.failedFuture(NodeFailureException.heldByAnother(node + " holds another"));
    }
    NodeNotice known = told.get(node);
    long kept = sequences.getOrDefault(node, 0L);
    if (known != null && !known.equals(notice) && kept >= sequence) {
      return Future.succeededFuture(kept);
    }
    if (!notice.equals(told.put(node, notice))) {
      sequences.put(node, sequence);
      delivered.add(node + " " + notice.id() + " " + notice.state());
    }
    return Future.succeededFuture(sequence);
  }

  synchronized List<String> delivered() {
    return List.copyOf(delivered);
  }

  @Override
  public Future<BaselineReview> reviewBaseline(Machine machine) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Future<Void> acceptBaseline(Machine machine, String digest) {
    throw new UnsupportedOperationException();
  }

  @Override
  public synchronized Future<Void> probe(Machine machine) {
    probed.add(machine.nodeId());
    return dead.contains(machine.nodeId())
        ? Future.failedFuture(
            NodeFailureException.passing(machine.nodeId() + ": no connection\n: refused"))
        : Future.succeededFuture();
  }

  @Override
  public synchronized Future<Void> close() {
    List<Promise<Void>> ended = List.copyOf(unanswered);
    unanswered.clear();
    ended.forEach(promise -> promise.tryFail(NodeFailureException.passing("closed")));
    return Future.succeededFuture();
  }

  /** Finishes the cleaning of a slow machine and answers the call that began it. */
  synchronized void finish(String node) {
    slow.remove(node);
    inWork.remove(node);
    marks.remove(node);
    calls.add("clean " + node);
    List<Promise<Void>> answered = List.copyOf(unanswered);
    unanswered.clear();
    answered.forEach(Promise::complete);
  }

  /** Makes a mute machine answer all its queries. */
  synchronized void speak(String node) {
    mute.remove(node);
    List<Holding> answer = List.of(new Holding(node, marks.get(node)));
    List<Question> asked = questions.remove(node);
    if (asked != null) {
      asked.forEach(
          question -> question.context.runOnContext(go -> question.answer.tryComplete(answer)));
    }
  }

  synchronized int hungChecks() {
    return hungChecks.size();
  }

  synchronized int count(String call) {
    return (int) calls.stream().filter(call::equals).count();
  }

  /** Returns how often a machine was asked for its allocation. */
  synchronized int asked(String node) {
    return (int) asked.stream().filter(node::equals).count();
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
