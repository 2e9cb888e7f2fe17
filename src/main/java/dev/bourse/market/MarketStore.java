package dev.bourse.market;

import dev.bourse.capacity.Allocation;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Database;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of nodes, leases and prices. */
public final class MarketStore {
  /** What other processes are told when operators change nodes; the key is the pool. */
  public static final String CHANGED = "nodes";

  private static final String LEASE_GUARD = "lease";

  /** No lease is given for longer, and no process's clock need be believed in that one is. */
  private static final long MAX_LEASE_MILLIS = MarketConfig.LONGEST_LEASE.toMillis();

  private static final String NODE_COLUMNS =
      "n.node_id, COALESCE(n.retired_ip, n.public_ip), n.ssh_port, n.host_key, n.cordoned,"
          + " n.failures, n.usable_after, n.quarantined_at, n.unclean_after, n.retries,"
          + " n.generation, n.last_error";

  private static final int NODE_COLUMN_COUNT = 12;

  private static final String STORED_NODE =
      "SELECT "
          + NODE_COLUMNS
          + ", n.pool, n.created_at, n.retired_at, n.last_seen, n.last_error, a.cluster, a.state,"
          + " a.allocation_id FROM node n"
          + " LEFT JOIN allocation a ON a.node_id = n.node_id AND a.gone_at IS NULL";

  /**
   * The reason stands in the text, for an index holds these rows alone. A cross join, because
   * SQLite carries it out in the order written: from the few swapped away lately to their clusters,
   * and not through all that clusters ever gave back.
   */
  static final String SWAPPED_AWAY =
      "SELECT a.node_id, c.org_id, MAX(a.reclaim_at) FROM allocation a CROSS JOIN cluster c"
          + " WHERE a.reclaim_reason = 'SWAP' AND a.reclaim_at > ? AND c.name = a.cluster"
          + " AND c.pool = ? GROUP BY a.node_id, c.org_id ORDER BY 3";

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

