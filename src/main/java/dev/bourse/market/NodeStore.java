package dev.bourse.market;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.capacity.Allocation;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Machine;
import dev.bourse.store.Change;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Stores nodes. A change by an operator is committed together with the audit row that records it.
 */
public final class NodeStore {
  /**
   * The kind of the change that notifies other processes of operators' changes to nodes; its key is
   * the pool.
   */
  public static final String CHANGED = "nodes";

  private static final Columns<StoredNode> NODE =
      Columns.<StoredNode>of("node")
          .fixed("node_id", stored -> stored.node().nodeId())
          .changing("pool", StoredNode::pool)
          .changing("public_ip", stored -> stored.machine().publicIp())
          .changing("ssh_port", stored -> stored.machine().sshPort())
          .changing("host_key", stored -> stored.machine().hostKey())
          .changing("cordoned", stored -> stored.node().cordoned())
          .changing("failures", stored -> stored.node().failures())
          .changing("usable_after", stored -> stored.node().usableAfterMillis())
          .changing("quarantined_at", stored -> stored.node().quarantinedAtMillis())
          .changing("unclean_after", stored -> stored.node().uncleanAfter())
          .changing("failure", stored -> stored.node().failure())
          .changing("baseline", stored -> stored.machine().baseline())
          .changing("reimage_of", stored -> reimage(stored.node(), Reimage::allocationId))
          .changing("reimage_retry", stored -> reimage(stored.node(), Reimage::retry))
          .changing("reimage_until", stored -> reimage(stored.node(), Reimage::untilMillis))
          .changing("reimage_key", stored -> reimage(stored.node(), Reimage::hostKey))
          .changing("lost_grant", stored -> lostGrants(stored.node(), LostGrants::stored))
          .changing("lost_grant_retry", stored -> lostGrants(stored.node(), LostGrants::retry))
          .fixed("retries", stored -> stored.node().retries())
          .fixed("generation", stored -> stored.node().generation())
          .changing("created_at", StoredNode::createdAtMillis)
          .fixed("retired_at", StoredNode::retiredAtMillis)
          .changing("last_seen", StoredNode::lastSeenMillis)
          .changing("last_error", StoredNode::lastError)
          .changing(
              "health",
              stored ->
                  stored.examined() == null ? null : stored.examined().health().state().name())
          .changing(
              "health_since",
              stored -> stored.examined() == null ? null : stored.examined().sinceMillis())
          .changing(
              "health_reasons",
              stored -> stored.examined() == null ? null : Reachability.reasons(stored.examined()));

  private static final Columns<Handover> HANDOVER =
      Columns.<Handover>of("handover")
          .fixed("allocation_id", Handover::allocationId)
          .fixed("node_id", Handover::nodeId)
          .fixed("cleaned_at", Handover::cleanedAtMillis)
          .fixed("seconds", handover -> handover.cleaning().seconds())
          .fixed("processes", handover -> handover.cleaning().processes())
          .fixed("files", handover -> handover.cleaning().files())
          .fixed("objects", handover -> handover.cleaning().objects())
          .fixed("baseline", handover -> handover.cleaning().baseline())
          .fixed("replaced_key", Handover::replacedKey);

  private static @Nullable Object reimage(Node node, Function<Reimage, @Nullable Object> part) {
    Reimage reimage = node.reimage();
    return reimage == null ? null : part.apply(reimage);
  }

  private static @Nullable Object lostGrants(Node node, Function<LostGrants, Object> part) {
    LostGrants lost = node.lostGrants();
    return lost == null ? null : part.apply(lost);
  }

  private static final String NODES = "SELECT %s, n.retired_ip".formatted(NODE.names("n"));

  private static final String HELD_BY =
      " LEFT JOIN allocation a ON a.node_id = n.node_id AND a.gone_at IS NULL";

  private static final String STORED_NODES =
      NODES + ", a.cluster, a.state, a.allocation_id FROM node n" + HELD_BY;

