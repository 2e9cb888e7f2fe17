package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.core.Times;
import dev.bourse.nodes.Machine;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The view of a node for operators. */
public final class NodeView {
  private final NodeStore.StoredNode stored;
  private final long nowMillis;

  NodeView(NodeStore.StoredNode stored, long nowMillis) {
    this.stored = stored;
    this.nowMillis = nowMillis;
  }

  /** The state of a node. */
  public enum State {
    /** Its machine has left for good. */
    RETIRED,
    /** A cluster holds it. */
    HELD,
    /** It is being cleaned after a cluster held it. */
    RECLAIMING,
    /** It is being reimaged, because its last tenant could become root. */
    REIMAGING,
    /** It failed too often and waits for an operator. */
    QUARANTINED,
    /** An operator keeps it out of the market. */
    CORDONED,
    /** It failed and backs off. */
    BACKING_OFF,
    /** It did not answer the last attempt. */
    UNREACHABLE,
    /** The next tick may grant it. */
    FREE;

    /** Returns the name in the operators' contract. */
    String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the state with this name in the contract. */
    public static State of(String label) {
      return valueOf(label.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
  }

  String pool() {
    return stored.pool();
  }

  boolean isRetired() {
    return stored.retiredAtMillis() != null;
  }

  Machine machine() {
    return stored.machine();
  }

  int failures() {
    return stored.node().failures();
  }

  @Nullable String hostKey() {
    return stored.machine().hostKey();
  }

  public State state() {
    Node node = stored.node();
    if (isRetired()) {
      return State.RETIRED;
    }
    if (stored.holder() != null) {
      return stored.holder().state() == Allocation.State.RECLAIMING
          ? node.reimage() == null ? State.RECLAIMING : State.REIMAGING
          : State.HELD;
    }
    if (node.quarantinedAtMillis() != null) {
      return State.QUARANTINED;
    }
    if (node.reimage() != null) {
      return State.REIMAGING;
    }
    if (node.cordoned()) {
      return State.CORDONED;
    }
    if (node.isLeftAlone(nowMillis)) {
      return State.BACKING_OFF;
    }
    return node.isUnreachable() ? State.UNREACHABLE : State.FREE;
  }

  private @Nullable JsonObject health() {
    Reachability.HealthRecord examined = stored.examined();
    return examined == null
        ? null
        : new JsonObject()
            .put("state", examined.health().state().name().toLowerCase(Locale.ROOT))
            .put("since", Times.rfc3339(examined.sinceMillis()))
            .put("reasons", new JsonArray(examined.health().reasons()));
  }

  /** Returns the node as the operators' contract defines it. */
  public JsonObject toJson() {
    Node node = stored.node();
    NodeStore.Holder holder = stored.holder();
    return new JsonObject()
        .put("node_id", node.nodeId())
        .put("pool", stored.pool())
        .put("public_ip", node.machine().publicIp())
        .put("ssh_port", node.machine().sshPort())
        .put("host_key", node.machine().hostKey())
        .put("state", state().label())
        .put("cluster", holder == null ? null : holder.cluster())
        .put("cordoned", node.cordoned())
        .put("failures", node.failures())
        .put(
            "backing_off_until",
            node.isLeftAlone(nowMillis) ? Times.rfc3339(node.usableAfterMillis()) : null)
        .put("quarantined_since", Times.rfc3339OrNull(node.quarantinedAtMillis()))
        .put("quarantine_reason", node.quarantineReason())
        .put("unclean_after", node.uncleanAfter())
        .put("health", health())
        .put("baseline", node.machine().baseline())
        .put("last_seen", Times.rfc3339OrNull(stored.lastSeenMillis()))
        .put("last_error", stored.lastError())
        .put("created_at", Times.rfc3339(stored.createdAtMillis()))
        .put("retired_at", Times.rfc3339OrNull(stored.retiredAtMillis()));
  }
}
