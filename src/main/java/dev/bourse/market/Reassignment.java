package dev.bourse.market;

import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.MachineTerms;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.nodes.NodeProvider;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

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
 *
 * <p>A mark of which the store knows nothing proves a grant that the database lost, and its tenant
 * may be on the machine. Such a machine is not cleaned before an operator retries the node; see
 * {@link LostGrants}. Used on one context.
 */
final class Reassignment {
  private final NodeProvider provider;
  private final NodeStore store;
  private final Handovers handovers;

  /** What becomes of a machine between two tenants besides its cleaning. */
  interface Handovers {
    /** Stores the record of a reclaim that succeeded. */
    Future<Void> cleaned(String nodeId, String allocationId, Cleaning cleaning);

    /** True if a machine is given a new image instead of being cleaned. */
    default boolean isReimaged(String nodeId) {
      return false;
    }

    /** Gives a machine that nobody has a new image. */
    default Future<Void> reimage(String nodeId, String allocationId) {
      throw new UnsupportedOperationException(nodeId);
    }

    /**
     * True if the database cannot have lost a grant of a machine since the last that it knows, or
     * if an operator retried the machine since it was last left.
     */
    default Future<Boolean> isCertain(String nodeId) {
      return Future.succeededFuture(true);
    }

    /** Stores that a machine is left as it is for an allocation that the store does not know. */
    Future<Void> left(String nodeId, String allocationId);

    /** Clears the lost grants of a machine, if some are stored. */
    Future<Void> known(String nodeId);

    /** Returns the allocation for which a machine was left and waits for an operator's retry. */
    Optional<String> unknownMark(String nodeId);

    /** True if an operator allowed to wipe a machine of an allocation that the store lost. */
    boolean mayWipe(String nodeId, String allocationId);
  }

  Reassignment(NodeProvider provider, NodeStore store, Handovers handovers) {
    this.provider = provider;
    this.store = store;
    this.handovers = handovers;
  }

  /** Prepares a machine for an allocation; a mark that is nobody's is cleared away first. */
  Future<Void> provision(
      Machine machine, String allocationId, List<String> publicKeys, MachineTerms terms) {
    return provider
        .provision(machine, allocationId, publicKeys, terms)
        .recover(
            e ->
                clearOther(machine, e)
                    .compose(
                        clean -> provider.provision(machine, allocationId, publicKeys, terms)));
  }

  /** Takes a machine back from an allocation; from nobody's mark too. */
  Future<Void> reclaim(Machine machine, String allocationId) {
    return cleanAndRecord(machine, allocationId)
        .compose(clean -> handovers.known(machine.nodeId()))
        .recover(e -> clearOther(machine, e));
  }

  /**
   * Takes a machine back from the allocation it is marked for, if that is gone. Fails as
   * {@linkplain NodeFailureException#isUnfit() unfit} if the store does not know the allocation.
   *
   * @return whether it was gone; else the machine is left as it is
   */
  Future<Boolean> clear(Machine machine, String mark) {
    return store
        .findClaim(machine.nodeId(), mark)
        .compose(
            claim ->
                switch (claim) {
                  case HELD -> handovers.known(machine.nodeId()).map(false);
                  case ENDED -> wipe(machine, mark);
                  case UNKNOWN -> clearUnknown(machine, mark);
                });
  }

  private Future<Boolean> clearUnknown(Machine machine, String mark) {
    String nodeId = machine.nodeId();
    if (handovers.mayWipe(nodeId, mark)) {
      return wipe(machine, mark);
    }
    return mark(machine)
        .compose(
            found -> {
              // A tenant with root rights can remove the mark, so its absence proves nothing.
              if (found.equals(Optional.of(mark))
                  || (found.isEmpty() && handovers.isReimaged(nodeId))) {
                return leave(nodeId, mark);
              }
              // An operator reinstalled the machine or cleaned it by hand.
              return handovers
                  .known(nodeId)
                  .compose(
                      known ->
                          found.isEmpty()
                              ? Future.succeededFuture(true)
                              : Future.failedFuture(
                                  NodeFailureException.heldByAnother(
                                      "it holds allocation " + found.get())));
            });
  }

