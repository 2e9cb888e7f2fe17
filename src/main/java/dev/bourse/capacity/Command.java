package dev.bourse.capacity;

/** A change that a cluster's owner applies. Pure: it may be applied again to a newer state. */
@FunctionalInterface
public interface Command {
  /**
   * Returns the change of the state in force.
   *
   * @throws dev.bourse.core.ApiException if the change is rejected; nothing is written then
   */
  Transition apply(Cluster cluster, long nowMillis);
}
