package dev.bourse.simulation;

import dev.bourse.nodes.BaselineReview;
import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Examination;
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
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The machines of a simulation, independent of all processes. A call begins a run on its machine
 * that survives the caller; a machine may hang, be dead for a while, or come back empty.
 */
class Machines {
  /** Time-out of a call to a machine. */
  private static final long PATIENCE_MILLIS = 60_000;

  /** The longest installation of a new image; longer than a fault lasts. */
  private static final long REIMAGE_MILLIS = 600_000;

  /** The health of a machine. */
  enum Health {
    WELL,
    /** Connections fail. */
    DEAD,
    /** It accepts calls and does not finish them. */
    HANGS
  }

  /** The state of one machine. */
  static final class State {
    Health health = Health.WELL;

    /** The allocation whose tenant can log in. */
    @Nullable String tenant;

    /** The allocation it is marked for; a run that breaks off leaves the mark without a tenant. */
    @Nullable String mark;

    List<String> keys = List.of();

    /** Allocations that were reclaimed from it, which it never admits again. */
    final Set<String> ended = new HashSet<>();

    /** The run in progress. */
    @Nullable Run run;

    int begun;

    /** When it was last cleaned or reinstalled, in true time. */
    long cleanedNanos = -1;

    /** The host key of its image; null for the first image. */
    @Nullable String hostKey;

    /** How often an operator had the imaging system drop its orders. */
    int ordersDropped;

    /** It is being installed with a new image. */
    boolean isDown;

    /** It answers probes in any state of health. */
    boolean isProbeLying;

    /** The mark that it reports instead of its real one. */
    @Nullable String claims;

    /** Returns when the run in progress began; negative if there is none. */
    long runsSinceNanos() {
      return run == null ? -1 : run.begunNanos;
    }
  }

  /** Is called for events on machines, in order. */
  interface Watcher {
    /** A run begins; the machine is in the state before it. */
    void begins(String nodeId, State before, String allocationId, boolean isProvision);

    /** A tenant can log in from now on. */
    void letIn(String nodeId, String allocationId);
  }

  /** A run on a machine. */
  private static final class Run {
    final String call;
    final long begunNanos;
    final List<Promise<Void>> waiting = new ArrayList<>();

    Run(String call, long begunNanos) {
      this.call = call;
      this.begunNanos = begunNanos;
    }
  }

  /** The durations of calls and runs, and their failures. */
  interface Luck {
    /**
     * Delay from a call to its arrival at the machine. It arrives even if its caller has died, but
     * not if its caller has given it up.
     */
    long callMillis();

    long runMillis();

    boolean breaks();
  }

  private final Scheduler scheduler;
  private final Trace trace;
  private final Luck luck;
  private final TreeMap<String, State> all = new TreeMap<>();
  private final List<Watcher> watchers = new ArrayList<>();

  /** Whether machines get a new image after each tenant. */
  boolean areReimaged;

  /** Orders of new images, by node and id; a repeated order has the same outcome. */
  private final Map<String, Image> images = new TreeMap<>();

  private int madeImages;

  /** A new image, in progress or, with its host key, complete. */
  private static final class Image {
    @Nullable String hostKey;
    final List<Promise<String>> waiting = new ArrayList<>();
  }

  /** Whether machines check their marks; always, except for a planted bug. */
  boolean heedMarks = true;

  Machines(Scheduler scheduler, Trace trace, Luck luck) {
    this.scheduler = scheduler;
    this.trace = trace;
    this.luck = luck;
  }

  void watch(Watcher watcher) {
    watchers.add(watcher);
  }

  State state(String nodeId) {
    return all.computeIfAbsent(nodeId, id -> new State());
  }

  /** Returns every machine that was ever called, by its id. */
  Map<String, State> all() {
    return all;
  }

  /** Returns a random machine. */
  @Nullable String any(SplittableRandom random) {
    return all.isEmpty() ? null : List.copyOf(all.keySet()).get(random.nextInt(all.size()));
  }