  private <T> Future<T> leave(String nodeId, String mark) {
    return leave(
        nodeId,
        mark,
        "it is prepared for allocation %s, which the database does not know, as after a"
            + " fail-over that lost the grant");
  }

  /**
   * @param why with a place for the allocation
   */
  private <T> Future<T> leave(String nodeId, String allocationId, String why) {
    NodeFailureException unfit =
        NodeFailureException.unfit(
            (why
                    + ": its tenant may use it, and nothing was wiped. Retry the node to have it"
                    + " wiped")
                .formatted(allocationId));
    return handovers.left(nodeId, allocationId).compose(noted -> Future.failedFuture(unfit));
  }

  /**
   * Fails as {@linkplain NodeFailureException#isUnfit() unfit} if a machine is marked for an
   * allocation that the store does not know, unless an operator allowed to wipe it. A machine that
   * names no allocation passes unless it was left before, because its tenant may keep it from
   * answering. It does not pass either if the database may have lost its tenant's grant.
   *
   * @param allocationId the allocation that the store has for it
   */
  Future<Void> requireKnown(Machine machine, String allocationId) {
    String nodeId = machine.nodeId();
    return mark(machine)
        .otherwise(Optional.empty())
        .compose(
            found -> {
              Optional<String> mark = found.or(() -> handovers.unknownMark(nodeId));
              if (mark.isEmpty() || (found.isEmpty() && mark.get().equals(allocationId))) {
                return requireCertain(nodeId, allocationId);
              }
              return handovers.mayWipe(nodeId, mark.get())
                  ? Future.<Void>succeededFuture()
                  : store
                      .findClaim(nodeId, mark.get())
                      .compose(
                          claim ->
                              claim == NodeStore.Claim.UNKNOWN
                                  ? leave(nodeId, mark.get())
                                  : handovers.known(nodeId));
            });
  }

  private Future<Void> requireCertain(String nodeId, String allocationId) {
    return handovers.mayWipe(nodeId, allocationId)
        ? Future.succeededFuture()
        : handovers
            .isCertain(nodeId)
            .compose(
                isCertain ->
                    isCertain
                        ? Future.succeededFuture()
                        : leave(
                            nodeId,
                            allocationId,
                            "it does not say that it is prepared for allocation %s, and the"
                                + " database may have lost a later grant in a fail-over"));
  }

  private Future<Boolean> wipe(Machine machine, String mark) {
    String nodeId = machine.nodeId();
    Future<Void> wiped =
        handovers.isReimaged(nodeId)
            ? handovers.reimage(nodeId, mark)
            : cleanAndRecord(machine, mark);
    return wiped.compose(clean -> handovers.known(nodeId)).map(true);
  }

  private Future<Void> cleanAndRecord(Machine machine, String allocationId) {
    return provider
        .reclaim(machine, allocationId)
        .compose(cleaning -> handovers.cleaned(machine.nodeId(), allocationId, cleaning));
  }

  /**
   * Fails as the call did unless another's mark was in its way and could be cleared. A machine that
   * is reimaged has another host key afterwards, so the call does not wait for that.
   */
  private Future<Void> clearOther(Machine machine, Throwable failure) {
    if (!(failure instanceof NodeFailureException refused && refused.isHeldByAnother())
        || handovers.isReimaged(machine.nodeId())) {
      return Future.failedFuture(failure);
    }
    return mark(machine)
        .compose(
            found -> found.map(mark -> clear(machine, mark)).orElse(Future.succeededFuture(true)))
        .compose(
            isClean -> isClean ? Future.succeededFuture() : Future.<Void>failedFuture(failure));
  }

  /** Asks a machine for which allocation it is marked; fails if it does not answer. */
  private Future<Optional<String>> mark(Machine machine) {
    return provider
        .held(List.of(machine))
        .map(
            holdings -> {
              if (holdings.isEmpty()) {
                throw NodeFailureException.passing("what it holds is not known");
              }
              return Optional.ofNullable(holdings.get(0).allocationId());
            });
  }
}
