package dev.bourse.nodes;

import io.vertx.core.Future;
import java.util.List;

/**
 * What Bourse asks of the machines. Every call may be repeated with the same arguments and then
 * changes nothing more; every call ends within the provider's own time-out. Failures are {@link
 * NodeFailure}s, and tell when a machine {@linkplain NodeFailure#isHeldByAnother() is another's}.
 */
public interface NodeProvider {

  /**
   * Prepares a machine for a tenant: installs exactly these keys, runs the prepare command, marks
   * the machine with the allocation. When the future succeeds the tenant can log in. A machine that
   * is marked for another allocation is left as it is and the call fails: reclaim it from that one
   * first, also after a provision that failed.
   *
   * @param publicKeys ssh public key lines
   */
  Future<Void> provision(Machine machine, String allocationId, List<String> publicKeys);

  /**
   * Takes a machine back from an allocation: ends the tenant's sessions, removes its keys, wipes
   * its data, clears the mark. When the future succeeds nobody but the operator can log in. A
   * machine without a mark is cleaned all the same; one that is marked for another allocation is
   * left as it is and the call fails, for the call may come late and the machine be somebody else's
   * by now.
   */
  Future<Void> reclaim(Machine machine, String allocationId);

  /**
   * What these machines hold, for reconciliation. A machine that cannot be asked is absent from the
   * answer; the call itself fails only when none of it could be carried out.
   */
  Future<List<Holding>> held(List<Machine> machines);

  /** Ends what is under way and frees connections. */
  Future<Void> close();
}
