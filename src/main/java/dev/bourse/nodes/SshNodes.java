package dev.bourse.nodes;

import dev.bourse.signals.Signals;
import dev.bourse.traces.Attribute;
import dev.bourse.traces.Span;
import dev.bourse.traces.Traces;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives real machines over SSH. The inventory pins their host keys.
 *
 * <p>The work of a call is a run on the machine ({@link MachineScript}), which survives the
 * connection and the caller; the machine ends it when its time is up. A call visits the machine,
 * one connection at a time, until its run has ended. A call that finds another call's run waits for
 * its end, even if the process of that call is gone. A call that finds a run of the same call
 * adopts it.
 *
 * <p>A pool of threads makes the visits, one thread for each allowed connection. A visit waits for
 * the machine most of the time, and each wait has its timeout in place. Between visits a call has
 * no thread. Calls for one machine take turns in the order of arrival. Futures complete on the
 * context of the caller. Failures are {@link NodeFailureException}s.
 */
public final class SshNodes implements NodeProvider {
  private static final Logger LOG = LoggerFactory.getLogger(SshNodes.class);

  private static final Pattern ALLOCATION = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

  /** A sequence, which is checked because a machine whose tenant is root may print anything. */
  private static final Pattern SEQUENCE = Pattern.compile("[0-9]{1,18}");

  private static final Pattern CLEANED =
      Pattern.compile("(\\d{1,9}) +(\\d{1,9}) +(\\d{1,9}) +(\\d{1,9}) ([0-9a-f]{64})?");

  /** A type, base64 and a comment of printable text, without options and a second line. */
  private static final Pattern KEY_LINE =
      Pattern.compile("(ssh-|ecdsa-|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}( \\P{Cc}*)?");

  /** The most characters of all keys of a grant: 1 MiB holds thousands of keys. */
  private static final int MAX_KEYS_CHARS = 1 << 20;

  private static final int MAX_LOGGED_CHARS = 2_000;

  /** The patience of the first visit, in which most runs end; later visits poll the others. */
  static final int FIRST_VISIT_SECONDS = 20;

  private static final int LATER_VISIT_SECONDS = 1;

  /** The first pause between visits; pauses double, and delay the detection of a run's end. */
  static final long FIRST_PAUSE_MILLIS = 1_000;

  private static final int PAUSE_DOUBLINGS = 3;

  /**
   * How long a call waits beyond the time limits of another call's run and its own: for pauses, for
   * connections, and for processes that do not end at once.
   */
  private static final long SLACK_MILLIS = 120_000;

  /**
   * The most notices delivered at a time. A visit takes about half a second, so two thousand
   * machines get their notice within ten seconds.
   */
  private static final int NOTICES_AT_ONCE = 128;

  /**
   * The most machines examined at a time. An examination takes seconds, and a minute if the driver
   * hangs, so 10,000 machines take ten minutes to three hours. The rate of probes limits the load
   * of this host, because each probe starts one examination at most.
   */
  private static final int EXAMINED_AT_ONCE = 64;

  private final Vertx vertx;
  private final SshConfig config;
  private final PinnedSsh ssh;
  private final Traces traces;
  private final Clock clock;
  private final Function<String, Optional<AgentAccess>> agents;
  private final int firstVisitSeconds;
  private final long firstPauseMillis;
  private final ThreadPoolExecutor pool;
  private final ThreadPoolExecutor imaging;
  private final ReimageCommand reimageCommand;

  /** A separate pool, because a notice must not wait for machines that are being cleaned. */
  private final ThreadPoolExecutor noticePool;

  /** A separate pool, because a grant must not wait for a driver that hangs. */
  private final ThreadPoolExecutor examining;

  // This object guards the three fields below.
  private final Map<String, Future<?>> lastOfMachine = new HashMap<>();
  private final Set<Promise<?>> callsInProgress = new HashSet<>();
  private boolean closed;

  /**
   * Creates a provider; it does not contact machines yet.
   *
   * @param traces receives a span for each call and each visit
   * @param clock the time that machines' clocks are compared with
   * @param agents returns the access of an allocation's agent; empty for no agent
   * @throws IllegalArgumentException if the identity file has no usable key
   * @throws java.io.UncheckedIOException if it cannot be read
   */
  public SshNodes(
      Vertx vertx,
      SshConfig config,
      Traces traces,
      Clock clock,
      Function<String, Optional<AgentAccess>> agents) {
    this(vertx, config, traces, clock, agents, FIRST_VISIT_SECONDS, FIRST_PAUSE_MILLIS);
  }