  /**
   * The state of a row as {@link NodeView#state} computes it. Takes two parameters: the current
   * time, and the latest end of a backoff.
   */
  private static final String STATE =
      """
      CASE WHEN n.retired_at IS NOT NULL THEN 'RETIRED' WHEN a.state = 'RECLAIMING'
      AND n.reimage_of IS NOT NULL THEN 'REIMAGING' WHEN a.state = 'RECLAIMING'
      THEN 'RECLAIMING' WHEN a.state IS NOT NULL THEN 'HELD' WHEN n.quarantined_at IS NOT NULL
      THEN 'QUARANTINED' WHEN n.reimage_of IS NOT NULL THEN 'REIMAGING'
      WHEN n.cordoned <> 0 THEN 'CORDONED' WHEN n.usable_after > ?
      AND n.usable_after <= ? THEN 'BACKING_OFF' WHEN n.last_error IS NOT NULL THEN 'UNREACHABLE'
      ELSE 'FREE' END\
      """;

  private static final String OF_POOL =
      NODES + " FROM node n WHERE n.pool = ? AND n.retired_at IS NULL ORDER BY n.node_id";

  /**
   * The reason is a literal, because a partial index holds only these rows. The cross join makes
   * SQLite join in the order written: from the few nodes swapped away lately to their clusters, and
   * not through all reclaimed allocations.
   */
  static final String SWAPPED_AWAY =
      """
      SELECT a.node_id, c.org_id, MAX(a.reclaim_at) AS at FROM allocation a CROSS JOIN cluster c
      WHERE a.reclaim_reason = 'SWAP' AND a.reclaim_at > ? AND c.name = a.cluster
      AND c.pool = ? GROUP BY a.node_id, c.org_id ORDER BY 3, 1, 2\
      """;

  /** Like {@link #SWAPPED_AWAY}, by the index on the time of the reclaim. */
  static final String GIVEN_BACK =
      """
      SELECT c.org_id, MAX(a.reclaim_at) AS at FROM allocation a CROSS JOIN cluster c
      WHERE a.reclaim_at > ? AND a.reclaim_reason = 'SCALE_DOWN' AND a.active_at IS NOT NULL
      AND c.name = a.cluster AND c.pool = ? GROUP BY c.org_id\
      """;

  private static final String FORGIVEN =
      "failures = 0, usable_after = 0, quarantined_at = NULL, unclean_after = NULL, failure = NULL";

  private static final String NO_REIMAGE =
      "reimage_of = NULL, reimage_retry = NULL, reimage_until = NULL, reimage_key = NULL,"
          + " lost_grant = NULL, lost_grant_retry = NULL";

  /**
   * Assignments for a node whose machine an operator replaced or cleaned; it needs no image after
   * earlier allocations.
   */
  private static final String ANOTHER = "generation = generation + 1, " + NO_REIMAGE;

