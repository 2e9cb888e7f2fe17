package dev.bourse.nodes;

import dev.bourse.signals.Signals;
import dev.bourse.traces.Attribute;
import dev.bourse.traces.Span;
import dev.bourse.traces.Traces;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Real machines over ssh; host keys are pinned by the inventory.
 *
 * <p>What a call does on a machine is a run of its own there ({@link MachineScript}), which
 * outlives connections and callers and is ended by the machine when its time is up. A call visits
 * the machine, one connection at a time, until its run has ended; one that meets another's run, be
 * it of a process that is gone, waits for its end, and one that meets a run of the very same call
 * takes it for its own.
 *
 * <p>Visits are made on a pool of as many threads as machines may be visited at a time: a visit
 * spends its seconds waiting for a machine, so threads cost nothing that connections do not, and
 * every wait has its time-out where it stands. Between visits a call has no thread. Calls for one
 * machine take turns in the order in which they came. Futures complete on the context of the
 * caller. Failures are {@link NodeFailure}s.
 */
public final class SshNodes implements NodeProvider {
  private static final Logger LOG = LoggerFactory.getLogger(SshNodes.class);

  private static final Pattern ALLOCATION = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  /** A type, base64 and a comment of printable text: no options, no second line. */
  private static final Pattern KEY_LINE =
      Pattern.compile("(ssh-|ecdsa-|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}( \\P{Cc}*)?");

  /** All keys of an organization on a machine: 1 MiB is thousands of them. */
  private static final int MAX_KEYS_CHARS = 1 << 20;

  private static final int MAX_LOGGED_CHARS = 2_000;

  /** Most runs end within the visit that begins them; those that do not are looked in on. */
  static final int FIRST_VISIT_SECONDS = 20;

  private static final int LATER_VISIT_SECONDS = 1;

  /** Pauses between visits double; a run's end may be noticed as late as the last one is long. */
  static final long FIRST_PAUSE_MILLIS = 1_000;

  private static final int PAUSE_DOUBLINGS = 3;

  /**
   * How long a call waits on top of another's run and its own, each of which the machine ends when
   * its time is up: for pauses, for connections, and for what does not heed its end at once.
   */
  private static final long SLACK_MILLIS = 120_000;

  private final Vertx vertx;
  private final SshConfig config;
  private final PinnedSsh ssh;
  private final Traces traces;
  private final int firstVisitSeconds;
  private final long firstPauseMillis;
  private final ThreadPoolExecutor pool;

  // The three below are guarded by this object.
  private final Map<String, Future<?>> lastOfMachine = new HashMap<>();
  private final Set<Promise<?>> underWay = new HashSet<>();
  private boolean closed;

  /**
   * A provider ready to work; no machine is contacted yet.
   *
   * @param traces where each call and its visits are told to
   * @throws IllegalArgumentException when the identity file holds no usable key
   * @throws java.io.UncheckedIOException when it cannot be read
   */
  public SshNodes(Vertx vertx, SshConfig config, Traces traces) {
    this(vertx, config, traces, FIRST_VISIT_SECONDS, FIRST_PAUSE_MILLIS);
  }

