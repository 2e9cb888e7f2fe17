package dev.bourse.capacity;

/** A change asked of a cluster's owner. Pure: it may run again on fresher state. */
@FunctionalInterface
public interface Command {
  /**
   * The change, given the state in force.
   *
   * @throws dev.bourse.core.ApiException when the change is refused; nothing is written then
   */
  Transition apply(Cluster cluster, long nowMillis);
}
