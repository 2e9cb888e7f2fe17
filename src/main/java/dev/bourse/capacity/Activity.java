package dev.bourse.capacity;

import org.jspecify.annotations.Nullable;

/**
 * One entry of a cluster's activity.
 *
 * @param actor who caused it
 * @param event what happened
 */
public record Activity(String actor, ClusterEvent event) {
  /** The actor of what the market does by itself. */
  static final String MARKET = "system:market";

  /** The actor of what billing does by itself. */
  static final String BILLING = "system:billing";

  /** A declaration, of the organization or in its name. */
  public static Activity declared(String actor, Declaration declared) {
    return new Activity(
        actor,
        new ClusterEvent.Declared(
            declared.maxGpus(), declared.ceilingCents(), null, declared.effectiveAtMillis()));
  }

  /** What is left of a declaration that came to its end by itself. */
  static Activity lapsed(Declaration left, Allocation.Reason reason) {
    return new Activity(
        MARKET,
        new ClusterEvent.Declared(0, left.ceilingCents(), reason, left.effectiveAtMillis()));
  }

  static Activity granted(Allocation node) {
    return new Activity(MARKET, new ClusterEvent.Granted(node.publicIp()));
  }

  static Activity released(String actor, Allocation node, Allocation.Reason reason) {
    return new Activity(actor, new ClusterEvent.Released(node.publicIp(), reason));
  }

  static Activity noticed(Allocation node, Allocation.Notice notice) {
    return new Activity(
        MARKET,
        new ClusterEvent.NoticeGiven(node.publicIp(), notice.reason(), notice.endsAtMillis()));
  }

  static Activity unwound(Allocation node, String cause) {
    return new Activity(MARKET, new ClusterEvent.Unwound(node.publicIp(), cause));
  }

  static Activity held(@Nullable Hold hold) {
    return new Activity(
        BILLING,
        hold == null
            ? new ClusterEvent.HoldLifted()
            : new ClusterEvent.HoldPlaced(hold.stage(), hold.reason()));
  }

  /** {@code request} for a declaration, {@code action} for what was done to the cluster. */
  public String kind() {
    return event instanceof ClusterEvent.Declared ? "request" : "action";
  }

  /** {@code user} for what the organization itself caused, {@code system} for all else. */
  public String who() {
    return actor.startsWith("system:") ? "system" : "user";
  }
}
