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
 * Machines that exist in memory only. Every call takes its delay and then succeeds, or fails at the
 * configured rate. Their state ends with the process.
 */
public final class SimulatedNodes implements NodeProvider {
  /** Usable hosts of 198.18.0.0/15, the benchmarking network of RFC 2544. */
  public static final int ADDRESSES = (1 << 17) - 2;

  private static final int NETWORK = 198 << 24 | 18 << 16;

  private final Vertx vertx;
  private final SimulatedConfig config;
  private final RandomGenerator random;

  // This object guards all fields below and the random source.
  private final Map<String, String> marks = new HashMap<>();

  /** The allocation that each machine was last reclaimed from; it is never provisioned again. */
  private final Map<String, String> ended = new HashMap<>();

  /** The last notice of each machine's holder. */
  private final Map<String, Delivery> deliveries = new HashMap<>();

  private record Delivery(NodeNotice notice, long sequence) {}

  private final Set<Promise<Void>> callsInProgress = new HashSet<>();
  private boolean closed;

  /**
   * Machines that are clean at the start.
   *
   * @param random the source of failures; used by one thread at a time
   */
  public SimulatedNodes(Vertx vertx, SimulatedConfig config, RandomGenerator random) {
    this.vertx = vertx;
    this.config = config;
    this.random = random;
  }

  /**
   * Returns the address of a simulated machine.
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
                machine.nodeId() + " was reclaimed from allocation " + allocationId);
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
              deliveries.remove(machine.nodeId());
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
    Delivery known = deliveries.get(nodeId);
    return new Holding(nodeId, marks.get(nodeId), known == null ? null : known.notice());
  }

  /** Returns unknown health, because simulated machines have no hardware. */
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
              Delivery known = deliveries.get(machine.nodeId());
              if (known == null || known.sequence() < sequence) {
                deliveries.put(machine.nodeId(), new Delivery(notice, sequence));
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

  /** Always succeeds. */
  @Override
  public Future<Void> probe(Machine machine) {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> close() {
    List<Promise<Void>> ended;
    synchronized (this) {
      closed = true;
      ended = List.copyOf(callsInProgress);
      callsInProgress.clear();
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
      callsInProgress.add(promise);
    }
    // Vert.x rejects a timer of 0 ms; 1 ms also keeps the answer off the caller's stack.
    vertx.setTimer(Math.max(1, delayMillis), timer -> complete(promise, call, change));
    return promise.future();
  }

  private void complete(Promise<Void> promise, String call, Runnable change) {
    @Nullable NodeFailureException failure = null;
    synchronized (this) {
      if (!callsInProgress.remove(promise)) {
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
    // Outside the lock, because the promise's handlers may call this object.
    if (failure == null) {
      promise.complete();
    } else {
      promise.fail(failure);
    }
  }
}