  SshNodes(
      Vertx vertx,
      SshConfig config,
      Traces traces,
      Clock clock,
      Function<String, Optional<AgentAccess>> agents,
      int firstVisitSeconds,
      long firstPauseMillis) {
    this.clock = clock;
    this.agents = agents;
    this.vertx = vertx;
    this.traces = traces;
    this.config = config;
    this.firstVisitSeconds = firstVisitSeconds;
    this.firstPauseMillis = firstPauseMillis;
    ssh = new PinnedSsh(config);
    reimageCommand = new ReimageCommand(config.reimageCommand());
    // Room for all admitted calls and two concurrent calls of held().
    pool =
        threads(
            "bourse-ssh-",
            config.maxConcurrent(),
            config.maxWaiting() + 2 * config.maxConcurrent());
    noticePool = threads("bourse-notice-", NOTICES_AT_ONCE, config.maxWaiting());
    examining = threads("bourse-examine-", EXAMINED_AT_ONCE, config.maxWaiting());
    // A separate pool, because a command takes minutes and would block visits.
    imaging = threads("bourse-reimage-", config.maxConcurrent(), config.maxWaiting());
  }

  private static ThreadPoolExecutor threads(String name, int threads, int waiting) {
    AtomicInteger started = new AtomicInteger();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            60,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(waiting),
            task -> {
              Thread thread = new Thread(task, name + started.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /**
   * Checks that the identity for logins can be read. Blocks.
   *
   * @throws IllegalArgumentException if the file has no usable key
   * @throws java.io.UncheckedIOException if it cannot be read
   */
  public static void checkIdentity(SshConfig config) {
    JdkEd25519.register();
    PinnedSsh.identity(config.identityFile());
  }

  @Override
  public Future<Void> provision(
      Machine machine, String allocationId, List<String> publicKeys, MachineTerms terms) {
    String nodeId = machine.nodeId();
    String call = nodeId + ": provision";
    int chars = 0;
    for (String key : publicKeys) {
      chars += key.length();
      if (chars > MAX_KEYS_CHARS || !KEY_LINE.matcher(key).matches()) {
        return Future.failedFuture(
            NodeFailureException.lasting(
                call + ": not public key lines, or more than 1 MiB of them"));
      }
    }
    Optional<AgentAccess> agent = agents.apply(allocationId);
    return inTurn(
            machine,
            allocationId,
            call,
            "ssh provision",
            patience ->
                MachineScript.provision(
                    config,
                    machine,
                    allocationId,
                    publicKeys,
                    agent,
                    terms,
                    clock.millis(),
                    patience))
        .mapEmpty();
  }

  @Override
  public Future<Cleaning> reclaim(Machine machine, String allocationId) {
    String call = machine.nodeId() + ": reclaim";
    return inTurn(
            machine,
            allocationId,
            call,
            "ssh reclaim",
            patience -> MachineScript.reclaim(config, machine, allocationId, patience))
        .map(SshNodes::cleaning);
  }

  @Override
  public Optional<IdRange> idRange() {
    return config.hasOwnIds() ? Optional.of(config.idRange()) : Optional.empty();
  }

  @Override
  public OptionalLong reimageTimeoutMillis() {
    return OptionalLong.of(config.reimageTimeoutMillis());
  }

  @Override
  public boolean canReimage() {
    return !config.reimageCommand().isBlank();
  }

  @Override
  public Future<String> reimage(Machine machine, ReimageOrder order) {
    String call = machine.nodeId() + ": reimage";
    if (!canReimage()) {
      return Future.failedFuture(
          NodeFailureException.unfit(
              call
                  + ": its tenant could become root, and nodes.ssh.reimage-command is not set: set"
                  + " it, or reinstall the machine, pin its new host key and end its reclaim"));
    }
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.remainingMillis());
    return once(
        imaging,
        call,
        () -> {
          // The wait for a thread counts.
          long leftMillis = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
          String key =
              reimageCommand.run(
                  machine,
                  new ReimageOrder(
                      order.pool(),
                      order.allocationId(),
                      order.id(),
                      Math.max(0, leftMillis),
                      () -> !isClosed() && order.isWanted().getAsBoolean()));
          if (ReimageCommand.isSameKey(key, machine.hostKey())) {
            throw NodeFailureException.lasting(
                call + ": the command printed the host key that the machine had before");
          }
          return key;
        });
  }

  /** Visits every machine once, without retries; does not wait for the turns of other calls. */
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
      callsInProgress.add(answer);
    }
    Queue<Machine> rest = new ConcurrentLinkedQueue<>(machines);
    List<Holding> answers = Collections.synchronizedList(new ArrayList<>());
    Runnable finish =
        () ->
            deliver(
                context,
                answer,
                answers.isEmpty()
                    ? Future.failedFuture(NodeFailureException.passing("no machine answered"))
                    : Future.succeededFuture(List.copyOf(answers)));
    AtomicInteger open = new AtomicInteger(lanes);
    for (int i = 0; i < lanes; i++) {
      askNext(rest, answers, () -> countDown(open, finish));
    }
    return answer.future();
  }

