package dev.bourse.market;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.capacity.Allocation;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of nodes, leases and prices. */
public final class MarketStore {
  /** What other processes are told when operators change nodes; the key is the pool. */
  public static final String CHANGED = "nodes";

  /** The guard of a node's row: there is none of that id. */
  static final String NODE_GUARD = "node";

  /** The guard of a new node's row: its id or its address is taken. */
  static final String FREE_GUARD = "node id and address are free";

  private static final String LEASE_GUARD = "lease";

  private static final String NODE_COLUMNS =
      "n.node_id, n.public_ip, n.ssh_port, n.host_key, n.cordoned, n.failures, n.usable_after,"
          + " n.quarantined_at";

  private static final String STORED_NODE =
      "SELECT "
          + NODE_COLUMNS
          + ", n.pool, n.created_at, a.cluster, a.state FROM node n"
          + " LEFT JOIN allocation a ON a.node_id = n.node_id AND a.gone_at IS NULL";

  private final Database database;

  public MarketStore(Database database) {
    this.database = database;
  }

  /**
   * The right to run a pool's market.
   *
   * @param owner the process that holds it
   * @param epoch one more for each holder; commits of an older one fail on the fence
   */
  record Lease(String pool, String owner, long epoch) {

    /** Fails a commit unless this lease is still the pool's latest. */
    Statement fence() {
      return Statement.guarded(
          LEASE_GUARD,
          "UPDATE lease SET epoch = epoch WHERE pool = ? AND owner = ? AND epoch = ?",
          pool,
          owner,
          epoch);
    }
  }

  /** Whether a commit failed because another process has the lease by now. */
  static boolean isLost(Throwable failure) {
    return failure instanceof GuardFailed failed && failed.guard().equals(LEASE_GUARD);
  }

  /** A pool's latest published prices and the running sums up to then. */
  record PricePoint(
      long atMillis,
      @Nullable Long clearingCents,
      @Nullable Long admissionCents,
      long centsMillis,
      long pricedMillis) {

    /** The change point that follows this one. */
    PricePoint next(long nowMillis, @Nullable Long clearing, @Nullable Long admission) {
      long span = clearingCents == null ? 0 : nowMillis - atMillis;
      return new PricePoint(
          nowMillis,
          clearing,
          admission,
          centsMillis + span * (clearingCents == null ? 0 : clearingCents),
          pricedMillis + span);
    }
  }

  /** Every node of a pool, by id. */
  Future<List<Node>> listNodes(String pool) {
    return database.read(
        "SELECT " + NODE_COLUMNS + " FROM node n WHERE n.pool = ? ORDER BY n.node_id",
        List.of(pool),
        MarketStore::node);
  }

  /**
   * A node as it is stored.
   *
   * @param cluster the one that holds it or is being relieved of it; null when none is
   * @param held how; null when nobody holds it
   */
  record StoredNode(
      Node node,
      String pool,
      long createdAtMillis,
      @Nullable String cluster,
      Allocation.@Nullable State held) {}

  /** So many nodes of a pool, by id, after this one. */
  Future<List<StoredNode>> listNodes(String pool, String after, int limit) {
    return database.read(
        STORED_NODE + " WHERE n.pool = ? AND n.node_id > ? ORDER BY n.node_id LIMIT ?",
        List.of(pool, after, limit),
        MarketStore::storedNode);
  }

  Future<Optional<StoredNode>> findNode(String nodeId) {
    return database
        .read(STORED_NODE + " WHERE n.node_id = ?", List.of(nodeId), MarketStore::storedNode)
        .map(found -> found.stream().findFirst());
  }

  /** The node at an address. */
  Future<Optional<String>> findNodeAt(String publicIp) {
    return database
        .read("SELECT node_id FROM node WHERE public_ip = ?", List.of(publicIp), row -> row.text(0))
        .map(found -> found.stream().findFirst());
  }

  /** How many nodes there are in pools of a provider. */
  Future<Integer> countNodes(String provider) {
    return database
        .read(
            "SELECT COUNT(*) FROM node n JOIN pool p ON p.name = n.pool WHERE p.provider = ?",
            List.of(provider),
            row -> Math.toIntExact(row.integer(0)))
        .map(counts -> counts.get(0));
  }

  /** Which of these addresses nodes have. */
  Future<List<String>> listTaken(List<String> addresses) {
    return database.read(
        "SELECT public_ip FROM node WHERE public_ip IN ("
            + String.join(", ", Collections.nCopies(addresses.size(), "?"))
            + ")",
        addresses,
        row -> row.text(0));
  }

  /** Stores a new node and the row that records it. Fails on {@link #FREE_GUARD}. */
  Future<Void> create(String pool, Machine machine, AuditRow audit) {
    return commit(pool, insert(pool, machine, audit.atMillis()), audit);
  }

  /** Keeps a node out of the market, or lets it in again. Fails on {@link #NODE_GUARD}. */
  Future<Void> cordon(String pool, String nodeId, boolean cordoned, AuditRow audit) {
    return commit(
        pool,
        Statement.guarded(
            NODE_GUARD, "UPDATE node SET cordoned = ? WHERE node_id = ?", cordoned, nodeId),
        audit);
  }

  /** Forgets a node's failures. Fails on {@link #NODE_GUARD}. */
  Future<Void> release(String pool, String nodeId, AuditRow audit) {
    return commit(
        pool,
        Statement.guarded(
            NODE_GUARD,
            "UPDATE node SET failures = 0, usable_after = 0, quarantined_at = NULL"
                + " WHERE node_id = ?",
            nodeId),
        audit);
  }

  private Future<Void> commit(String pool, Statement statement, AuditRow audit) {
    return database.commit(
        List.of(statement, AuditStore.insert(audit)), List.of(new Change(CHANGED, pool)));
  }