  SshNodes(
      Vertx vertx, SshConfig config, Traces traces, int firstVisitSeconds, long firstPauseMillis) {
    this.vertx = vertx;
    this.traces = traces;
    this.config = config;
    this.firstVisitSeconds = firstVisitSeconds;
    this.firstPauseMillis = firstPauseMillis;
    ssh = new PinnedSsh(config);
    AtomicInteger threads = new AtomicInteger();
    pool =
        new ThreadPoolExecutor(
            config.maxConcurrent(),
            config.maxConcurrent(),
            60,
            TimeUnit.SECONDS,
            // Room for every admitted call and for two inventories being asked at once.
            new ArrayBlockingQueue<>(config.maxWaiting() + 2 * config.maxConcurrent()),
            task -> {
              Thread thread = new Thread(task, "bourse-ssh-" + threads.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
  }

  /**
   * Reads the identity that machines are logged in to with. Blocks.
   *
   * @throws IllegalArgumentException when the file holds no key that can be used
   * @throws java.io.UncheckedIOException when it cannot be read
   */
  public static void checkIdentity(SshConfig config) {
    JdkEd25519.register();
    PinnedSsh.identity(config.identityFile());
  }

  @Override
  public Future<Void> provision(Machine machine, String allocationId, List<String> publicKeys) {
    String nodeId = machine.nodeId();
    String call = nodeId + ": provision";
    int chars = 0;
    for (String key : publicKeys) {
      chars += key.length();
      if (chars > MAX_KEYS_CHARS || !KEY_LINE.matcher(key).matches()) {
        return Future.failedFuture(
            NodeFailure.lasting(call + ": not public key lines, or more than 1 MiB of them"));
      }
    }
    return inTurn(
        machine,
        allocationId,
        call,
        "ssh provision",
        patience -> MachineScript.provision(config, nodeId, allocationId, publicKeys, patience));
  }

  @Override
  public Future<Void> reclaim(Machine machine, String allocationId) {
    String nodeId = machine.nodeId();
    return inTurn(
        machine,
        allocationId,
        nodeId + ": reclaim",
        "ssh reclaim",
        patience -> MachineScript.reclaim(config, nodeId, allocationId, patience));
  }

  /** Asks every machine once, without retries and without waiting for other calls' turns. */
  @Override
  public Future<List<Holding>> held(List<Machine> machines) {
    Context context = vertx.getOrCreateContext();
    Promise<List<Holding>> answer = Promise.promise();
    int lanes = Math.min(machines.size(), config.maxConcurrent());
    synchronized (this) {
      if (closed) {
        return Future.failedFuture(closedFailure());
      }
      if (lanes == 0) {
        return Future.succeededFuture(List.of());
      }
      underWay.add(answer);
    }
    Queue<Machine> rest = new ConcurrentLinkedQueue<>(machines);
    List<Holding> answers = Collections.synchronizedList(new ArrayList<>());
    Runnable finish =
        () ->
            deliver(
                context,
                answer,
                answers.isEmpty()
                    ? Future.failedFuture(
                        NodeFailure.passing("none of the machines asked could answer"))
                    : Future.succeededFuture(List.copyOf(answers)));
    AtomicInteger open = new AtomicInteger(lanes);
    for (int i = 0; i < lanes; i++) {
      askNext(rest, answers, () -> countDown(open, finish));
    }
    return answer.future();
  }

  /** A connection, the pinned host key and the login, without a command. */
  @Override
  public Future<Void> probe(Machine machine) {
    Context context = vertx.getOrCreateContext();
    Promise<Void> answer = Promise.promise();
    synchronized (this) {
      if (closed) {
        return Future.failedFuture(closedFailure());
      }
      underWay.add(answer);
    }
    Future<Void> tried =
        onPool(
                machine.nodeId() + ": probe",
                () -> {
                  ssh.probe(machine);
                  return true;
                })
            .mapEmpty();
    tried.onComplete(done -> deliver(context, answer, tried));
    return answer.future();
  }

  @Override
  public Future<Void> close() {
    List<Promise<?>> ended;
    synchronized (this) {
      closed = true;
      ended = List.copyOf(underWay);
      underWay.clear();
    }
    ended.forEach(promise -> promise.tryFail(closedFailure()));
    pool.shutdownNow();
    return vertx.executeBlocking(
        () -> {
          ssh.close();
          return null;
        },
        false);
  }

  private Future<Void> inTurn(
      Machine machine,
      String allocationId,
      String call,
      String name,
      IntFunction<MachineScript> script) {
    String nodeId = machine.nodeId();
    if (!ALLOCATION.matcher(allocationId).matches()) {
      return Future.failedFuture(NodeFailure.lasting(call + ": not an allocation id"));
    }
    if (!SshConfig.isNodeId(nodeId)) {
      return Future.failedFuture(NodeFailure.lasting(call + ": not a usable node id"));
    }
    Context context = vertx.getOrCreateContext();
    Promise<Void> answer = Promise.promise();
    Promise<Void> turn = Promise.promise();
    Future<?> before;
    synchronized (this) {
      if (closed) {
        return Future.failedFuture(closedFailure());
      }
      if (underWay.size() >= config.maxConcurrent() + config.maxWaiting()) {
        return Future.failedFuture(NodeFailure.busy(call + ": too many calls are waiting already"));
      }
      underWay.add(answer);
      before = lastOfMachine.getOrDefault(nodeId, Future.succeededFuture());
      lastOfMachine.put(nodeId, turn.future());
    }
    Span span = traces.always(name, Span.Kind.INTERNAL);
    span.tell(Attribute.NODE, nodeId);
    long askedNanos = System.nanoTime();
    turn.future()
        .onComplete(
            result -> {
              end(span, result.cause());
              synchronized (this) {
                lastOfMachine.remove(nodeId, turn.future());
              }
              deliver(context, answer, turn.future());
            });
    before.onComplete(
        ignored -> {
          span.passed("machine's turn", askedNanos, System.nanoTime());
          new Work(machine, call, span, script, turn).visit(1);
        });
    return answer.future();
  }

  private static void end(Span span, @Nullable Throwable fault) {
    if (fault instanceof NodeFailure failure) {
      span.fail(failure.kind());
    } else {
      span.end(fault);
    }
  }

  /** One call's visits to its machine. */
  private final class Work {
    private final Machine machine;
    private final String call;
    private final Span span;
    private final IntFunction<MachineScript> script;
    private final Promise<Void> turn;
    private final long beganNanos = System.nanoTime();
    private int waits;

    Work(
        Machine machine,
        String call,
        Span span,
        IntFunction<MachineScript> script,
        Promise<Void> turn) {
      this.machine = machine;
      this.call = call;
      this.span = span;
      this.script = script;
      this.turn = turn;
    }

    /** Looks whether the run has ended, and has it begun when there is none. */
    void visit(int attempt) {
      int patience = waits == 0 ? firstVisitSeconds : LATER_VISIT_SECONDS;
      onPool(call, () -> visited(patience))
          .onSuccess(who -> who.ifPresentOrElse(this::waitFor, turn::complete))
          .onFailure(e -> retry(e, attempt));
    }

    private Optional<String> visited(int patience) {
      Span visit = span.child("visit", Span.Kind.CLIENT);
      try {
        Optional<String> who = whoIsAtWork(ssh.run(machine, script.apply(patience)));
        visit.end();
        return who;
      } catch (RuntimeException e) {
        SshNodes.end(visit, e);
        throw e;
      }
    }

    private Optional<String> whoIsAtWork(PinnedSsh.Result result) {
      if (MachineScript.isAtWork(result.status())) {
        return Optional.of(logged(result.errors()));
      }
      checked(call, result);
      return Optional.empty();
    }

    /** That somebody is at work, maybe on this very call, is no failure, however long it takes. */
    private void waitFor(String who) {
      long waitedMillis = (System.nanoTime() - beganNanos) / 1_000_000;
      if (waitedMillis > 2 * config.commandTimeoutMillis() + SLACK_MILLIS) {
        turn.fail(NodeFailure.lasting(call + ": the call has not ended in time: " + who));
        return;
      }
      LOG.info("{}: {}; the machine will be asked again", call, who);
      again(1, firstPauseMillis << Math.min(waits++, PAUSE_DOUBLINGS));
    }

    private void retry(Throwable e, int attempt) {
      boolean again =
          e instanceof NodeFailure failure
              && failure.isPassing()
              && attempt < config.attempts()
              && !isClosed();
      LOG.warn("{}, attempt {}{}", e.getMessage(), attempt, again ? ", to be retried" : "");
      if (again) {
        again(attempt + 1, config.retryDelayMillis() << (attempt - 1));
      } else {
        turn.fail(e);
      }
    }

    private void again(int attempt, long delayMillis) {
      vertx.setTimer(delayMillis, timer -> visit(attempt));
    }
  }

  private void askNext(Queue<Machine> rest, List<Holding> answers, Runnable done) {
    Machine machine = rest.poll();
    if (machine == null || isClosed()) {
      done.run();
      return;
    }
    onPool(machine.nodeId() + ": held", () -> ask(machine))
        .onSuccess(answers::add)
        .onFailure(
            e -> LOG.warn("{}; this machine counts as one that cannot be asked", e.getMessage()))
        .onComplete(result -> askNext(rest, answers, done));
  }

  private Holding ask(Machine machine) {
    String nodeId = machine.nodeId();
    String call = nodeId + ": held";
    if (!SshConfig.isNodeId(nodeId)) {
      throw NodeFailure.lasting(call + ": not a usable node id");
    }
    String output = checked(call, ssh.run(machine, MachineScript.held(config, nodeId))).output();
    String mark =
        output
            .lines()
            .filter(line -> line.startsWith(MachineScript.MARK))
            .map(line -> line.substring(MachineScript.MARK.length()))
            .findFirst()
            .orElseThrow(
                () ->
                    NodeFailure.lasting(
                        call + ": the machine did not tell which allocation it holds"));
    if (!mark.isEmpty() && !ALLOCATION.matcher(mark).matches()) {
      throw NodeFailure.lasting(call + ": the mark is not an allocation id");
    }
    return new Holding(nodeId, mark.isEmpty() ? null : mark);
  }

  /** What a command left behind, if it ended well. */
  private PinnedSsh.Result checked(String call, PinnedSsh.Result result) {
    LOG.debug("{}: status {}: {}", call, result.status(), logged(result.output()));
    if (result.status() != 0) {
      String printed = logged(result.errors());
      LOG.warn("{}: status {}: {}", call, result.status(), printed);
      throw MachineScript.failure(config, call, result.status(), printed);
    }
    return result;
  }

  private <T> Future<T> onPool(String call, Supplier<T> work) {
    Promise<T> promise = Promise.promise();
    try {
      pool.execute(
          () -> {
            try {
              promise.complete(work.get());
            } catch (NodeFailure e) {
              promise.fail(e);
            } catch (RuntimeException | Error e) {
              // An Error, too: the machine's next turn waits for this one, however it ends.
              LOG.error("{}: unexpected", call, e);
              promise.fail(NodeFailure.lasting(call + ": " + e));
            }
          });
    } catch (RejectedExecutionException e) {
      promise.fail(
          isClosed()
              ? closedFailure()
              : NodeFailure.busy(call + ": every thread for machines is busy"));
    }
    return promise.future();
  }

  private <T> void deliver(Context context, Promise<T> answer, Future<T> result) {
    synchronized (this) {
      underWay.remove(answer);
    }
    context.runOnContext(
        ignored -> {
          if (result.succeeded()) {
            answer.tryComplete(result.result());
          } else {
            answer.tryFail(result.cause());
          }
        });
  }

  @Override
  public void show(Signals signals) {
    signals.gauge(
        "bourse_ssh_connections",
        "Machines that are being visited over ssh, against nodes.ssh.max-concurrent.",
        pool::getActiveCount);
    signals.gauge(
        "bourse_ssh_visits_waiting",
        "Visits to machines that wait for a connection to be free.",
        () -> pool.getQueue().size());
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private static void countDown(AtomicInteger open, Runnable finish) {
    if (open.decrementAndGet() == 0) {
      finish.run();
    }
  }

  private static NodeFailure closedFailure() {
    return NodeFailure.busy("the node provider is closed");
  }

  /** A machine's output as one line of a log. */
  private static String logged(String output) {
    String shown =
        output.length() > MAX_LOGGED_CHARS ? output.substring(0, MAX_LOGGED_CHARS) : output;
    return shown.strip().replaceAll("\\p{Cc}+", " ");
  }
}