  /** What the holder of a lease sees of the pool's machines. */
  Reachability reachability(Lease lease) {
    return new Reachability(database, lease);
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

  /** Every node of a pool that is not retired, by id. */
  Future<List<Node>> listNodes(String pool) {
    return database.read(
        "SELECT "
            + NODE_COLUMNS
            + " FROM node n WHERE n.pool = ? AND n.retired_at IS NULL ORDER BY n.node_id",
        List.of(pool),
        MarketStore::node);
  }

  /**
   * A node as it is stored.
   *
   * @param retiredAtMillis when it was retired; null while it is not
   * @param lastSeenMillis when it last answered; null when it never did
   * @param lastError why it did not when it was last tried; null when it did
   * @param holder the one that holds it or is being relieved of it; null when none is
   */
  record StoredNode(
      Node node,
      String pool,
      long createdAtMillis,
      @Nullable Long retiredAtMillis,
      @Nullable Long lastSeenMillis,
      @Nullable String lastError,
      @Nullable Holder holder) {}

  /** Who has a node, by which allocation, and how. */
  record Holder(String cluster, Allocation.State state, String allocationId) {}

  /** So many nodes of a pool, by id, after this one: the retired ones, or all others. */
  Future<List<StoredNode>> listNodes(String pool, String after, boolean retired, int limit) {
    return database.read(
        STORED_NODE
            + " WHERE n.pool = ? AND n.node_id > ? AND n.retired_at IS "
            + (retired ? "NOT NULL" : "NULL")
            + " ORDER BY n.node_id LIMIT ?",
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

  /** A new node's row; guarded by its id and its address being free. */
  public static Statement insert(String pool, Machine machine, long nowMillis) {
    return Statement.guarded(
        NodeStore.FREE_GUARD,
        "INSERT INTO node (node_id, pool, public_ip, ssh_port, host_key, created_at)"
            + " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        machine.nodeId(),
        pool,
        machine.publicIp(),
        machine.sshPort(),
        machine.hostKey(),
        nowMillis);
  }

  /** Stores what became of a node. Fails when an operator made another of it meanwhile. */
  Future<Void> update(Node node, Lease lease) {
    return database.commit(
        List.of(
            lease.fence(),
            Statement.guarded(
                "node",
                "UPDATE node SET failures = ?, usable_after = ?, quarantined_at = ?,"
                    + " unclean_after = ? WHERE node_id = ? AND generation = ?",
                node.failures(),
                node.usableAfterMillis(),
                node.quarantinedAtMillis(),
                node.uncleanAfter(),
                node.nodeId(),
                node.generation())));
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
        SWAPPED_AWAY,
        List.of(sinceMillis, pool),
        row -> new SwappedAway(row.text(0), row.text(1), row.integer(2)));
  }

  /**
   * Takes a pool's lease if nobody holds it; empty when somebody does, or was first. Whether it has
   * expired is judged by the clock of the database, which all processes share. In a store that no
   * other process can be using, a lease left behind belongs to a process that is gone.
   */
  Future<Optional<Lease>> acquire(String pool, String owner, long leaseMillis) {
    return database
        .read(
            "SELECT epoch, CASE WHEN " + isFree() + " THEN 1 ELSE 0 END FROM lease WHERE pool = ?",
            List.of(MAX_LEASE_MILLIS, pool),
            row -> new long[] {row.integer(0), row.integer(1)})
        .compose(
            found -> {
              long epoch = found.isEmpty() ? 0 : found.get(0)[0];
              boolean isHeld = !found.isEmpty() && database.isShared() && found.get(0)[1] == 0;
              return isHeld
                  ? Future.succeededFuture(Optional.<Lease>empty())
                  : take(new Lease(pool, owner, epoch + 1), found.isEmpty(), leaseMillis)
                      .recover(
                          e ->
                              isLost(e)
                                  ? Future.succeededFuture(Optional.empty())
                                  : Future.failedFuture(e));
            });
  }

  /**
   * A lease whose expiry lies further ahead than any is given for was written by a process with a
   * clock of its own that is ahead, as older ones do; it must not keep the pool for days.
   */
  private String isFree() {
    String now = database.clockSql();
    return "expires_at <= " + now + " OR expires_at > " + now + " + ?";
  }

  private Future<Optional<Lease>> take(Lease lease, boolean isFirst, long leaseMillis) {
    String expiry = database.clockSql() + " + ?";
    // The holder may have renewed it since it was read: then it is not free after all.
    String stillFree = database.isShared() ? " AND (" + isFree() + ")" : "";
    List<Object> parameters =
        new ArrayList<>(List.of(lease.owner(), lease.epoch(), leaseMillis, lease.pool()));
    if (!isFirst) {
      parameters.add(lease.epoch() - 1);
      if (database.isShared()) {
        parameters.add(MAX_LEASE_MILLIS);
      }
    }
    return database
        .commit(
            List.of(
                Statement.guarded(
                    LEASE_GUARD,
                    isFirst
                        ? "INSERT INTO lease (owner, epoch, expires_at, pool) VALUES (?, ?, "
                            + expiry
                            + ", ?) ON CONFLICT (pool) DO NOTHING"
                        : "UPDATE lease SET owner = ?, epoch = ?, expires_at = "
                            + expiry
                            + " WHERE pool = ? AND epoch = ?"
                            + stillFree,
                    parameters.toArray())))
        .map(Optional.of(lease));
  }

  /** Whether a lease must be renewed to be kept. */
  boolean leasesExpire() {
    return database.isShared();
  }

  /** Keeps a lease for so long from now on. Fails when somebody else has it. */
  Future<Void> renew(Lease lease, long leaseMillis) {
    return database.commit(List.of(expiring(lease, database.clockSql() + " + ?", leaseMillis)));
  }

  /** Gives a lease back. Fails when somebody else has it. */
  Future<Void> release(Lease lease) {
    return database.commit(List.of(expiring(lease, "?", 0L)));
  }

  private static Statement expiring(Lease lease, String expiry, long parameter) {
    return Statement.guarded(
        LEASE_GUARD,
        "UPDATE lease SET expires_at = " + expiry + " WHERE pool = ? AND owner = ? AND epoch = ?",
        parameter,
        lease.pool(),
        lease.owner(),
        lease.epoch());
  }

  Future<Optional<PricePoint>> findLastPrice(String pool) {
    return findPrice("pool = ?", List.of(pool));
  }

  private Future<Optional<PricePoint>> findPrice(String which, List<?> parameters) {
    return database
        .read(
            "SELECT ts, clearing_cents, admission_cents, cents_millis, priced_millis"
                + " FROM price_point WHERE "
                + which
                + " ORDER BY ts DESC LIMIT 1",
            parameters,
            row ->
                new PricePoint(
                    row.integer(0),
                    row.integerOrNull(1),
                    row.integerOrNull(2),
                    row.integer(3),
                    row.integer(4)))
        .map(points -> points.stream().findFirst());
  }

  /** The latest change point that is not after a moment. */
  Future<Optional<PricePoint>> findPriceAt(String pool, long atMillis) {
    return findPrice("pool = ? AND ts <= ?", List.of(pool, atMillis));
  }

  /**
   * Stores a change point in the place of all that lie after it, which a clock that was ahead has
   * written.
   */
  Future<Void> supersede(PricePoint point, Lease lease) {
    return database.commit(
        List.of(
            lease.fence(),
            Statement.of(
                "DELETE FROM price_point WHERE pool = ? AND ts >= ?",
                lease.pool(),
                point.atMillis()),
            insertion(point, lease)));
  }

  Future<Void> insert(PricePoint point, Lease lease) {
    return database.commit(List.of(lease.fence(), insertion(point, lease)));
  }

  private static Statement insertion(PricePoint point, Lease lease) {
    return Statement.of(
        "INSERT INTO price_point (pool, ts, clearing_cents, admission_cents, cents_millis,"
            + " priced_millis) VALUES (?, ?, ?, ?, ?, ?)",
        lease.pool(),
        point.atMillis(),
        point.clearingCents(),
        point.admissionCents(),
        point.centsMillis(),
        point.pricedMillis());
  }

  private static StoredNode storedNode(Row row) {
    int at = NODE_COLUMN_COUNT;
    String cluster = row.textOrNull(at + 5);
    return new StoredNode(
        node(row),
        row.text(at),
        row.integer(at + 1),
        row.integerOrNull(at + 2),
        row.integerOrNull(at + 3),
        row.textOrNull(at + 4),
        cluster == null
            ? null
            : new Holder(cluster, Allocation.State.valueOf(row.text(at + 6)), row.text(at + 7)));
  }

  private static Node node(Row row) {
    return new Node(
        new Machine(row.text(0), row.text(1), Math.toIntExact(row.integer(2)), row.textOrNull(3)),
        row.truth(4),
        Math.toIntExact(row.integer(5)),
        row.integer(6),
        row.integerOrNull(7),
        row.textOrNull(8),
        row.integer(9),
        row.integer(10),
        row.textOrNull(11) != null);
  }
}
