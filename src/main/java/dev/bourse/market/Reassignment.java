package dev.bourse.market;

import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Hardware;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeFailure;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Future;
import java.util.List;
import java.util.Objects;

/**
 * Takes machines from one allocation to the next, whatever a process that ran the market before, or
 * still believes it does, has left on them.
 *
 * <p>A process may stall between a decision and the call that carries it out, and a machine cannot
 * ask whether its caller still has the lease. So nothing here rests on the lease, nor on what this
 * process remembers of the clusters. An allocation is stored before any machine is marked for it,
 * and one that is gone never comes back. Each call names its allocation, a machine refuses one when
 * it is marked for another, and a mark is somebody's unless the store, asked after the mark was
 * read, says that its allocation is gone.
 */
final class Reassignment {
  private final NodeProvider provider;
  private final NodeStore store;
  private final Recorder recorder;

  /** Stores the record of a reclaim that succeeded. */
  interface Recorder {
    Future<Void> cleaned(String nodeId, String allocationId, Cleaning cleaning);
  }

  Reassignment(NodeProvider provider, NodeStore store, Recorder recorder) {
    this.provider = provider;
    this.store = store;
    this.recorder = recorder;
  }

  /** Prepares a machine for an allocation; a mark that is nobody's is cleared away first. */
  Future<Void> provision(
      Machine machine, String allocationId, List<String> publicKeys, Hardware hardware) {
    return provider
        .provision(machine, allocationId, publicKeys, hardware)
        .recover(
            e ->
                clearOther(machine, e)
                    .compose(
                        clean -> provider.provision(machine, allocationId, publicKeys, hardware)));
  }

  /** Takes a machine back from an allocation; from nobody's mark too. */
  Future<Void> reclaim(Machine machine, String allocationId) {
    return cleanAndRecord(machine, allocationId).recover(e -> clearOther(machine, e));
  }

  /**
   * Takes a machine back from the allocation it is marked for, if that is gone.
   *
   * @return whether it was; else the machine is left as it is
   */
  Future<Boolean> clear(Machine machine, String mark) {
    return store
        .holds(machine.nodeId(), mark)
        .compose(
            isHeld ->
                isHeld ? Future.succeededFuture(false) : cleanAndRecord(machine, mark).map(true));
  }

  private Future<Void> cleanAndRecord(Machine machine, String allocationId) {
    return provider
        .reclaim(machine, allocationId)
        .compose(cleaning -> recorder.cleaned(machine.nodeId(), allocationId, cleaning));
  }

  /** Fails as the call did unless another's mark was in its way and could be cleared. */
  private Future<Void> clearOther(Machine machine, Throwable failure) {
    if (!(failure instanceof NodeFailure refused && refused.isHeldByAnother())) {
      return Future.failedFuture(failure);
    }
    return provider
        .held(List.of(machine))
        .compose(
            holdings ->
                holdings.stream()
                    .map(Holding::allocationId)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .map(mark -> clear(machine, mark))
                    .orElse(Future.succeededFuture(true)))
        .compose(
            isClean -> isClean ? Future.succeededFuture() : Future.<Void>failedFuture(failure));
  }
}
