package dev.bourse.simulation;

import dev.bourse.nodes.BaselineReview;
import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Examination;
import dev.bourse.nodes.Hardware;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeFailure;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The machines of a simulation, apart from all processes. A call begins a run on its machine that
 * outlives whoever called; a machine may hang, be dead for a while, or come back empty.
 */
class Machines {
  /** How long a call waits for its machine. */
  private static final long PATIENCE_MILLIS = 60_000;

  /** What a machine does with what it is asked. */
  enum Health {
    WELL,
    /** Nobody can connect. */
    DEAD,
    /** It takes what it is asked and does not go on with it. */
    HANGS
  }

  /** One machine as it is. */
  static final class State {
    Health health = Health.WELL;

    /** The allocation whose tenant can log in. */
    @Nullable String tenant;

    /** The allocation it is marked for; a run that breaks off leaves the mark without a tenant. */
    @Nullable String mark;

    List<String> keys = List.of();

    /** Allocations it was taken back from, for which it lets nobody in again. */
    final Set<String> ended = new HashSet<>();

    /** The run that is under way. */
    @Nullable Run run;

    int begun;

    /** When it was last cleaned, or set up anew; in true time. */
    long cleanedNanos = -1;

    /** It answers probes whatever its health is. */
    boolean isProbeLying;

    /** What it says that it is marked for, in the place of the truth. */
    @Nullable String claims;

    /** Since when a run is under way; negative when none is. */
    long runsSinceNanos() {
      return run == null ? -1 : run.begunNanos;
    }
  }

  /** Hears of what happens on machines, in order. */
  interface Watcher {
    /** A run begins; the machine is as it was before. */
    void begins(String nodeId, State before, String allocationId, boolean isProvision);

    /** A tenant can log in from now on. */
    void letIn(String nodeId, String allocationId);
  }

  /** Something that is done on a machine. */
  private static final class Run {
    final String call;
    final long begunNanos;
    final List<Promise<Void>> waiting = new ArrayList<>();

    Run(String call, long begunNanos) {
      this.call = call;
      this.begunNanos = begunNanos;
    }
  }

  /** How long calls and runs take, and whether a run breaks off. */
  interface Luck {
    /**
     * From a call to its arrival at the machine, which it reaches though its caller has ended; not
     * when its caller has given it up.
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

  /** Whether machines heed whom they are marked for; always but for a bug that is planted. */
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

  /** Every machine anybody ever asked, by its id. */
  Map<String, State> all() {
    return all;
  }

  /** Any of them. */
  @Nullable String any(SplittableRandom random) {
    return all.isEmpty() ? null : List.copyOf(all.keySet()).get(random.nextInt(all.size()));
  }

  void setHealth(String nodeId, Health health) {
    State machine = state(nodeId);
    machine.health = health;
    trace.add(nodeId, "is {}", health);
    if (health == Health.DEAD) {
      // What was under way ends with the machine.
      end(machine, NodeFailure.passing(nodeId + ": the connection broke"));
    }
  }

  /** It is set up anew: nothing of a tenant is left, and no mark. */
  void rebuild(String nodeId) {
    State machine = state(nodeId);
    end(machine, NodeFailure.passing(nodeId + ": the connection broke"));
    machine.tenant = null;
    machine.mark = null;
    machine.keys = List.of();
    machine.cleanedNanos = scheduler.nowNanos();
    trace.add(nodeId, "is rebuilt, empty");
  }

  private static void end(State machine, NodeFailure failure) {
    Run run = machine.run;
    machine.run = null;
    if (run != null) {
      run.waiting.forEach(promise -> promise.tryFail(failure));
    }
  }

  /** The machines as one process reaches them. */
  NodeProvider reachedBy(Replica process) {
    return new Reached(process);
  }

  private final class Reached implements NodeProvider {
    private final Replica process;

    Reached(Replica process) {
      this.process = process;
    }

    @Override
    public Future<Void> provision(
        Machine machine, String allocationId, List<String> keys, Hardware hardware) {
      return call(machine, "provision " + allocationId, allocationId, keys);
    }

    @Override
    public Future<Cleaning> reclaim(Machine machine, String allocationId) {
      return call(machine, "reclaim " + allocationId, allocationId, null).map(Cleaning.UNRECORDED);
    }

    @Override
    public Future<Examination> examine(Machine machine, Hardware hardware) {
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
          luck.callMillis(), () -> retry(machine.nodeId(), call, allocationId, keys, outcome));
      scheduler.afterMillis(
          PATIENCE_MILLIS,
          () -> outcome.tryFail(NodeFailure.passing(call + ": does not come to an end")));
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
              if (state.health == Health.WELL) {
                String claims = state.claims;
                holdings.add(new Holding(machine.nodeId(), claims == null ? state.mark : claims));
              }
            }
            caller.runOnContext(
                v -> {
                  if (holdings.isEmpty() && !machines.isEmpty()) {
                    answer.fail(NodeFailure.passing("none of the machines could answer"));
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
      boolean isWell = state.health == Health.WELL || state.isProbeLying;
      process.afterMillis(
          isWell ? 3 : 5_000,
          () ->
              caller.runOnContext(
                  v -> {
                    if (isWell) {
                      answer.complete();
                    } else {
                      answer.fail(NodeFailure.passing(machine.nodeId() + ": no connection"));
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
    if (machine.health == Health.DEAD) {
      outcome.tryFail(NodeFailure.passing(nodeId + ": no connection"));
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
      // Another's run: its end is waited for.
      scheduler.afterMillis(200, () -> retry(nodeId, call, allocationId, keys, outcome));
      return;
    }
    boolean isOver = keys != null && machine.ended.contains(allocationId);
    if (isAnothers(machine, allocationId) || isOver) {
      outcome.tryFail(NodeFailure.heldByAnother(nodeId + " is marked for " + machine.mark));
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

  /** Whether a machine is marked for another allocation than a call's. */
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
          p -> p.tryFail(NodeFailure.passing(nodeId + ": " + run.call + " failed")));
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
