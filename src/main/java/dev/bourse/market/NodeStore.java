package dev.bourse.market;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What operators change of nodes' rows, each in one commit with the row that records it. */
final class NodeStore {
  /** The guard of a node's row: there is none of that id, or it is retired. */
  static final String NODE_GUARD = "node is not retired";

  /** The guard of a new node's row: its id or its address is taken. */
  static final String FREE_GUARD = "node id and address are free";

  /** The guard of a node that nobody is to hold: somebody does by now. */
  static final String UNHELD_GUARD = "node is held by nobody";

  private static final String FORGIVEN =
      "failures = 0, usable_after = 0, quarantined_at = NULL, unclean_after = NULL";

  private static final String ANOTHER = "generation = generation + 1";

  private final Database database;

  NodeStore(Database database) {
    this.database = database;
  }

  /** Stores a new node. Fails on {@link #FREE_GUARD}. */
  Future<Void> create(String pool, Machine machine, AuditRow audit) {
    return commit(pool, List.of(MarketStore.insert(pool, machine, audit.atMillis())), audit);
  }

  /**
   * Stores a new node in the place of a retired one of its id. Fails on {@link #FREE_GUARD} when
   * that is not retired, or the address is another node's.
   */
  Future<Void> recreate(String pool, Machine machine, AuditRow audit) {
    return commit(
        pool,
        List.of(
            Statement.guarded(
                FREE_GUARD,
                "UPDATE node SET pool = ?, public_ip = ?, ssh_port = ?, host_key = ?, cordoned = ?,"
                    + " failures = 0, usable_after = 0, quarantined_at = NULL, unclean_after ="
                    + " NULL, created_at = ?, retired_at = NULL, retired_ip = NULL, last_seen ="
                    + " NULL, last_error = NULL, generation = generation + 1 WHERE node_id = ? AND"
                    + " retired_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM node o WHERE"
                    + " o.public_ip = ?)",
                pool,
                machine.publicIp(),
                machine.sshPort(),
                machine.hostKey(),
                false,
                audit.atMillis(),
                machine.nodeId(),
                machine.publicIp())),
        audit);
  }

  /** Keeps a node out of the market, or lets it in again. Fails on {@link #NODE_GUARD}. */
  Future<Void> cordon(String pool, String nodeId, boolean cordoned, AuditRow audit) {
    return commit(pool, List.of(set(nodeId, "cordoned = ?", cordoned)), audit);
  }

  /** Forgets a node's failures. Fails on {@link #NODE_GUARD}. */
  Future<Void> release(String pool, String nodeId, AuditRow audit) {
    return commit(pool, List.of(set(nodeId, FORGIVEN)), audit);
  }

  /** Forgets a node's back-off and counts one more retry. Fails on {@link #NODE_GUARD}. */
  Future<Void> retry(String pool, String nodeId, AuditRow audit) {
    return commit(
        pool, List.of(set(nodeId, "failures = 0, usable_after = 0, retries = retries + 1")), audit);
  }

  /** Knows a node by another host key from now on. Fails on {@link #NODE_GUARD}. */
  Future<Void> replaceHostKey(String pool, String nodeId, String hostKey, AuditRow audit) {
    return commit(pool, List.of(set(nodeId, "host_key = ?, " + ANOTHER, hostKey)), audit);
  }

  /**
   * Retires a node that nobody holds. Fails on {@link #NODE_GUARD} or {@link #UNHELD_GUARD}.
   *
   * <p>The second is looked at when the row is locked already, for whoever grants locks it first.
   */
  Future<Void> retire(String pool, String nodeId, AuditRow audit) {
    return commit(
        pool,
        List.of(
            retired(nodeId, audit.atMillis()),
            Statement.guarded(
                UNHELD_GUARD,
                "UPDATE node SET cordoned = cordoned WHERE node_id = ? AND NOT EXISTS"
                    + " (SELECT 1 FROM allocation a WHERE a.node_id = ? AND a.gone_at IS NULL)",
                nodeId,
                nodeId)),
        audit);
  }

  /** A node's row once it is retired; its address is free. Fails on {@link #NODE_GUARD}. */
  static Statement retired(String nodeId, long nowMillis) {
    return set(
        nodeId,
        "retired_at = ?, retired_ip = public_ip, public_ip = 'retired ' || node_id, cordoned = ?",
        nowMillis,
        true);
  }

  /** A node's row once an operator has cleaned it. Fails on {@link #NODE_GUARD}. */
  static Statement cleaned(String nodeId, boolean backToMarket, long nowMillis) {
    return backToMarket
        ? set(nodeId, FORGIVEN + ", " + ANOTHER)
        : set(
            nodeId,
            "quarantined_at = COALESCE(quarantined_at, ?), unclean_after = NULL, " + ANOTHER,
            nowMillis);
  }

  /** Fails a grant's commit on {@link #NODE_GUARD} when the node was retired meanwhile. */
  static Statement granted(String nodeId) {
    return set(nodeId, "cordoned = cordoned");
  }

  /** What goes into a commit that changes a node. */
  static Change changed(String pool) {
    return new Change(MarketStore.CHANGED, pool);
  }

  private static Statement set(String nodeId, String what, @Nullable Object... parameters) {
    @Nullable Object[] all = Arrays.copyOf(parameters, parameters.length + 1);
    all[parameters.length] = nodeId;
    return Statement.guarded(
        NODE_GUARD, "UPDATE node SET " + what + " WHERE node_id = ? AND retired_at IS NULL", all);
  }

  private Future<Void> commit(String pool, List<Statement> statements, AuditRow audit) {
    List<Statement> all = new ArrayList<>(statements);
    all.add(AuditStore.insert(audit));
    return database.commit(all, List.of(changed(pool)));
  }
}
