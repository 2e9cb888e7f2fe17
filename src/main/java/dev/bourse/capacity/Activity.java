package dev.bourse.capacity;

import org.jspecify.annotations.Nullable;

/**
 * One entry of a cluster's activity.
 *
 * @param actor the actor that caused the event
 * @param event the event
 * @param nodeId the id of the event's node, which is its name for a Kubernetes cluster; null
 *     without a node, and for an entry of an earlier release
 */
public record Activity(String actor, ClusterEvent event, @Nullable String nodeId) {
  /** The actor of entries that the market causes. */
  static final String MARKET = "system:market";

  /** The actor of entries that billing causes. */
  static final String BILLING = "system:billing";

  /** An entry without a node. */
  public Activity(String actor, ClusterEvent event) {
    this(actor, event, null);
  }

  /** Returns the market's entry about a node. */
  static Activity of(Allocation node, ClusterEvent event) {
    return new Activity(MARKET, event, node.nodeId());
  }

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
    return of(node, new ClusterEvent.Granted(node.publicIp()));
  }

  static Activity released(String actor, Allocation node, Allocation.Reason reason) {
    return new Activity(actor, new ClusterEvent.Released(node.publicIp(), reason), node.nodeId());
  }

  static Activity noticed(Allocation node, Allocation.Notice notice) {
    return of(
        node,
        new ClusterEvent.NoticeGiven(node.publicIp(), notice.reason(), notice.endsAtMillis()));
  }

  static Activity unwound(Allocation node, String cause) {
    return of(node, new ClusterEvent.Unwound(node.publicIp(), cause));
  }

  static Activity held(@Nullable Hold hold) {
    return new Activity(
        BILLING,
        hold == null
            ? new ClusterEvent.HoldLifted()
            : new ClusterEvent.HoldPlaced(hold.stage(), hold.reason()));
  }

  /** Returns the event as a surface shows it: the Kubernetes surface names nodes by their ids. */
  public ClusterEvent eventOn(Cluster.Kind surface) {
    return switch (surface) {
      case VM -> event;
      case K8S -> event.named(nodeId);
    };
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