  void setHealth(String nodeId, Health health) {
    State machine = state(nodeId);
    machine.health = health;
    trace.add(nodeId, "is {}", health);
    if (health == Health.DEAD) {
      // The run in progress ends with the machine.
      end(machine, NodeFailureException.passing(nodeId + ": the connection broke"));
    }
  }

  /** Reinstalls it: no data of a tenant is left, and no mark. */
  void rebuild(String nodeId) {
    State machine = state(nodeId);
    end(machine, NodeFailureException.passing(nodeId + ": the connection broke"));
    machine.tenant = null;
    machine.mark = null;
    machine.keys = List.of();
    machine.cleanedNanos = scheduler.nowNanos();
    trace.add(nodeId, "is rebuilt, empty");
  }

  private static void end(State machine, NodeFailureException failure) {
    Run run = machine.run;
    machine.run = null;
    if (run != null) {
      run.waiting.forEach(promise -> promise.tryFail(failure));
    }
  }

  /** Returns the machines as one process reaches them. */
  NodeProvider reachedBy(Replica process) {
    return new Reached(process);
  }

  /** Returns true if it answers a caller that expects a host key. */
  private boolean answers(Machine machine) {
    State state = state(machine.nodeId());
    return state.health == Health.WELL && !state.isDown && !isStranger(machine);
  }

  private boolean isStranger(Machine machine) {
    return machine.hostKey() != null && !machine.hostKey().equals(state(machine.nodeId()).hostKey);
  }

  /** The imaging system drops the pending orders of a machine. */
  void dropOrders(String nodeId) {
    state(nodeId).ordersDropped++;
  }

  /** The imaging system, which reaches a machine in any state of health. */
  private void image(String nodeId, ReimageOrder order, int dropped, Promise<String> outcome) {
    if (dropped != state(nodeId).ordersDropped) {
      outcome.tryFail(NodeFailureException.lasting(nodeId + ": an operator dropped the order"));
      return;
    }
    Image image = images.computeIfAbsent(nodeId + ' ' + order.id(), key -> new Image());
    if (image.hostKey != null) {
      outcome.tryComplete(image.hostKey);
      return;
    }
    image.waiting.add(outcome);
    if (image.waiting.size() > 1) {
      return;
    }
    State machine = state(nodeId);
    watchers.forEach(w -> w.begins(nodeId, machine, order.allocationId(), false));
    trace.add(nodeId, "gets a new image after {}", order.id());
    end(machine, NodeFailureException.passing(nodeId + ": the connection broke"));
    machine.isDown = true;
    machine.tenant = null;
    machine.keys = List.of();
    scheduler.afterMillis(luck.runMillis(), () -> imaged(nodeId, order, image));
  }

  /** Returns the line of a public key that is unique to a number. */
  private static String hostKey(int number) {
    byte[] type = "ssh-ed25519".getBytes(StandardCharsets.US_ASCII);
    ByteBuffer key = ByteBuffer.allocate(4 + type.length + 4 + 32);
    key.putInt(type.length).put(type).putInt(32).putInt(number);
    return "ssh-ed25519 " + Base64.getEncoder().encodeToString(key.array());
  }

  private void imaged(String nodeId, ReimageOrder order, Image image) {
    State machine = state(nodeId);
    List<Promise<String>> waiting = List.copyOf(image.waiting);
    image.waiting.clear();
    machine.isDown = false;
    if (luck.breaks()) {
      trace.add(nodeId, "has no new image");
      waiting.forEach(
          p -> p.tryFail(NodeFailureException.lasting(nodeId + ": no server has the image")));
      return;
    }
    machine.mark = null;
    // A late caller expects the machine's former host key.
    machine.ended.add(order.allocationId());
    machine.hostKey = hostKey(++madeImages);
    machine.cleanedNanos = scheduler.nowNanos();
    image.hostKey = machine.hostKey;
    trace.add(nodeId, "has a new image");
    waiting.forEach(p -> p.tryComplete(image.hostKey));
  }

