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
 * Moves machines from one allocation to the next, in any state that an earlier process, or one that
 * believes it still runs the market, has left.
 *
 * <p>A process may stall between a decision and the call that carries it out, and a machine cannot
 * ask whether its caller still has the lease. So this class depends neither on the lease nor on
 * this process's memory of the clusters. An allocation is stored before a machine is marked for it,
 * and an ended allocation never returns. Each call names its allocation, and a machine that is
 * marked for another allocation rejects the call. A mark is valid unless the store, asked after the
 * mark was read, says that its allocation has ended.
 *
 * <p>A mark that the store does not know proves a grant that the database lost, and its tenant may
 * be on the machine. Such a machine is not cleaned before an operator retries the node; see {@link
 * LostGrants}. Used on one context.
 */
final class Reassignment {
  private final NodeProvider provider;
  private final NodeStore store;
  private final Handovers handovers;

  /** Stores and decides the steps of a machine between two tenants besides its cleaning. */
  interface Handovers {
    /** Stores the record of a reclaim that succeeded. */
    Future<Void> recordCleaning(String nodeId, String allocationId, Cleaning cleaning);

    /** Returns true if a machine gets a new image instead of being cleaned. */
    default boolean isReimaged(String nodeId) {
      return false;
    }

    /** Gives a free machine a new image. */
    default Future<Void> reimage(String nodeId, String allocationId) {
      throw new UnsupportedOperationException(nodeId);
    }

    /**
     * Returns true if the database cannot have lost a grant of a machine since the last known one,
     * or if an operator retried the machine since the last lost grant was found.
     */
    default Future<Boolean> isCertain(String nodeId) {
      return Future.succeededFuture(true);
    }

    /**
     * Stores a lost grant: a machine is left unchanged for an allocation that the store does not
     * know.
     */
    Future<Void> recordLostGrant(String nodeId, String allocationId);

    /** Clears the lost grants of a machine, if any are stored. */
    Future<Void> clearLostGrants(String nodeId);

    /** Returns the unknown allocation for which a machine waits for an operator's retry. */
    Optional<String> unknownMark(String nodeId);

    /**
     * Returns true if an operator allowed the market to wipe a machine of an allocation that the
     * store lost.
     */
    boolean mayWipe(String nodeId, String allocationId);
  }

  Reassignment(NodeProvider provider, NodeStore store, Handovers handovers) {
    this.provider = provider;
    this.store = store;
    this.handovers = handovers;
  }

  /** Prepares a machine for an allocation, after clearing the mark of an ended allocation. */
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

  /** Takes a machine back from an allocation, and clears the mark of an ended allocation. */
  Future<Void> reclaim(Machine machine, String allocationId) {
    return cleanAndRecord(machine, allocationId)
        .compose(clean -> handovers.clearLostGrants(machine.nodeId()))
        .recover(e -> clearOther(machine, e));
  }

  /**
   * Takes a machine back from the allocation that it is marked for, if that allocation has ended.
   * Fails as {@linkplain NodeFailureException#isUnfit() unfit} if the store does not know the
   * allocation.
   *
   * @return true if the allocation has ended; false if the machine was left unchanged
   */
  Future<Boolean> clear(Machine machine, String mark) {
    return store
        .findClaim(machine.nodeId(), mark)
        .compose(
            claim ->
                switch (claim) {
                  case HELD -> handovers.clearLostGrants(machine.nodeId()).map(false);
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
                  .clearLostGrants(nodeId)
                  .compose(
                      known ->
                          found.isEmpty()
                              ? Future.succeededFuture(true)
                              : Future.failedFuture(
                                  NodeFailureException.heldByAnother(
                                      "the machine is marked for allocation " + found.get())));
            });
  }

  private <T> Future<T> leave(String nodeId, String mark) {
    return leave(
        nodeId,
        mark,
        "the machine is marked for allocation %s, which the database does not know, as after a"
            + " fail-over that lost the grant");
  }

  /**
   * @param why the error, with a placeholder for the allocation
   */
  private <T> Future<T> leave(String nodeId, String allocationId, String why) {
    NodeFailureException unfit =
        NodeFailureException.unfit(
            (why
                    + ": a tenant may use the machine, so nothing was wiped. Retry the node to"
                    + " wipe it")
                .formatted(allocationId));
    return handovers
        .recordLostGrant(nodeId, allocationId)
        .compose(noted -> Future.failedFuture(unfit));
  }

  /**
   * Fails as {@linkplain NodeFailureException#isUnfit() unfit} if a machine is marked for an
   * allocation that the store does not know, unless an operator allowed the market to wipe it. A
   * machine that names no allocation passes, because its tenant may keep it from answering. It does
   * not pass if it has a lost grant, or if the database may have lost its tenant's grant.
   *
   * @param allocationId the allocation of the machine in the store
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
                                  : handovers.clearLostGrants(nodeId));
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
                            "the machine does not report allocation %s, and the database may"
                                + " have lost a later grant in a fail-over"));
  }

  private Future<Boolean> wipe(Machine machine, String mark) {
    String nodeId = machine.nodeId();
    Future<Void> wiped =
        handovers.isReimaged(nodeId)
            ? handovers.reimage(nodeId, mark)
            : cleanAndRecord(machine, mark);
    return wiped.compose(clean -> handovers.clearLostGrants(nodeId)).map(true);
  }

  private Future<Void> cleanAndRecord(Machine machine, String allocationId) {
    return provider
        .reclaim(machine, allocationId)
        .compose(cleaning -> handovers.recordCleaning(machine.nodeId(), allocationId, cleaning));
  }

  /**
   * Clears another allocation's mark that made a call fail; otherwise fails with the call's
   * failure. A reimaged machine has another host key afterwards, so the call does not wait for the
   * reimage.
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

  /** Reads the mark of a machine; fails if the machine does not answer. */
  private Future<Optional<String>> mark(Machine machine) {
    return provider
        .held(List.of(machine))
        .map(
            holdings -> {
              if (holdings.isEmpty()) {
                throw NodeFailureException.passing("the machine did not report its allocation");
              }
              return Optional.ofNullable(holdings.get(0).allocationId());
            });
  }
}
