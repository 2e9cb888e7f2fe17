package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import org.jspecify.annotations.Nullable;

/**
 * A node as operators see it.
 *
 * @param publicIp where tenants reach it
 * @param sshPort where its ssh server listens
 * @param hostKey its ssh host key; null for a simulated machine
 * @param cluster the one that holds it or is being relieved of it; null when none is
 * @param failures times in a row it could not be prepared
 * @param backingOffUntilMillis until when it is left alone; null when it is not
 * @param quarantinedAtMillis since when it waits for an operator; null when it does not
 * @param uncleanAfter the allocation it could not be cleaned after, when that is why it waits
 * @param lastSeenMillis when it last answered; null when it never did
 * @param lastError why it did not when it was last tried; null when it did
 * @param retiredAtMillis since when it is retired; null while it is not
 */
public record NodeView(
    String nodeId,
    String pool,
    String publicIp,
    int sshPort,
    @Nullable String hostKey,
    State state,
    @Nullable String cluster,
    boolean cordoned,
    int failures,
    @Nullable Long backingOffUntilMillis,
    @Nullable Long quarantinedAtMillis,
    @Nullable String uncleanAfter,
    @Nullable Long lastSeenMillis,
    @Nullable String lastError,
    long createdAtMillis,
    @Nullable Long retiredAtMillis) {

  /** What becomes of a node, in one word. */
  public enum State {
    /** Its machine is gone for good. */
    RETIRED,
    /** A cluster holds it. */
    HELD,
    /** It is being cleaned after a cluster held it. */
    RECLAIMING,
    /** It failed too often and waits for an operator. */
    QUARANTINED,
    /** An operator keeps it out of the market. */
    CORDONED,
    /** It failed and is left alone for a while. */
    BACKING_OFF,
    /** It did not answer when it was last tried. */
    UNREACHABLE,
    /** The next tick may grant it. */
    FREE
  }

  static NodeView of(NodeStore.StoredNode stored, long nowMillis) {
    Node node = stored.node();
    NodeStore.Holder holder = stored.holder();
    return new NodeView(
        node.nodeId(),
        stored.pool(),
        node.machine().publicIp(),
        node.machine().sshPort(),
        node.machine().hostKey(),
        state(stored, nowMillis),
        holder == null ? null : holder.cluster(),
        node.cordoned(),
        node.failures(),
        node.isLeftAlone(nowMillis) ? node.usableAfterMillis() : null,
        node.quarantinedAtMillis(),
        node.uncleanAfter(),
        stored.lastSeenMillis(),
        stored.lastError(),
        stored.createdAtMillis(),
        stored.retiredAtMillis());
  }

  private static State state(NodeStore.StoredNode stored, long nowMillis) {
    Node node = stored.node();
    if (stored.retiredAtMillis() != null) {
      return State.RETIRED;
    }
    if (stored.holder() != null) {
      return stored.holder().state() == Allocation.State.RECLAIMING ? State.RECLAIMING : State.HELD;
    }
    if (node.quarantinedAtMillis() != null) {
      return State.QUARANTINED;
    }
    if (node.cordoned()) {
      return State.CORDONED;
    }
    if (node.isLeftAlone(nowMillis)) {
      return State.BACKING_OFF;
    }
    return node.isUnreachable() ? State.UNREACHABLE : State.FREE;
  }
}