  /** A new node's row; guarded by its id and its address being free. */
  public static Statement insert(String pool, Machine machine, long nowMillis) {
    return Statement.guarded(
        FREE_GUARD,
        "INSERT INTO node (node_id, pool, public_ip, ssh_port, host_key, created_at)"
            + " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        machine.nodeId(),
        pool,
        machine.publicIp(),
        machine.sshPort(),
        machine.hostKey(),
        nowMillis);
  }

  Future<Void> update(Node node, Lease lease) {
    return database.commit(
        List.of(
            lease.fence(),
            Statement.guarded(
                "node",
                "UPDATE node SET failures = ?, usable_after = ?, quarantined_at = ?"
                    + " WHERE node_id = ?",
                node.failures(),
                node.usableAfterMillis(),
                node.quarantinedAtMillis(),
                node.nodeId())));
  }

  /** Whether a node is an allocation's, whatever its state; once it is not, it never is again. */
  Future<Boolean> holds(String nodeId, String allocationId) {
    return database
        .read(
            "SELECT 1 FROM allocation"
                + " WHERE allocation_id = ? AND node_id = ? AND gone_at IS NULL",
            List.of(allocationId, nodeId),
            row -> true)
        .map(found -> !found.isEmpty());
  }

  /** A node an organization swapped away, and when. */
  record SwappedAway(String nodeId, String orgId, long atMillis) {}

  /** The latest last. */
  Future<List<SwappedAway>> listSwappedAway(String pool, long sinceMillis) {
    return database.read(
        "SELECT a.node_id, c.org_id, MAX(a.reclaim_at) FROM allocation a"
            + " JOIN cluster c ON c.name = a.cluster"
            + " WHERE c.pool = ? AND a.reclaim_reason = ? AND a.reclaim_at > ?"
            + " GROUP BY a.node_id, c.org_id ORDER BY 3",
        List.of(pool, Allocation.Reason.SWAP.name(), sinceMillis),
        row -> new SwappedAway(row.text(0), row.text(1), row.integer(2)));
  }

  /**
   * Takes a pool's lease if nobody holds it. In a store that no other process can be using, a lease
   * left behind belongs to a process that is gone.
   */
  Future<Optional<Lease>> acquire(String pool, String owner, long nowMillis, long leaseMillis) {
    return database
        .read(
            "SELECT epoch, expires_at FROM lease WHERE pool = ?",
            List.of(pool),
            row -> new long[] {row.integer(0), row.integer(1)})
        .compose(
            found -> {
              long epoch = found.isEmpty() ? 0 : found.get(0)[0];
              boolean isHeld =
                  database.isShared() && !found.isEmpty() && nowMillis < found.get(0)[1];
              return isHeld
                  ? Future.succeededFuture(Optional.<Lease>empty())
                  : take(
                      new Lease(pool, owner, epoch + 1), found.isEmpty(), nowMillis + leaseMillis);
            });
  }

  private Future<Optional<Lease>> take(Lease lease, boolean isFirst, long expiresAtMillis) {
    Statement statement =
        isFirst
            ? Statement.of(
                "INSERT INTO lease (owner, epoch, expires_at, pool) VALUES (?, ?, ?, ?)",
                lease.owner(),
                lease.epoch(),
                expiresAtMillis,
                lease.pool())
            : Statement.guarded(
                LEASE_GUARD,
                "UPDATE lease SET owner = ?, epoch = ?, expires_at = ?"
                    + " WHERE pool = ? AND epoch = ?",
                lease.owner(),
                lease.epoch(),
                expiresAtMillis,
                lease.pool(),
                lease.epoch() - 1);
    return database.commit(List.of(statement)).map(Optional.of(lease));
  }

  /** Whether a lease must be renewed to be kept. */
  boolean leasesExpire() {
    return database.isShared();
  }

  Future<Void> renew(Lease lease, long expiresAtMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                LEASE_GUARD,
                "UPDATE lease SET expires_at = ? WHERE pool = ? AND owner = ? AND epoch = ?",
                expiresAtMillis,
                lease.pool(),
                lease.owner(),
                lease.epoch())));
  }

  Future<Optional<PricePoint>> findLastPrice(String pool) {
    return database
        .read(
            "SELECT ts, clearing_cents, admission_cents, cents_millis, priced_millis"
                + " FROM price_point WHERE pool = ? ORDER BY ts DESC LIMIT 1",
            List.of(pool),
            row ->
                new PricePoint(
                    row.integer(0),
                    row.integerOrNull(1),
                    row.integerOrNull(2),
                    row.integer(3),
                    row.integer(4)))
        .map(points -> points.stream().findFirst());
  }

  Future<Void> insert(PricePoint point, Lease lease) {
    return database.commit(
        List.of(
            lease.fence(),
            Statement.of(
                "INSERT INTO price_point (pool, ts, clearing_cents, admission_cents, cents_millis,"
                    + " priced_millis) VALUES (?, ?, ?, ?, ?, ?)",
                lease.pool(),
                point.atMillis(),
                point.clearingCents(),
                point.admissionCents(),
                point.centsMillis(),
                point.pricedMillis())));
  }

  private static StoredNode storedNode(Row row) {
    String state = row.textOrNull(11);
    return new StoredNode(
        node(row),
        row.text(8),
        row.integer(9),
        row.textOrNull(10),
        state == null ? null : Allocation.State.valueOf(state));
  }

  private static Node node(Row row) {
    return new Node(
        new Machine(row.text(0), row.text(1), Math.toIntExact(row.integer(2)), row.textOrNull(3)),
        row.truth(4),
        Math.toIntExact(row.integer(5)),
        row.integer(6),
        row.integerOrNull(7));
  }
}
