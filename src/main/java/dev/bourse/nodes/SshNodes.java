package dev.bourse.nodes;

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
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Real machines over ssh. Each machine is one connection with one command per call; host keys are
 * pinned by the inventory.
 *
 * <p>Calls run on a pool of as many threads as machines may be worked on at a time: a call spends
 * its seconds waiting for a machine, so threads cost nothing that connections do not, and every
 * wait has its time-out where it stands. Calls for one machine take turns in the order in which
 * they came. Futures complete on the context of the caller. Failures are {@link NodeFailure}s.
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

  private final Vertx vertx;
  private final SshConfig config;
  private final PinnedSsh ssh;
  private final ThreadPoolExecutor pool;

  // The three below are guarded by this object.
  private final Map<String, Future<?>> lastOfMachine = new HashMap<>();
  private final Set<Promise<?>> underWay = new HashSet<>();
  private boolean closed;

  /**
   * A provider ready to work; no machine is contacted yet.
   *
   * @throws IllegalArgumentException when the identity file holds no usable key
   * @throws java.io.UncheckedIOException when it cannot be read
   */
  public SshNodes(Vertx vertx, SshConfig config) {
    this.vertx = vertx;
    this.config = config;
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
        () -> TargetScript.provision(config, nodeId, allocationId, publicKeys));
  }

  @Override
  public Future<Void> reclaim(Machine machine, String allocationId) {
    String nodeId = machine.nodeId();
    return inTurn(
        machine,
        allocationId,
        nodeId + ": reclaim",
        () -> TargetScript.reclaim(config, nodeId, allocationId));
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
      Machine machine, String allocationId, String call, Supplier<TargetScript> script) {
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
        return Future.failedFuture(NodeFailure.passing(call + ": too many calls wait already"));
      }
      underWay.add(answer);
      before = lastOfMachine.getOrDefault(nodeId, Future.succeededFuture());
      lastOfMachine.put(nodeId, turn.future());
    }
    turn.future()
        .onComplete(
            result -> {
              synchronized (this) {
                lastOfMachine.remove(nodeId, turn.future());
              }
              deliver(context, answer, turn.future());
            });
    before.onComplete(ignored -> attempt(machine, call, script.get(), 1, turn));
    return answer.future();
  }

  private void attempt(
      Machine machine, String call, TargetScript script, int number, Promise<Void> turn) {
    onPool(call, () -> run(machine, call, script))
        .onSuccess(result -> turn.complete())
        .onFailure(
            e -> {
              boolean again =
                  e instanceof NodeFailure failure
                      && failure.isPassing()
                      && number < config.attempts()
                      && !isClosed();
              LOG.warn("{}, attempt {}{}", e.getMessage(), number, again ? ", to be retried" : "");
              if (again) {
                vertx.setTimer(
                    config.retryDelayMillis() << (number - 1),
                    timer -> attempt(machine, call, script, number + 1, turn));
              } else {
                turn.fail(e);
              }
            });
  }

  private void askNext(Queue<Machine> rest, List<Holding> answers, Runnable done) {
    Machine machine = rest.poll();
    if (machine == null || isClosed()) {
      done.run();
      return;
    }
    onPool(machine.nodeId() + ": held", () -> ask(machine))
        .onSuccess(answers::add)
        .onFailure(e -> LOG.warn("{}; taken as not to be asked", e.getMessage()))
        .onComplete(result -> askNext(rest, answers, done));
  }

  private Holding ask(Machine machine) {
    String nodeId = machine.nodeId();
    String call = nodeId + ": held";
    if (!SshConfig.isNodeId(nodeId)) {
      throw NodeFailure.lasting(call + ": not a usable node id");
    }
    String output = run(machine, call, TargetScript.held(config, nodeId)).output();
    String mark =
        output
            .lines()
            .filter(line -> line.startsWith(TargetScript.MARK))
            .map(line -> line.substring(TargetScript.MARK.length()))
            .findFirst()
            .orElseThrow(() -> NodeFailure.lasting(call + ": the machine did not name its mark"));
    if (!mark.isEmpty() && !ALLOCATION.matcher(mark).matches()) {
      throw NodeFailure.lasting(call + ": the mark is not an allocation id");
    }
    return new Holding(nodeId, mark.isEmpty() ? null : mark);
  }

  private PinnedSsh.Result run(Machine machine, String call, TargetScript script) {
    PinnedSsh.Result result = ssh.run(machine, script);
    LOG.debug("{}: status {}: {}", call, result.status(), logged(result.output()));
    if (result.status() != 0) {
      LOG.warn("{}: status {}: {}", call, result.status(), logged(result.errors()));
      throw TargetScript.failure(call, result.status());
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
            } catch (RuntimeException e) {
              LOG.error("{}: unexpected", call, e);
              promise.fail(NodeFailure.lasting(call + ": " + e));
            }
          });
    } catch (RejectedExecutionException e) {
      promise.fail(isClosed() ? closedFailure() : NodeFailure.passing(call + ": the pool is full"));
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

  private synchronized boolean isClosed() {
    return closed;
  }

  private static void countDown(AtomicInteger open, Runnable finish) {
    if (open.decrementAndGet() == 0) {
      finish.run();
    }
  }

  private static NodeFailure closedFailure() {
    return NodeFailure.passing("the node provider is closed");
  }

  /** A machine's output as one line of a log. */
  private static String logged(String output) {
    String shown =
        output.length() > MAX_LOGGED_CHARS ? output.substring(0, MAX_LOGGED_CHARS) : output;
    return shown.strip().replaceAll("\\p{Cntrl}+", " ");
  }
}
