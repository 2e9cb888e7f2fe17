package dev.bourse.nodes;

import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The port to the machines. Every call is idempotent and ends within the provider's own timeout.
 * Failures are {@link NodeFailureException}s. If a machine holds another allocation, the failure is
 * {@linkplain NodeFailureException#isHeldByAnother() of its own kind}.
 *
 * <p>The work of a call on a machine may outlive the process that called. A call that finds such
 * work waits for its end; if it is the same call, it returns the result of that work. A call never
 * fails only because other work is in progress.
 */
public interface NodeProvider {

  /**
   * Prepares a machine for a tenant: installs exactly these keys, runs the prepare command, and
   * marks the machine with the allocation. When the future succeeds, the tenant can log in; a node
   * of a Kubernetes cluster has joined it, because the prepare command makes it join. If the
   * machine is marked for another allocation, the call changes nothing and fails; reclaim the
   * machine from that allocation first, also after a provision that failed. The call also fails for
   * an allocation that the machine was reclaimed from, so that a late call gives no access.
   *
   * <p>If the machine's hardware has a fault, the call fails as {@linkplain
   * NodeFailureException#isUnfit() unfit} before it installs a key.
   *
   * @param publicKeys SSH public key lines; an empty list prepares the machine without keys, and
   *     keeps the keys that an earlier call for the allocation installed
   * @param terms the pool's terms, with the ids of the grant
   */
  Future<Void> provision(
      Machine machine, String allocationId, List<String> publicKeys, MachineTerms terms);

  /**
   * Reclaims a machine from an allocation: ends the tenant's sessions, removes its keys, wipes its
   * data, and clears the mark. When the future succeeds, only the operator can log in. A machine
   * without a mark is cleaned too. If the machine is marked for another allocation, the call
   * changes nothing and fails, because it may be a late call. If the machine differs from its
   * accepted baseline, the call fails as {@linkplain NodeFailureException#isUnfit() unfit} and the
   * mark stays.
   */
  Future<Cleaning> reclaim(Machine machine, String allocationId);

  /** Returns the range of {@link MachineTerms#ids}; empty if grants need no ids. */
  default Optional<IdRange> idRange() {
    return Optional.empty();
  }

  /**
   * Returns how long a new image of a machine may take, including the machine's start. Empty if a
   * tenant with root rights can leave nothing on a machine, so that it needs no new image.
   */
  default OptionalLong reimageTimeoutMillis() {
    return OptionalLong.empty();
  }

  /** True if machines can be given a new image; otherwise {@link #reimage} fails as unfit. */
  default boolean canReimage() {
    return false;
  }

  /**
   * Gives a machine a new image and returns its new host key, which does not come from the machine.
   * The call may be repeated with the same {@linkplain ReimageOrder#id() id}. It fails as unfit
   * when the time is up.
   */
  default Future<String> reimage(Machine machine, ReimageOrder order) {
    return Future.failedFuture(
        NodeFailureException.unfit(machine.nodeId() + " cannot be reimaged"));
  }

  /**
   * Returns the allocations that machines hold, for reconciliation. The answer leaves out machines
   * that cannot be reached; the call fails only if no machine answers.
   */
  Future<List<Holding>> held(List<Machine> machines);

  /**
   * Reads the allocation that a machine holds and checks its hardware. The call does not disturb a
   * tenant, does not wait for the turns of other calls, and takes minutes at most if the machine's
   * driver hangs. A machine that holds no allocation takes its first baseline.
   */
  Future<Examination> examine(Machine machine, MachineTerms terms);

  /**
   * Succeeds if the machine has the host key of the inventory and accepts the provider's login. The
   * call changes nothing, does not wait for the turns of other calls, and takes seconds at most.
   */
  Future<Void> probe(Machine machine);

  /**
   * Delivers a notice to the tenant's programs on a machine: writes a file, sends signals, and
   * starts the tenant's own program without waiting for it. The call does not wait for the turns of
   * other calls, is not retried, and never delays a reclaim. The machine ignores a notice that it
   * has delivered already, and a different one whose sequence is not above the last. The call fails
   * if the machine does not hold the allocation.
   *
   * @param sequence orders the notices of an allocation, in all processes; the same notice of the
   *     same state has the same sequence
   * @return the sequence if the machine delivered this notice, now or before; otherwise the
   *     sequence of the newer notice that it keeps
   */
  Future<Long> deliverNotice(
      Machine machine, String allocationId, NodeNotice notice, long sequence);

  /** Compares a machine's configuration with its accepted baseline. */
  Future<BaselineReview> reviewBaseline(Machine machine);

  /**
   * Accepts a machine's configuration as its baseline.
   *
   * @param digest the digest of the {@linkplain #reviewBaseline review}; the call fails as unfit if
   *     the machine changed since
   */
  Future<Void> acceptBaseline(Machine machine, String digest);

  /** Registers the provider's metrics. Call it once. */
  default void registerMetrics(Signals signals) {}

  /** Fails the calls in progress and closes connections. */
  Future<Void> close();
}