  /**
   * A node was retired, replaced, granted or given back since it was read, so the commit wrote
   * nothing.
   */
  static final class NodeMovedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NodeMovedException() {
      super("the node has changed since it was read", null, false, false);
    }
  }

  /** Another node has the id or the address of a new node, so the commit wrote nothing. */
  static final class NodeTakenException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NodeTakenException() {
      super("the node's id or its address is taken", null, false, false);
    }
  }

  private final Database database;

  NodeStore(Database database) {
    this.database = database;
  }

  /**
   * A stored node.
   *
   * @param retiredAtMillis when it was retired; null if it was not
   * @param lastSeenMillis when it last answered; null if it never did
   * @param lastError why it did not answer the last attempt; null if it did
   * @param examined the result of its last examination; null if it was never examined
   * @param holder the cluster that holds it or gives it back; null for none
   */
  record StoredNode(
      Node node,
      String pool,
      long createdAtMillis,
      @Nullable Long retiredAtMillis,
      @Nullable Long lastSeenMillis,
      @Nullable String lastError,
      Reachability.@Nullable HealthRecord examined,
      @Nullable Holder holder) {

    /** Creates the stored node of a new machine. */
    static StoredNode added(String pool, Machine machine, long nowMillis) {
      return new StoredNode(
          new Node(machine, false, 0, 0, null), pool, nowMillis, null, null, null, null, null);
    }

    Machine machine() {
      return node.machine();
    }
  }

  /** The cluster and the allocation that hold a node, with the allocation's state. */
  record Holder(String cluster, Allocation.State state, String allocationId) {}

  /** Lists the nodes of a pool that are not retired, by id. */
  Future<List<Node>> list(String pool) {
    return database.read(OF_POOL, List.of(pool), NodeStore::node);
  }

  /** Lists a page of a pool's nodes, by id, after an id: the retired nodes, or all others. */
  Future<List<StoredNode>> list(String pool, String after, boolean retired, int limit) {
    return database.read(
        "%s WHERE n.pool = ? AND n.node_id > ? AND n.retired_at IS %s ORDER BY n.node_id LIMIT ?"
            .formatted(STORED_NODES, retired ? "NOT NULL" : "NULL"),
        List.of(pool, after, limit),
        NodeStore::storedNode);
  }

  /**
   * A filter of the nodes of all pools.
   *
   * @param pool the nodes of this pool
   * @param site the nodes of pools at this site
   * @param state the nodes in this state; empty for all that are not retired. QUARANTINED matches
   *     all nodes that wait for an operator, including those that are still being reclaimed.
   */
  public record Sought(
      Optional<String> pool, Optional<String> site, Optional<NodeView.State> state) {

    /** Returns the same filter for one site; null for any site. */
    Sought at(@Nullable String only) {
      return only == null ? this : new Sought(pool, Optional.of(only), state);
    }
  }

  /** Lists a page of the matching nodes of all pools, by id, after an id. */
  Future<List<StoredNode>> find(Sought sought, String after, int limit, long nowMillis) {
    StringBuilder where = new StringBuilder(" WHERE n.node_id > ?");
    List<Object> parameters = new ArrayList<>(List.of(after));
    sought
        .pool()
        .ifPresent(
            pool -> {
              where.append(" AND n.pool = ?");
              parameters.add(pool);
            });
    sought
        .site()
        .ifPresent(
            site -> {
              where.append(" AND n.pool IN (SELECT p.name FROM pool p WHERE p.site = ?)");
              parameters.add(site);
            });
    NodeView.State state = sought.state().orElse(null);
    where
        .append(" AND n.retired_at IS ")
        .append(state == NodeView.State.RETIRED ? "NOT NULL" : "NULL");
    if (state == NodeView.State.QUARANTINED) {
      where.append(" AND n.quarantined_at IS NOT NULL");
    } else if (state != null) {
      where.append(" AND ").append(STATE).append(" = ?");
      parameters.addAll(List.of(nowMillis, Node.longestBackOffEnd(nowMillis), state.name()));
    }
    parameters.add(limit);
    return database.read(
        STORED_NODES + where + " ORDER BY n.node_id LIMIT ?", parameters, NodeStore::storedNode);
  }

  /** The number of nodes of a pool in one state, and how many of them have faulty hardware. */
  public record Count(String pool, NodeView.State state, long nodes, long unhealthy) {}

  /**
   * Counts the nodes of each pool in each state, without retired nodes, and those among them with a
   * fault of their hardware.
   */
  Future<List<Count>> countStates(long nowMillis) {
    return database.read(
        """
        SELECT n.pool, %s AS becomes, COUNT(*) AS nodes, SUM(CASE WHEN n.health
        IN ('DEGRADED', 'FAILED') THEN 1 ELSE 0 END) AS unhealthy FROM node n%s
        WHERE n.retired_at IS NULL GROUP BY 1, 2\
        """
            .formatted(STATE, HELD_BY),
        List.of(nowMillis, Node.longestBackOffEnd(nowMillis)),
        row ->
            new Count(
                row.text("pool"),
                row.value(NodeView.State.class, "becomes"),
                row.integer("nodes"),
                row.integer("unhealthy")));
  }

  /** Counts the nodes that wait for an operator. */
  Future<Long> countQuarantined() {
    return database.readOne(
        """
        SELECT COUNT(*) AS nodes FROM node
        WHERE quarantined_at IS NOT NULL AND retired_at IS NULL\
        """,
        List.of(),
        row -> row.integer("nodes"));
  }

  /** Lists quarantined nodes, those that have waited longest first. */
  Future<List<StoredNode>> listQuarantined(int limit) {
    return database.read(
        STORED_NODES
            + """
             WHERE n.quarantined_at IS NOT NULL AND n.retired_at IS NULL
            ORDER BY n.quarantined_at, n.node_id LIMIT ?\
            """,
        List.of(limit),
        NodeStore::storedNode);
  }

  /** Returns one node. Fails with {@code not-found}. */
  Future<StoredNode> get(String nodeId) {
    return find(nodeId)
        .map(found -> found.orElseThrow(() -> ApiException.notFound("node", nodeId)));
  }

  Future<Optional<StoredNode>> find(String nodeId) {
    return database.readFirst(
        STORED_NODES + " WHERE n.node_id = ?", List.of(nodeId), NodeStore::storedNode);
  }

  /** Finds the id of the node at an address. */
  Future<Optional<String>> findAt(String publicIp) {
    return database.readFirst(
        "SELECT node_id FROM node WHERE public_ip = ?",
        List.of(publicIp),
        row -> row.text("node_id"));
  }

  /** Lists the machines that a cluster holds, by address. */
  Future<List<Machine>> listHeld(String cluster) {
    return database.read(
        """
        SELECT n.node_id, n.public_ip, n.ssh_port, n.host_key
        FROM allocation a JOIN node n ON n.node_id = a.node_id
        WHERE a.cluster = ? AND a.gone_at IS NULL ORDER BY n.public_ip, n.node_id\
        """,
        List.of(cluster),
        row ->
            new Machine(
                row.text("node_id"),
                row.text("public_ip"),
                row.smallInteger("ssh_port"),
                row.textOrNull("host_key")));
  }

  /** Counts the nodes in pools of a provider. */
  Future<Integer> count(String provider) {
    return database.readOne(
        """
        SELECT COUNT(*) AS nodes FROM node n JOIN pool p ON p.name = n.pool
        WHERE p.provider = ?\
        """,
        List.of(provider),
        row -> row.smallInteger("nodes"));
  }

  /** Lists the given addresses that nodes have. */
  Future<List<String>> listTaken(List<String> addresses) {
    return database.read(
        "SELECT public_ip FROM node WHERE public_ip IN (%s)"
            .formatted(String.join(", ", Collections.nCopies(addresses.size(), "?"))),
        addresses,
        row -> row.text("public_ip"));
  }

  /** An allocation's claim to a node. */
  enum Claim {
    /** The allocation has the node, in any state. */
    HELD,
    /** The allocation has ended, or is on another node. It never has this one again. */
    ENDED,
    /**
     * The store has no allocation of this id. An allocation is stored before a machine is marked
     * for it, so the database lost it when it was set back, as by a fail-over to a standby that
     * lagged.
     */
    UNKNOWN
  }

  /** Returns an allocation's claim to a node. */
  Future<Claim> findClaim(String nodeId, String allocationId) {
    return database
        .readFirst(
            "SELECT node_id, gone_at FROM allocation WHERE allocation_id = ?",
            List.of(allocationId),
            row ->
                row.text("node_id").equals(nodeId) && row.integerOrNull("gone_at") == null
                    ? Claim.HELD
                    : Claim.ENDED)
        .map(found -> found.orElse(Claim.UNKNOWN));
  }

  /** A node that an organization swapped away, and the time. */
  record SwappedAway(String nodeId, String orgId, long atMillis) {}

  /** Lists the nodes that organizations swapped away, the latest last. */
  Future<List<SwappedAway>> listSwappedAway(String pool, long sinceMillis) {
    return database.read(
        SWAPPED_AWAY,
        List.of(sinceMillis, pool),
        row -> new SwappedAway(row.text("node_id"), row.text("org_id"), row.integer("at")));
  }

  /** Returns the time of each organization's last return of an active node, since a time. */
  Future<Map<String, Long>> listGivenBack(String pool, long sinceMillis) {
    return database
        .read(
            GIVEN_BACK,
            List.of(sinceMillis, pool),
            row -> Map.entry(row.text("org_id"), row.integer("at")))
        .map(
            rows ->
                rows.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
  }

  /**
   * Returns the insert of a new node. The commit fails with {@link NodeTakenException} if another
   * node has the id or the address.
   */
  public static Statement insert(String pool, Machine machine, long nowMillis) {
    return NODE.insert(StoredNode.added(pool, machine, nowMillis), "ON CONFLICT DO NOTHING")
        .orElse(NodeTakenException::new);
  }

  /** Stores a new node. Fails with {@link NodeTakenException}. */
  Future<Void> create(String pool, Machine machine, AuditRow audit) {
    return commit(pool, audit, insert(pool, machine, audit.atMillis()));
  }

  /**
   * Replaces a retired node with a new one of the same id. Fails with {@link NodeTakenException} if
   * the node is not retired or another node has the address.
   *
   * @param site the site that the retired node must have; null for any site
   */
  Future<Void> recreate(String pool, Machine machine, @Nullable String site, AuditRow audit) {
    List<Object> values = new ArrayList<>(List.of(machine.nodeId(), machine.publicIp()));
    if (site != null) {
      values.add(site);
    }
    return commit(
        pool,
        audit,
        Statement.guarded(
            NodeTakenException::new,
            """
            UPDATE node SET retired_at = NULL, retired_ip = NULL, generation = generation + 1
            WHERE node_id = ? AND retired_at IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM node o WHERE o.public_ip = ?)\
            """
                + (site == null ? "" : " AND pool IN (SELECT name FROM pool WHERE site = ?)"),
            values.toArray()),
        NODE.update(
            StoredNode.added(pool, machine, audit.atMillis()), "node_id = ?", machine.nodeId()));
  }

  /**
   * Stores the state of a node. Fails with {@link NodeMovedException} if its generation has changed
   * since it was read. A newly found lost grant takes the row's own count of retries, because a
   * stored retry that this process has not read was not for this grant.
   */
  Future<Void> update(Node node, Lease lease) {
    return database.commit(
        List.of(
            lease.fence(),
            Statement.guarded(
                NodeMovedException::new,
                """
                UPDATE node SET failures = ?, usable_after = ?, quarantined_at = ?,
                unclean_after = ?, failure = ?, baseline = ?, reimage_of = ?, reimage_retry = ?,
                reimage_until = ?, reimage_key = ?, lost_grant = ?,
                lost_grant_retry = CASE WHEN CAST(? AS TEXT) IS NULL THEN NULL
                WHEN lost_grant = ? THEN lost_grant_retry ELSE retries END
                WHERE node_id = ? AND generation = ?\
                """,
                node.failures(),
                node.usableAfterMillis(),
                node.quarantinedAtMillis(),
                node.uncleanAfter(),
                node.failure(),
                node.machine().baseline(),
                reimage(node, Reimage::allocationId),
                reimage(node, Reimage::retry),
                reimage(node, Reimage::untilMillis),
                reimage(node, Reimage::hostKey),
                lostGrants(node, LostGrants::stored),
                lostGrants(node, LostGrants::stored),
                lostGrants(node, LostGrants::stored),
                node.nodeId(),
                node.generation())));
  }

  /**
   * Returns the statements that pin the key of a node's new image and record the handover in the
   * commit that frees the node. The commit fails with {@link NodeMovedException} if the node's
   * generation or reimage has changed since it was read, or if another node has the key.
   *
   * @param before the node while it needed the image
   * @param handover the handover with the replaced key
   */
  static List<Statement> reimaged(Node before, Node after, Handover handover) {
    Reimage reimage = Objects.requireNonNull(before.reimage());
    return List.of(
        Statement.guarded(
            NodeMovedException::new,
            """
            UPDATE node SET host_key = ?, baseline = ?, usable_after = ?, quarantined_at = ?,
            unclean_after = ?, failure = ?, reimage_of = NULL, reimage_retry = NULL,
            reimage_until = NULL, reimage_key = NULL, lost_grant = NULL,
            lost_grant_retry = NULL, generation = ?
            WHERE node_id = ? AND generation = ? AND reimage_of = ? AND reimage_key = ?
            AND NOT EXISTS (SELECT 1 FROM node o WHERE o.host_key = ?)\
            """,
            after.machine().hostKey(),
            after.machine().baseline(),
            after.usableAfterMillis(),
            after.quarantinedAtMillis(),
            after.uncleanAfter(),
            after.failure(),
            after.generation(),
            before.nodeId(),
            before.generation(),
            reimage.allocationId(),
            reimage.hostKey(),
            after.machine().hostKey()),
        HANDOVER.insert(handover, "ON CONFLICT DO NOTHING"));
  }

  /** Returns true if a key is pinned for a node, or was replaced by a new image earlier. */
  Future<Boolean> isKnownHostKey(String hostKey) {
    return database.exists(
        """
        SELECT n.node_id FROM node n WHERE n.host_key = ? OR n.host_key LIKE ?
        UNION ALL SELECT h.node_id FROM handover h WHERE h.replaced_key = ?\
        """,
        // A key from a world file may have a comment.
        List.of(hostKey, hostKey + " %", hostKey));
  }

  /** Returns the revision of a cluster's stored state; empty if it is not stored. */
  Future<Optional<Long>> findRevision(String cluster) {
    return database
        .read(
            "SELECT revision FROM cluster WHERE name = ?",
            List.of(cluster),
            row -> row.integer("revision"))
        .map(found -> found.stream().findFirst());
  }

  /** Commits statements behind the fence of the lease. */
  Future<Void> commit(List<Statement> statements, Lease lease) {
    List<Statement> all = new ArrayList<>(List.of(lease.fence()));
    all.addAll(statements);
    return database.commit(all);
  }

  /** Stores the record of a reclaim; an existing record stays unchanged. */
  Future<Void> record(Handover handover, Lease lease) {
    return database.commit(
        List.of(lease.fence(), HANDOVER.insert(handover, "ON CONFLICT DO NOTHING")));
  }

  /**
   * Lists a node's handovers, the latest first.
   *
   * @param except an allocation to leave out, because its own end is not a handover before it
   */
  Future<List<Handover>> listHandovers(String nodeId, String except, int limit) {
    return database.read(
        """
        SELECT %s FROM handover h WHERE h.node_id = ? AND h.allocation_id <> ?
        ORDER BY h.cleaned_at DESC, h.allocation_id LIMIT ?\
        """
            .formatted(HANDOVER.names("h")),
        List.of(nodeId, except, limit),
        NodeStore::handover);
  }

  /**
   * Stores the accepted baseline of a machine and restarts the work that waits for it. It does not
   * allow the market to wipe the machine of an unknown allocation.
   */
  Future<Void> acceptBaseline(String pool, String nodeId, String digest, AuditRow audit) {
    return commit(
        pool,
        audit,
        change(
            pool,
            nodeId,
            "baseline = ?, failures = 0, usable_after = 0, retries = retries + 1,"
                + " lost_grant_retry = lost_grant_retry + 1, generation = generation + 1",
            digest));
  }

  /** Cordons a node, or ends its cordon. */
  Future<Void> cordon(String pool, String nodeId, boolean cordoned, AuditRow audit) {
    return commit(pool, audit, change(pool, nodeId, "cordoned = ?", cordoned));
  }

  /** Resets a node's failures, backoff and quarantine. */
  Future<Void> release(String pool, String nodeId, AuditRow audit) {
    return commit(pool, audit, change(pool, nodeId, FORGIVEN));
  }

  /** Ends a node's backoff and counts one more retry. */
  Future<Void> retry(String pool, String nodeId, AuditRow audit) {
    return commit(
        pool, audit, change(pool, nodeId, "failures = 0, usable_after = 0, retries = retries + 1"));
  }

  /** Replaces the pinned host key of a node. */
  Future<Void> replaceHostKey(String pool, String nodeId, String hostKey, AuditRow audit) {
    return commit(
        pool, audit, change(pool, nodeId, "host_key = ?, baseline = NULL, " + ANOTHER, hostKey));
  }

  /**
   * Retires a free node. Fails with {@link NodeMovedException} if it is already retired or a
   * cluster holds it. The check for a holder runs after the row is locked, because a grant locks
   * the row first.
   */
  Future<Void> retire(String pool, String nodeId, AuditRow audit) {
    return commit(
        pool,
        audit,
        retired(pool, nodeId, audit.atMillis()),
        Statement.guarded(
            NodeMovedException::new,
            """
            UPDATE node SET cordoned = cordoned WHERE node_id = ? AND NOT EXISTS
            (SELECT 1 FROM allocation a WHERE a.node_id = ? AND a.gone_at IS NULL)\
            """,
            nodeId,
            nodeId));
  }

  /**
   * Returns the update that retires a node and frees its address. Fails with {@link
   * NodeMovedException}.
   */
  static Statement retired(String pool, String nodeId, long nowMillis) {
    return set(
        NodeMovedException::new,
        pool,
        nodeId,
        "retired_at = ?, retired_ip = public_ip, public_ip = 'retired ' || node_id, cordoned = ?",
        nowMillis,
        true);
  }

  /**
   * Returns the update of a node that an operator has cleaned. Fails with {@link
   * NodeMovedException}.
   */
  static Statement cleaned(String pool, String nodeId, boolean backToMarket, long nowMillis) {
    return backToMarket
        ? set(NodeMovedException::new, pool, nodeId, FORGIVEN + ", " + ANOTHER)
        : set(
            NodeMovedException::new,
            pool,
            nodeId,
            "quarantined_at = COALESCE(quarantined_at, ?), failures = 0, unclean_after = NULL, "
                + "failure = NULL, "
                + ANOTHER,
            nowMillis);
  }

  /**
   * Returns the update that stores the {@linkplain Database#lineage history} in which a node is
   * granted. It fails the grant's commit with {@link NodeMovedException} if the node can no longer
   * be granted, also if its id was reused for another machine in another pool.
   */
  static Statement granted(String pool, String nodeId, String lineage) {
    return Statement.guarded(
        NodeMovedException::new,
        """
        UPDATE node SET lineage = ? WHERE node_id = ? AND pool = ? AND retired_at IS NULL
        AND cordoned = 0 AND quarantined_at IS NULL AND reimage_of IS NULL\
        """,
        lineage,
        nodeId,
        pool);
  }

  /** The history of nodes granted by a release that does not record one. */
  static final String NO_LINEAGE = "none";

  /** Returns true if the last grant of a node, or its reimage, belongs to this history. */
  Future<Boolean> isOfLineage(String nodeId, String lineage) {
    return database.exists(
        "SELECT node_id FROM node WHERE node_id = ? AND (lineage IS NULL OR lineage = ?)",
        List.of(nodeId, lineage));
  }

  /** Stores that the row of a node is true in this history. */
  Future<Void> setLineage(String nodeId, String lineage, Lease lease) {
    return commit(
        List.of(Statement.of("UPDATE node SET lineage = ? WHERE node_id = ?", lineage, nodeId)),
        lease);
  }

  /** Moves all nodes of a pool from one history to another. */
  Future<Void> changeLineage(String from, String to, Lease lease) {
    return commit(
        List.of(
            Statement.of(
                """
                UPDATE node SET lineage = ? WHERE pool = ? AND retired_at IS NULL
                AND COALESCE(lineage, 'none') = ?\
                """,
                to,
                lease.pool(),
                from)),
        lease);
  }

  /** Returns the change record for a commit that changes nodes of a pool. */
  static Change changed(String pool) {
    return new Change(CHANGED, pool);
  }

  /** Returns the error for a change of a retired node. */
  static ApiException isRetired(String nodeId) {
    return ApiException.of(
            ErrorCode.CONFLICT,
            "node %s is retired; a machine may be added by its id, it itself cannot be changed",
            nodeId)
        .with("reason", "retired");
  }

  /**
   * Returns an operator's change of a node that the operator has seen in a pool. It fails if the
   * node is retired, also if its id was reused for another machine in another pool.
   */
  private static Statement change(
      String pool, String nodeId, String what, @Nullable Object... parameters) {
    return set(() -> isRetired(nodeId), pool, nodeId, what, parameters);
  }

  private static Statement set(
      Supplier<RuntimeException> refusal,
      String pool,
      String nodeId,
      String what,
      @Nullable Object... parameters) {
    @Nullable Object[] all = Arrays.copyOf(parameters, parameters.length + 2);
    all[parameters.length] = nodeId;
    all[parameters.length + 1] = pool;
    return Statement.guarded(
        refusal,
        "UPDATE node SET " + what + " WHERE node_id = ? AND retired_at IS NULL AND pool = ?",
        all);
  }

  private Future<Void> commit(String pool, AuditRow audit, Statement... statements) {
    List<Statement> all = new ArrayList<>(List.of(statements));
    all.add(AuditStore.insert(audit));
    return database.commit(all, List.of(changed(pool)));
  }

  private static Handover handover(Row row) {
    return new Handover(
        row.text("allocation_id"),
        row.text("node_id"),
        row.integer("cleaned_at"),
        new Cleaning(
            row.integer("seconds"),
            row.integer("processes"),
            row.integer("files"),
            row.integer("objects"),
            row.textOrNull("baseline")),
        row.textOrNull("replaced_key"));
  }

  private static StoredNode storedNode(Row row) {
    String cluster = row.textOrNull("cluster");
    return new StoredNode(
        node(row),
        row.text("pool"),
        row.integer("created_at"),
        row.integerOrNull("retired_at"),
        row.integerOrNull("last_seen"),
        row.textOrNull("last_error"),
        Reachability.healthOrNull(row),
        cluster == null
            ? null
            : new Holder(
                cluster, row.value(Allocation.State.class, "state"), row.text("allocation_id")));
  }

  private static @Nullable Reimage reimage(Row row) {
    String allocationId = row.textOrNull("reimage_of");
    return allocationId == null
        ? null
        : new Reimage(
            allocationId,
            row.integer("reimage_retry"),
            row.integer("reimage_until"),
            row.textOrNull("reimage_key"));
  }

  private static @Nullable LostGrants lostGrants(Row row) {
    String stored = row.textOrNull("lost_grant");
    return stored == null ? null : LostGrants.parse(stored, row.integer("lost_grant_retry"));
  }

  private static Node node(Row row) {
    String retiredIp = row.textOrNull("retired_ip");
    return new Node(
        new Machine(
            row.text("node_id"),
            retiredIp == null ? row.text("public_ip") : retiredIp,
            row.smallInteger("ssh_port"),
            row.textOrNull("host_key"),
            row.textOrNull("baseline")),
        row.truth("cordoned"),
        row.smallInteger("failures"),
        row.integer("usable_after"),
        row.integerOrNull("quarantined_at"),
        row.textOrNull("unclean_after"),
        row.textOrNull("failure"),
        row.integer("retries"),
        row.integer("generation"),
        reimage(row),
        lostGrants(row),
        row.textOrNull("last_error") == null
            ? null
            : Reachability.silentSince(row.integerOrNull("last_seen"), row.integer("created_at")));
  }
}