  private final class Reached implements NodeProvider {
    private final Replica process;

    Reached(Replica process) {
      this.process = process;
    }

    @Override
    public Future<Void> provision(
        Machine machine, String allocationId, List<String> keys, MachineTerms terms) {
      return call(machine, "provision " + allocationId, allocationId, keys);
    }

    @Override
    public Future<Cleaning> reclaim(Machine machine, String allocationId) {
      return call(machine, "reclaim " + allocationId, allocationId, null).map(Cleaning.UNRECORDED);
    }

    @Override
    public OptionalLong reimageTimeoutMillis() {
      return areReimaged ? OptionalLong.of(REIMAGE_MILLIS) : OptionalLong.empty();
    }

    @Override
    public boolean canReimage() {
      return areReimaged;
    }

    @Override
    public Future<String> reimage(Machine machine, ReimageOrder order) {
      Context caller = process.vertx().getOrCreateContext();
      Promise<String> answer = Promise.promise();
      Promise<String> outcome = Promise.promise();
      outcome
          .future()
          .onComplete(
              done ->
                  process.after(1_000_000, () -> caller.runOnContext(v -> answer.handle(done))));
      int dropped = state(machine.nodeId()).ordersDropped;
      scheduler.afterMillis(
          luck.callMillis(), () -> image(machine.nodeId(), order, dropped, outcome));
      return answer.future();
    }

    @Override
    public Future<Long> deliverNotice(
        Machine machine, String allocationId, NodeNotice notice, long sequence) {
      return Future.succeededFuture(sequence);
    }

    @Override
    public Future<Examination> examine(Machine machine, MachineTerms terms) {
      return held(List.of(machine))
          .map(held -> new Examination(held.get(0), dev.bourse.nodes.Health.UNKNOWN, null));
    }

    @Override
    public Future<BaselineReview> reviewBaseline(Machine machine) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Future<Void> acceptBaseline(Machine machine, String digest) {
      throw new UnsupportedOperationException();
    }

    private Future<Void> call(
        Machine machine, String call, String allocationId, @Nullable List<String> keys) {
      Context caller = process.vertx().getOrCreateContext();
      Promise<Void> answer = Promise.promise();
      Promise<Void> outcome = Promise.promise();
      outcome
          .future()
          .onComplete(
              done ->
                  process.after(1_000_000, () -> caller.runOnContext(v -> answer.handle(done))));
      scheduler.afterMillis(
          luck.callMillis(),
          () -> {
            if (isStranger(machine)) {
              outcome.tryFail(NodeFailureException.lasting(call + ": another host key"));
            } else {
              retry(machine.nodeId(), call, allocationId, keys, outcome);
            }
          });
      scheduler.afterMillis(
          PATIENCE_MILLIS,
          () -> outcome.tryFail(NodeFailureException.passing(call + ": does not come to an end")));
      return answer.future();
    }

    @Override
    public Future<List<Holding>> held(List<Machine> machines) {
      Context caller = process.vertx().getOrCreateContext();
      Promise<List<Holding>> answer = Promise.promise();
      boolean hangs = machines.stream().anyMatch(m -> state(m.nodeId()).health == Health.HANGS);
      process.afterMillis(
          hangs ? 20_000 : 5,
          () -> {
            List<Holding> holdings = new ArrayList<>();
            for (Machine machine : machines) {
              State state = state(machine.nodeId());
              if (answers(machine)) {
                String claims = state.claims;
                holdings.add(new Holding(machine.nodeId(), claims == null ? state.mark : claims));
              }
            }
            caller.runOnContext(
                v -> {
                  if (holdings.isEmpty() && !machines.isEmpty()) {
                    answer.fail(NodeFailureException.passing("no machine answered"));
                  } else {
                    answer.complete(holdings);
                  }
                });
          });
      return answer.future();
    }

