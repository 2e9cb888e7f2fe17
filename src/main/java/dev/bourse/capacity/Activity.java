package dev.bourse.capacity;

import org.jspecify.annotations.Nullable;

/**
 * One entry of a cluster's activity.
 *
 * @param actor the actor that caused the event
 * @param event the event
 */
public record Activity(String actor, ClusterEvent event) {
  /** The actor of entries that the market causes. */
  static final String MARKET = "system:market";

  /** The actor of entries that billing causes. */
  static final String BILLING = "system:billing";

  /** Returns the entry of a declaration by the organization or on its behalf. */
  public static Activity declared(String actor, Declaration declared) {
    return new Activity(
        actor,
        new ClusterEvent.Declared(
            declared.maxGpus(), declared.ceilingCents(), null, declared.effectiveAtMillis()));
  }

  /** Returns the entry of a declaration that lapsed. */
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

  /** Returns {@code request} for a declaration, {@code action} for all other events. */
  public String kind() {
    return event instanceof ClusterEvent.Declared ? "request" : "action";
  }

  /** Returns {@code system} if the market, billing or an operator caused it, else {@code user}. */
  public String who() {
    return actor.startsWith("system:") ? "system" : "user";
  }
}