  /** Connects, checks the host key and logs in, without a command. */
  @Override
  public Future<Void> probe(Machine machine) {
    return once(
            machine.nodeId() + ": probe",
            () -> {
              ssh.probe(machine);
              return true;
            })
        .mapEmpty();
  }

  @Override
  public Future<Examination> examine(Machine machine, MachineTerms terms) {
    String call = machine.nodeId() + ": examine";
    return once(
        examining,
        call,
        () -> {
          String output = ask(machine, call, () -> MachineScript.examine(config, machine, terms));
          return new Examination(
              holding(machine, call, output), health(output), baseline(output).orElse(null));
        });
  }

  @Override
  public Future<Long> deliverNotice(
      Machine machine, String allocationId, NodeNotice notice, long sequence) {
    String call = machine.nodeId() + ": notice";
    if (!ALLOCATION.matcher(allocationId).matches()) {
      return Future.failedFuture(NodeFailureException.lasting(call + ": not an allocation id"));
    }
    return once(
            noticePool,
            call,
            () ->
                ask(
                    machine,
                    call,
                    () -> MachineScript.notice(config, machine, allocationId, notice, sequence)))
        .map(
            output ->
                lines(output, MachineScript.NEWER)
                    .filter(newer -> SEQUENCE.matcher(newer).matches())
                    .findFirst()
                    // The machine also ignores an equal sequence, which another process may send.
                    .map(newer -> Math.max(Long.parseLong(newer), sequence + 1))
                    .orElse(sequence));
  }

  @Override
  public Future<BaselineReview> reviewBaseline(Machine machine) {
    String call = machine.nodeId() + ": review";
    return once(
        call,
        () -> {
          String output = ask(machine, call, () -> MachineScript.review(config, machine));
          String digest =
              baseline(output)
                  .orElseThrow(
                      () -> NodeFailureException.lasting(call + ": the machine printed no digest"));
          return new BaselineReview(
              digest, lines(output, MachineScript.CHANGE).map(SshNodes::logged).toList());
        });
  }

  @Override
  public Future<Void> acceptBaseline(Machine machine, String digest) {
    String call = machine.nodeId() + ": accept";
    return once(call, () -> ask(machine, call, () -> MachineScript.accept(config, machine, digest)))
        .mapEmpty();
  }

  /** Makes one visit without retries and without waiting for the turns of other calls. */
  private <T> Future<T> once(String call, Supplier<T> visit) {
    return once(pool, call, visit);
  }

  private <T> Future<T> once(ThreadPoolExecutor threads, String call, Supplier<T> visit) {
    Context context = vertx.getOrCreateContext();
    Promise<T> answer = Promise.promise();
    synchronized (this) {
      if (closed) {
        return Future.failedFuture(closedFailure());
      }
      callsInProgress.add(answer);
    }
    Future<T> tried = onPool(threads, call, visit);
    tried.onComplete(done -> deliver(context, answer, tried));
    return answer.future();
  }

  @Override
  public Future<Void> close() {
    List<Promise<?>> ended;
    synchronized (this) {
      closed = true;
      ended = List.copyOf(callsInProgress);
      callsInProgress.clear();
    }
    ended.forEach(promise -> promise.tryFail(closedFailure()));
    pool.shutdownNow();
    noticePool.shutdownNow();
    examining.shutdownNow();
    imaging.shutdownNow();
    return vertx.executeBlocking(
        () -> {
          ssh.close();
          return null;
        },
        false);
  }