    @Override
    public Future<Void> probe(Machine machine) {
      Context caller = process.vertx().getOrCreateContext();
      Promise<Void> answer = Promise.promise();
      State state = state(machine.nodeId());
      boolean isWell = answers(machine) || state.isProbeLying;
      process.afterMillis(
          isWell ? 3 : 5_000,
          () ->
              caller.runOnContext(
                  v -> {
                    if (isWell) {
                      answer.complete();
                    } else {
                      answer.fail(
                          NodeFailureException.passing(machine.nodeId() + ": no connection"));
                    }
                  }));
      return answer.future();
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }

  private void begin(
      String nodeId,
      String call,
      String allocationId,
      @Nullable List<String> keys,
      Promise<Void> outcome) {
    State machine = state(nodeId);
    if (machine.health == Health.DEAD || machine.isDown) {
      outcome.tryFail(NodeFailureException.passing(nodeId + ": no connection"));
      return;
    }
    if (machine.health == Health.HANGS) {
      scheduler.afterMillis(1_000, () -> retry(nodeId, call, allocationId, keys, outcome));
      return;
    }
    Run under = machine.run;
    if (under != null && under.call.equals(call)) {
      under.waiting.add(outcome);
      return;
    }
    if (under != null) {
      // Another call's run: wait for its end.
      scheduler.afterMillis(200, () -> retry(nodeId, call, allocationId, keys, outcome));
      return;
    }
    boolean isOver = keys != null && machine.ended.contains(allocationId);
    if (isAnothers(machine, allocationId) || isOver) {
      outcome.tryFail(
          NodeFailureException.heldByAnother(nodeId + " is marked for " + machine.mark));
      return;
    }
    watchers.forEach(w -> w.begins(nodeId, machine, allocationId, keys != null));
    Run run = new Run(call, scheduler.nowNanos());
    run.waiting.add(outcome);
    machine.run = run;
    machine.begun++;
    trace.add(nodeId, "begins to {}", call);
    if (keys != null) {
      machine.mark = allocationId;
    } else {
      machine.tenant = null;
      machine.keys = List.of();
    }
    scheduler.afterMillis(luck.runMillis(), () -> finish(nodeId, run, allocationId, keys));
  }

  /** Returns true if a machine is marked for another allocation than a call's. */
  boolean isAnothers(State machine, String allocationId) {
    return heedMarks && machine.mark != null && !machine.mark.equals(allocationId);
  }

  private void retry(
      String nodeId,
      String call,
      String allocationId,
      @Nullable List<String> keys,
      Promise<Void> outcome) {
    if (!outcome.future().isComplete()) {
      begin(nodeId, call, allocationId, keys, outcome);
    }
  }

  private void finish(String nodeId, Run run, String allocationId, @Nullable List<String> keys) {
    State machine = state(nodeId);
    if (machine.run != run) {
      return;
    }
    if (machine.health == Health.HANGS) {
      scheduler.afterMillis(1_000, () -> finish(nodeId, run, allocationId, keys));
      return;
    }
    machine.run = null;
    if (luck.breaks()) {
      trace.add(nodeId, "breaks off at {}", run.call);
      run.waiting.forEach(
          p -> p.tryFail(NodeFailureException.passing(nodeId + ": " + run.call + " failed")));
      return;
    }
    if (keys != null) {
      boolean isLate = keys.isEmpty() && allocationId.equals(machine.tenant);
      machine.keys = isLate ? machine.keys : keys;
      machine.tenant = allocationId;
      watchers.forEach(w -> w.letIn(nodeId, allocationId));
    } else {
      machine.mark = null;
      machine.ended.add(allocationId);
      machine.cleanedNanos = scheduler.nowNanos();
    }
    trace.add(nodeId, "did {}", run.call);
    run.waiting.forEach(Promise::tryComplete);
  }
}
