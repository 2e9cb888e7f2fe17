package dev.bourse.nodes;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Machines that exist in memory alone: every call takes its delay and then succeeds or, at the
 * configured rate, fails. What they hold is forgotten when the process ends.
 */
public final class SimulatedNodes implements NodeProvider {
  /** Usable hosts of 198.18.0.0/15, the benchmarking network of RFC 2544. */
  public static final int ADDRESSES = (1 << 17) - 2;

  private static final int NETWORK = 198 << 24 | 18 << 16;

  private final Vertx vertx;
  private final SimulatedConfig config;
  private final RandomGenerator random;

  // All below, and the random source, are guarded by this object.
  private final Map<String, String> marks = new HashMap<>();

  /** By machine, the allocation it was last taken back from, which never comes back. */
  private final Map<String, String> ended = new HashMap<>();

  /** By machine, the last notice of its holder. */
  private final Map<String, Told> told = new HashMap<>();

  private record Told(NodeNotice notice, long sequence) {}

  private final Set<Promise<Void>> underWay = new HashSet<>();
  private boolean closed;

  /**
   * Machines that all start out clean.
   *
   * @param random where failures come from; used by one thread at a time
   */
  public SimulatedNodes(Vertx vertx, SimulatedConfig config, RandomGenerator random) {
    this.vertx = vertx;
    this.config = config;
    this.random = random;
  }

  /**
   * The address of a simulated machine.
   *
   * @param index 0 to {@link #ADDRESSES} − 1
   */
  public static String address(int index) {
    if (index < 0 || index >= ADDRESSES) {
      throw new IllegalArgumentException("index " + index + " is not in 0.." + (ADDRESSES - 1));
    }
    int bits = NETWORK + 1 + index;
    return (bits >>> 24) + "." + (bits >> 16 & 255) + "." + (bits >> 8 & 255) + "." + (bits & 255);
  }

  @Override
  public Future<Void> provision(
      Machine machine, String allocationId, List<String> publicKeys, MachineTerms terms) {
    return later(
        config.provisionDelayMillis(),
        "provision " + machine.nodeId(),
        () -> {
          requireNoOther(machine, allocationId);
          if (allocationId.equals(ended.get(machine.nodeId()))) {
            throw NodeFailureException.heldByAnother(
                machine.nodeId() + " was taken back from allocation " + allocationId);
          }
          marks.put(machine.nodeId(), allocationId);
        });
  }

  @Override
  public Future<Cleaning> reclaim(Machine machine, String allocationId) {
    return later(
            config.reclaimDelayMillis(),
            "reclaim " + machine.nodeId(),
            () -> {
              requireNoOther(machine, allocationId);
              marks.remove(machine.nodeId());
              told.remove(machine.nodeId());
              ended.put(machine.nodeId(), allocationId);
            })
        .map(Cleaning.UNRECORDED);
  }

  private void requireNoOther(Machine machine, String allocationId) {
    String holder = marks.get(machine.nodeId());
    if (holder != null && !holder.equals(allocationId)) {
      throw NodeFailureException.heldByAnother(machine.nodeId() + " holds allocation " + holder);
    }
  }

  @Override
  public synchronized Future<List<Holding>> held(List<Machine> machines) {
    return Future.succeededFuture(machines.stream().map(m -> holding(m.nodeId())).toList());
  }

  private Holding holding(String nodeId) {
    Told known = told.get(nodeId);
    return new Holding(nodeId, marks.get(nodeId), known == null ? null : known.notice());
  }

  /** A machine that exists in memory alone has no hardware to check. */
  @Override
  public Future<Examination> examine(Machine machine, MachineTerms terms) {
    return held(List.of(machine)).map(held -> new Examination(held.get(0), Health.UNKNOWN, null));
  }

  @Override
  public Future<Long> deliverNotice(
      Machine machine, String allocationId, NodeNotice notice, long sequence) {
    AtomicLong kept = new AtomicLong(sequence);
    return later(
            1,
            "notice " + machine.nodeId(),
            () -> {
              if (!allocationId.equals(marks.get(machine.nodeId()))) {
                throw NodeFailureException.heldByAnother(
                    machine.nodeId() + " does not hold allocation " + allocationId);
              }
              Told known = told.get(machine.nodeId());
              if (known == null || known.sequence() < sequence) {
                told.put(machine.nodeId(), new Told(notice, sequence));
              } else if (!known.notice().equals(notice)) {
                kept.set(known.sequence());
              }
            })
        .map(done -> kept.get());
  }

  @Override
  public Future<BaselineReview> reviewBaseline(Machine machine) {
    return Future.failedFuture(NodeFailureException.lasting(machine.nodeId() + " is simulated"));
  }

  @Override
  public Future<Void> acceptBaseline(Machine machine, String digest) {
    return Future.failedFuture(NodeFailureException.lasting(machine.nodeId() + " is simulated"));
  }

  /** A machine that exists in memory alone is always there. */
  @Override
  public Future<Void> probe(Machine machine) {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> close() {
    List<Promise<Void>> ended;
    synchronized (this) {
      closed = true;
      ended = List.copyOf(underWay);
      underWay.clear();
    }
    ended.forEach(
        promise -> promise.tryFail(NodeFailureException.busy("the node provider is closed")));
    return Future.succeededFuture();
  }

  private Future<Void> later(long delayMillis, String call, Runnable change) {
    Promise<Void> promise = Promise.promise();
    synchronized (this) {
      if (closed) {
        return Future.failedFuture(NodeFailureException.busy("the node provider is closed"));
      }
      underWay.add(promise);
    }
    // A timer of 0 ms is refused; 1 ms keeps the answer off the caller's stack all the same.
    vertx.setTimer(Math.max(1, delayMillis), timer -> land(promise, call, change));
    return promise.future();
  }

  private void land(Promise<Void> promise, String call, Runnable change) {
    @Nullable NodeFailureException failure = null;
    synchronized (this) {
      if (!underWay.remove(promise)) {
        return;
      }
      try {
        if (random.nextDouble() < config.failureRate()) {
          throw NodeFailureException.passing(call + ": simulated failure");
        }
        change.run();
      } catch (NodeFailureException e) {
        failure = e;
      }
    }
    // Whoever waits is told outside the lock, for it may call back in.
    if (failure == null) {
      promise.complete();
    } else {
      promise.fail(failure);
    }
  }
}
