package dev.bourse.nodes;

import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What Bourse asks of the machines. Every call may be repeated with the same arguments and then
 * changes nothing more; every call ends within the provider's own time-out. Failures are {@link
 * NodeFailureException}s, and tell when a machine {@linkplain
 * NodeFailureException#isHeldByAnother() is another's}.
 *
 * <p>What a call does on a machine may outlive the process that called. A call that meets such work
 * waits for its end, and when it was the very same call, learns how that ended: that somebody is at
 * work is never a reason to fail.
 */
public interface NodeProvider {

  /**
   * Prepares a machine for a tenant: installs exactly these keys, runs the prepare command, marks
   * the machine with the allocation. When the future succeeds the tenant can log in. A machine that
   * is marked for another allocation is left as it is and the call fails: reclaim it from that one
   * first, also after a provision that failed. So does the call for an allocation that a machine
   * was reclaimed from: it comes late, and lets nobody in.
   *
   * <p>A machine whose hardware has a fault is refused with an {@linkplain
   * NodeFailureException#isUnfit() unfit} failure, before any key is installed.
   *
   * @param publicKeys ssh public key lines; an empty list prepares the machine without keys, and
   *     keeps the keys that an earlier call for the allocation has installed
   * @param terms what the pool promises
   */
  Future<Void> provision(
      Machine machine, String allocationId, List<String> publicKeys, MachineTerms terms);

  /**
   * Takes a machine back from an allocation: ends the tenant's sessions, removes its keys, wipes
   * its data, clears the mark. When the future succeeds nobody but the operator can log in. A
   * machine without a mark is cleaned all the same; one that is marked for another allocation is
   * left as it is and the call fails, for the call may come late and the machine be somebody else's
   * by now. If what root owns on the machine is not what was accepted, the call fails as
   * {@linkplain NodeFailureException#isUnfit() unfit} and the mark stays.
   */
  Future<Cleaning> reclaim(Machine machine, String allocationId);

  /** Returns the ids for {@link MachineTerms#ids}; empty if grants need none. */
  default Optional<IdRange> idRange() {
    return Optional.empty();
  }

  /**
   * Returns how long a new image of a machine may take, including the machine's start. Empty if
   * nothing of a tenant with root rights stays on a machine, so that it needs none.
   */
  default OptionalLong reimageTimeoutMillis() {
    return OptionalLong.empty();
  }

  /** True if machines can be given a new image; otherwise {@link #reimage} fails as unfit. */
  default boolean canReimage() {
    return false;
  }

  /**
   * Gives a machine a new image, and returns its new host key. Nothing of the answer comes from the
   * machine. The call may be repeated with the same {@linkplain ReimageOrder#id() id}. It fails as
   * unfit if the time is up.
   */
  default Future<String> reimage(Machine machine, ReimageOrder order) {
    return Future.failedFuture(
        NodeFailureException.unfit(machine.nodeId() + " cannot be reimaged"));
  }

  /**
   * What these machines hold, for reconciliation. A machine that cannot be asked is absent from the
   * answer; the call itself fails only when none of it could be carried out.
   */
  Future<List<Holding>> held(List<Machine> machines);

  /**
   * Asks one machine what it holds and checks its hardware. Changes nothing for a tenant, waits for
   * no other call's turn and takes at most minutes if the machine's driver hangs. A machine that
   * nobody holds takes its first list of what root owns.
   */
  Future<Examination> examine(Machine machine, MachineTerms terms);

  /**
   * Whether a machine answers at all: succeeds when it is the one that the inventory knows and lets
   * the provider in. Changes nothing on it, waits for no other call's turn and takes seconds at
   * most.
   */
  Future<Void> probe(Machine machine);

  /**
   * Tells the tenant's programs on a machine of a notice: writes a file, sends signals, and starts
   * the tenant's own program without waiting for it. Waits for no other call's turn, is tried once,
   * and never delays a reclaim. The machine ignores a notice that it was told already, and another
   * one whose sequence is not above the last. Fails if the machine does not hold the allocation.
   *
   * @param sequence grows with each call for an allocation, whichever process calls
   * @return the sequence if the machine told this notice, now or before; otherwise that of the
   *     newer notice which it keeps
   */
  Future<Long> deliverNotice(
      Machine machine, String allocationId, NodeNotice notice, long sequence);

  /** Compares what root owns on a machine with what was accepted. */
  Future<BaselineReview> reviewBaseline(Machine machine);

  /**
   * Accepts what root owns on a machine.
   *
   * @param digest of the {@linkplain #reviewBaseline review} that was accepted; the call fails as
   *     unfit if the machine changed since
   */
  Future<Void> acceptBaseline(Machine machine, String digest);

  /** Shows what the provider counts; once. */
  default void registerMetrics(Signals signals) {}

  /** Ends what is under way and frees connections. */
  Future<Void> close();
}