  /** Runs a call when all earlier calls for the machine have ended; returns its output. */
  private Future<String> inTurn(
      Machine machine,
      String allocationId,
      String call,
      String name,
      IntFunction<MachineScript> script) {
    String nodeId = machine.nodeId();
    if (!ALLOCATION.matcher(allocationId).matches()) {
      return Future.failedFuture(NodeFailureException.lasting(call + ": not an allocation id"));
    }
    if (!SshConfig.isNodeId(nodeId)) {
      return Future.failedFuture(NodeFailureException.lasting(call + ": not a usable node id"));
    }
    Context context = vertx.getOrCreateContext();
    Promise<String> answer = Promise.promise();
    Promise<String> turn = Promise.promise();
    Future<?> before;
    synchronized (this) {
      if (closed) {
        return Future.failedFuture(closedFailure());
      }
      if (callsInProgress.size() >= config.maxConcurrent() + config.maxWaiting()) {
        return Future.failedFuture(
            NodeFailureException.busy(call + ": too many calls are waiting already"));
      }
      callsInProgress.add(answer);
      before = lastOfMachine.getOrDefault(nodeId, Future.succeededFuture());
      lastOfMachine.put(nodeId, turn.future());
    }
    Span span = traces.always(name, Span.Kind.INTERNAL);
    span.setAttribute(Attribute.NODE, nodeId);
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
          span.addCompletedChild("machine's turn", askedNanos, System.nanoTime());
          new Work(machine, call, span, script, turn).visit(1);
        });
    return answer.future();
  }

  private static void end(Span span, @Nullable Throwable fault) {
    if (fault instanceof NodeFailureException failure) {
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
    private final Promise<String> turn;
    private final long beganNanos = System.nanoTime();
    private int waits;

    Work(
        Machine machine,
        String call,
        Span span,
        IntFunction<MachineScript> script,
        Promise<String> turn) {
      this.machine = machine;
      this.call = call;
      this.span = span;
      this.script = script;
      this.turn = turn;
    }

    /** Visits the machine: starts the run if there is none, or checks whether it has ended. */
    void visit(int attempt) {
      int patience = waits == 0 ? firstVisitSeconds : LATER_VISIT_SECONDS;
      onPool(call, () -> visited(patience))
          .onSuccess(
              result -> {
                if (MachineScript.isAtWork(result.status())) {
                  waitFor(logged(result.errors()));
                } else {
                  turn.complete(result.output());
                }
              })
          .onFailure(e -> retry(e, attempt));
    }

    private PinnedSsh.Result visited(int patience) {
      Span visit = span.child("visit", Span.Kind.CLIENT);
      try {
        PinnedSsh.Result result = ssh.run(machine, script.apply(patience));
        if (!MachineScript.isAtWork(result.status())) {
          checked(call, result);
        }
        visit.end();
        return result;
      } catch (RuntimeException e) {
        SshNodes.end(visit, e);
        throw e;
      }
    }

    /** Schedules another visit, because a run in progress, even of another call, is no failure. */
    private void waitFor(String who) {
      long waitedMillis = (System.nanoTime() - beganNanos) / 1_000_000;
      if (waitedMillis > 2 * config.commandTimeoutMillis() + SLACK_MILLIS) {
        turn.fail(NodeFailureException.lasting(call + ": the call has not ended in time: " + who));
        return;
      }
      LOG.info("{}: {}; the machine will be visited again", call, who);
      again(1, firstPauseMillis << Math.min(waits++, PAUSE_DOUBLINGS));
    }

    private void retry(Throwable e, int attempt) {
      boolean again =
          e instanceof NodeFailureException failure
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
    onPool(machine.nodeId() + ": held", () -> holding(machine))
        .onSuccess(answers::add)
        .onFailure(e -> LOG.warn("{}; the answer leaves this machine out", e.getMessage()))
        .onComplete(result -> askNext(rest, answers, done));
  }

  private Holding holding(Machine machine) {
    String call = machine.nodeId() + ": held";
    return holding(machine, call, ask(machine, call, () -> MachineScript.held(config, machine)));
  }

  private String ask(Machine machine, String call, Supplier<MachineScript> script) {
    if (!SshConfig.isNodeId(machine.nodeId())) {
      throw NodeFailureException.lasting(call + ": not a usable node id");
    }
    return checked(call, ssh.run(machine, script.get())).output();
  }

  /** Returns the rest of each line that starts with a word of the script; a login may print too. */
  private static Stream<String> lines(String output, String start) {
    return output
        .lines()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length()));
  }

  private static Optional<String> baseline(String output) {
    return lines(output, MachineScript.BASELINE)
        .filter(digest -> DIGEST.matcher(digest).matches())
        .findFirst();
  }

  /** Parses the record of a reclaim. A run of the previous release has none. */
  private static Cleaning cleaning(String output) {
    return lines(output, MachineScript.CLEANED)
        .map(CLEANED::matcher)
        .filter(Matcher::matches)
        .map(
            found ->
                new Cleaning(
                    Long.parseLong(found.group(1)),
                    Long.parseLong(found.group(2)),
                    Long.parseLong(found.group(3)),
                    Long.parseLong(found.group(4)),
                    found.group(5)))
        .findFirst()
        .orElse(Cleaning.UNRECORDED);
  }

  private static Holding holding(Machine machine, String call, String output) {
    String mark =
        lines(output, MachineScript.MARK)
            .findFirst()
            .orElseThrow(
                () ->
                    NodeFailureException.lasting(
                        call + ": the machine did not print its allocation"));
    if (!mark.isEmpty() && !ALLOCATION.matcher(mark).matches()) {
      throw NodeFailureException.lasting(call + ": the mark is not an allocation id");
    }
    NodeNotice notice =
        lines(output, MachineScript.NOTICE).findFirst().flatMap(NodeNotice::parse).orElse(null);
    return new Holding(machine.nodeId(), mark.isEmpty() ? null : mark, notice);
  }

  private static Health health(String output) {
    List<String> failed = faults(output, "failed ");
    List<String> degraded = faults(output, "degraded ");
    List<String> all = new ArrayList<>(failed);
    all.addAll(degraded);
    if (all.isEmpty()) {
      boolean isChecked = output.lines().anyMatch(MachineScript.CHECKED::equals);
      return isChecked ? Health.OK : Health.UNKNOWN;
    }
    return new Health(failed.isEmpty() ? Health.State.DEGRADED : Health.State.FAILED, all);
  }

  private static List<String> faults(String output, String severity) {
    return lines(output, MachineScript.FAULT + severity)
        .map(SshNodes::logged)
        .filter(fault -> !fault.isEmpty())
        .toList();
  }

  /** Returns the result of a command that succeeded; throws otherwise. */
  private PinnedSsh.Result checked(String call, PinnedSsh.Result result) {
    LOG.debug("{}: status {}: {}", call, result.status(), logged(result.output()));
    if (result.status() != 0) {
      String printed = logged(result.errors());
      LOG.warn("{}: status {}: {}", call, result.status(), printed);
      throw MachineScript.failure(config, call, result.status(), printed);
    }
    return result;
  }

  /** Returns the failure of a call that threw an unexpected exception, and logs it. */
  private NodeFailureException unexpected(String call, Throwable failure) {
    // The ssh client rejects a connection after its stop, which is no fault.
    if (isClosed() && failure instanceof IllegalStateException) {
      return closedFailure();
    }
    LOG.error("{}: unexpected", call, failure);
    return NodeFailureException.lasting(call + ": " + failure);
  }

  private <T> Future<T> onPool(String call, Supplier<T> work) {
    return onPool(pool, call, work);
  }

  private <T> Future<T> onPool(ThreadPoolExecutor threads, String call, Supplier<T> work) {
    Promise<T> promise = Promise.promise();
    try {
      threads.execute(
          () -> {
            try {
              promise.complete(work.get());
            } catch (NodeFailureException e) {
              promise.fail(e);
            } catch (RuntimeException | Error e) {
              // Errors too, because the machine's next turn waits for the end of this one.
              promise.fail(unexpected(call, e));
            }
          });
    } catch (RejectedExecutionException e) {
      promise.fail(
          isClosed()
              ? closedFailure()
              : NodeFailureException.busy(call + ": every thread for machines is busy"));
    }
    return promise.future();
  }

  private <T> void deliver(Context context, Promise<T> answer, Future<T> result) {
    synchronized (this) {
      callsInProgress.remove(answer);
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
  public void registerMetrics(Signals signals) {
    signals.gauge(
        "bourse_ssh_connections",
        "Machines being visited over SSH; the limit is nodes.ssh.max-concurrent.",
        pool::getActiveCount);
    signals.gauge(
        "bourse_ssh_visits_waiting",
        "Visits to machines that wait for a free connection.",
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

  private static NodeFailureException closedFailure() {
    return NodeFailureException.busy("the node provider is closed");
  }

  /** Returns a machine's output as one line for the log. */
  private static String logged(String output) {
    String shown =
        output.length() > MAX_LOGGED_CHARS ? output.substring(0, MAX_LOGGED_CHARS) : output;
    return shown.strip().replaceAll("\\p{Cc}+", " ");
  }
}
