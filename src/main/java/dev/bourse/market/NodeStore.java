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
 * Rows of nodes. What operators change of one is committed together with the row that records it.
 */
public final class NodeStore {
  /** What other processes are told when operators change nodes; the key is the pool. */
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

  /** What {@link NodeView#state} says of a row; takes the present time twice, the second by far. */
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
   * The reason stands in the text, for an index holds these rows alone. A cross join, because
   * SQLite carries it out in the order written: from the few swapped away lately to their clusters,
   * and not through all that clusters ever gave back.
   */
  static final String SWAPPED_AWAY =
      """
      SELECT a.node_id, c.org_id, MAX(a.reclaim_at) AS at FROM allocation a CROSS JOIN cluster c
      WHERE a.reclaim_reason = 'SWAP' AND a.reclaim_at > ? AND c.name = a.cluster
      AND c.pool = ? GROUP BY a.node_id, c.org_id ORDER BY 3\
      """;

  /** As above, by the index on when allocations were reclaimed. */
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

  /** An operator made another machine of it, which needs no image after what held it before. */
  private static final String ANOTHER = "generation = generation + 1, " + NO_REIMAGE;

  /**
   * A node was retired, replaced, granted or given back since it was read, so that nothing of the
   * commit was written.
   */
  static final class NodeMovedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NodeMovedException() {
      super("the node has changed since it was read", null, false, false);
    }
  }

  /** The id or the address of a new node is another node's, so that nothing was written. */
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
   * A node as it is stored.
   *
   * @param retiredAtMillis when it was retired; null while it is not
   * @param lastSeenMillis when it last answered; null when it never did
   * @param lastError why it did not when it was last tried; null when it did
   * @param examined its hardware; null if it was never examined
   * @param holder the cluster that holds it or is giving it back; null when none is
   */
  record StoredNode(
      Node node,
      String pool,
      long createdAtMillis,
      @Nullable Long retiredAtMillis,
      @Nullable Long lastSeenMillis,
      @Nullable String lastError,
      Reachability.@Nullable Examined examined,
      @Nullable Holder holder) {

    /** A machine that was just added. */
    static StoredNode added(String pool, Machine machine, long nowMillis) {
      return new StoredNode(
          new Node(machine, false, 0, 0, null), pool, nowMillis, null, null, null, null, null);
    }

    Machine machine() {
      return node.machine();
    }
  }

  /** Who has a node, by which allocation, and how. */
  record Holder(String cluster, Allocation.State state, String allocationId) {}

  /** Every node of a pool that is not retired, by id. */
  Future<List<Node>> list(String pool) {
    return database.read(OF_POOL, List.of(pool), NodeStore::node);
  }

  /** A page of a pool's nodes, by id, after this one: the retired ones, or all others. */
  Future<List<StoredNode>> list(String pool, String after, boolean retired, int limit) {
    return database.read(
        "%s WHERE n.pool = ? AND n.node_id > ? AND n.retired_at IS %s ORDER BY n.node_id LIMIT ?"
            .formatted(STORED_NODES, retired ? "NOT NULL" : "NULL"),
        List.of(pool, after, limit),
        NodeStore::storedNode);
  }

  /**
   * What is looked for among the nodes of all pools.
   *
   * @param pool of this pool
   * @param site of pools at this site
   * @param state what becomes of them; empty for all that are not retired. Quarantined are all that
   *     wait for an operator, those that are being reclaimed for ever among them.
   */
  public record Sought(
      Optional<String> pool, Optional<String> site, Optional<NodeView.State> state) {

    /** The same at one site alone; null for at any. */
    Sought at(@Nullable String only) {
      return only == null ? this : new Sought(pool, Optional.of(only), state);
    }
  }

  /** A page of the nodes of all pools that are looked for, by id, after this one. */
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

  /** So many nodes of a pool are in one state. */
  public record Count(String pool, NodeView.State state, long nodes) {}

  /** How many nodes of each pool are in each state, the retired ones left out. */
  Future<List<Count>> countStates(long nowMillis) {
    return database.read(
        """
        SELECT n.pool, %s AS becomes, COUNT(*) AS nodes FROM node n%s
        WHERE n.retired_at IS NULL GROUP BY 1, 2\
        """
            .formatted(STATE, HELD_BY),
        List.of(nowMillis, Node.longestBackOffEnd(nowMillis)),
        row ->
            new Count(
                row.text("pool"),
                row.value(NodeView.State.class, "becomes"),
                row.integer("nodes")));
  }

  /** How many nodes wait for an operator. */
  Future<Long> countQuarantined() {
    return database.readOne(
        """
        SELECT COUNT(*) AS nodes FROM node
        WHERE quarantined_at IS NOT NULL AND retired_at IS NULL\
        """,
        List.of(),
        row -> row.integer("nodes"));
  }

  /** So many of them, those that have waited longest first. */
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

  /** One node. Fails with {@code not-found} when there is none. */
  Future<StoredNode> get(String nodeId) {
    return find(nodeId)
        .map(found -> found.orElseThrow(() -> ApiException.notFound("node", nodeId)));
  }

  Future<Optional<StoredNode>> find(String nodeId) {
    return database.readFirst(
        STORED_NODES + " WHERE n.node_id = ?", List.of(nodeId), NodeStore::storedNode);
  }

  /** The node at an address. */
  Future<Optional<String>> findAt(String publicIp) {
    return database.readFirst(
        "SELECT node_id FROM node WHERE public_ip = ?",
        List.of(publicIp),
        row -> row.text("node_id"));
  }

  /** The machines a cluster holds, by address. */
  Future<List<Machine>> listHeld(String cluster) {
    return database.read(
        """
        SELECT n.node_id, n.public_ip, n.ssh_port, n.host_key
        FROM allocation a JOIN node n ON n.node_id = a.node_id
        WHERE a.cluster = ? AND a.gone_at IS NULL ORDER BY n.public_ip\
        """,
        List.of(cluster),
        row ->
            new Machine(
                row.text("node_id"),
                row.text("public_ip"),
                row.smallInteger("ssh_port"),
                row.textOrNull("host_key")));
  }

  /** How many nodes there are in pools of a provider. */
  Future<Integer> count(String provider) {
    return database.readOne(
        """
        SELECT COUNT(*) AS nodes FROM node n JOIN pool p ON p.name = n.pool
        WHERE p.provider = ?\
        """,
        List.of(provider),
        row -> row.smallInteger("nodes"));
  }

  /** Which of these addresses nodes have. */
  Future<List<String>> listTaken(List<String> addresses) {
    return database.read(
        "SELECT public_ip FROM node WHERE public_ip IN (%s)"
            .formatted(String.join(", ", Collections.nCopies(addresses.size(), "?"))),
        addresses,
        row -> row.text("public_ip"));
  }

  /** An allocation's claim to a node. */
  enum Claim {
    /** The node is the allocation's, whatever its state. */
    HELD,
    /** The allocation is gone, or lives on another node. It never has this one again. */
    ENDED,
    /**
     * No allocation of this id was ever stored here. One that was stored before a machine was
     * marked for it is lost when the database is set back, as by a fail-over to a standby that
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

  /** A node an organization swapped away, and when. */
  record SwappedAway(String nodeId, String orgId, long atMillis) {}

  /** The latest last. */
  Future<List<SwappedAway>> listSwappedAway(String pool, long sinceMillis) {
    return database.read(
        SWAPPED_AWAY,
        List.of(sinceMillis, pool),
        row -> new SwappedAway(row.text("node_id"), row.text("org_id"), row.integer("at")));
  }

  /** Returns when organizations last gave back an active node since then. */
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

  /** A new node's row. The commit fails when its id or its address is another node's. */
  public static Statement insert(String pool, Machine machine, long nowMillis) {
    return NODE.insert(StoredNode.added(pool, machine, nowMillis), "ON CONFLICT DO NOTHING")
        .orElse(NodeTakenException::new);
  }

  /** Stores a new node. Fails with {@link NodeTakenException}. */
  Future<Void> create(String pool, Machine machine, AuditRow audit) {
    return commit(pool, audit, insert(pool, machine, audit.atMillis()));
  }

  /**
   * Stores a new node in the place of a retired one of its id. Fails with {@link
   * NodeTakenException} when that is not retired, or the address is another node's.
   *
   * @param site where the retired one has to have been; null for anywhere
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
   * Stores what became of a node. Fails with {@link NodeMovedException} when an operator made
   * another of it meanwhile. A newly found lost grant takes the row's own count of retries, because
   * a retry that is stored and not read yet was not for this grant.
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
   * Pins the key of a node's new image and records the handover, in a commit that makes the node
   * free. It fails with {@link NodeMovedException} if an operator made another of the node
   * meanwhile, or if the key is another node's.
   *
   * @param before the node as it needed the image
   * @param handover with the key that is replaced
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

  /** True if a key is pinned for a node now, or was replaced by a new image once. */
  Future<Boolean> isKnownHostKey(String hostKey) {
    return database.exists(
        """
        SELECT n.node_id FROM node n WHERE n.host_key = ? OR n.host_key LIKE ?
        UNION ALL SELECT h.node_id FROM handover h WHERE h.replaced_key = ?\
        """,
        // A key of a world file may have a comment.
        List.of(hostKey, hostKey + " %", hostKey));
  }

  /** Commits statements that fail without the lease. */
  Future<Void> commit(List<Statement> statements, Lease lease) {
    List<Statement> all = new ArrayList<>(List.of(lease.fence()));
    all.addAll(statements);
    return database.commit(all);
  }

  /** Stores the record of a reclaim; one that was recorded stays as it is. */
  Future<Void> record(Handover handover, Lease lease) {
    return database.commit(
        List.of(lease.fence(), HANDOVER.insert(handover, "ON CONFLICT DO NOTHING")));
  }

  /**
   * A node's handovers, the latest first.
   *
   * @param except an allocation that is left out, because its own end is not a handover before it
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
   * Accepts what root owns on a machine, and has the work that waits for it taken up again. It
   * allows nobody to wipe the machine of an unknown allocation.
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

  /** Keeps a node out of the market, or lets it in again. */
  Future<Void> cordon(String pool, String nodeId, boolean cordoned, AuditRow audit) {
    return commit(pool, audit, change(pool, nodeId, "cordoned = ?", cordoned));
  }

  /** Forgets a node's failures. */
  Future<Void> release(String pool, String nodeId, AuditRow audit) {
    return commit(pool, audit, change(pool, nodeId, FORGIVEN));
  }

  /** Forgets a node's back-off and counts one more retry. */
  Future<Void> retry(String pool, String nodeId, AuditRow audit) {
    return commit(
        pool, audit, change(pool, nodeId, "failures = 0, usable_after = 0, retries = retries + 1"));
  }

  /** Knows a node by another host key from now on. */
  Future<Void> replaceHostKey(String pool, String nodeId, String hostKey, AuditRow audit) {
    return commit(
        pool, audit, change(pool, nodeId, "host_key = ?, baseline = NULL, " + ANOTHER, hostKey));
  }

  /**
   * Retires a node that nobody holds. Fails with {@link NodeMovedException} when it is retired
   * already or a cluster holds it. The second is checked once the row is locked, because a grant
   * locks it first.
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
   * A node's row once it is retired; its address is free. Fails with {@link NodeMovedException}.
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

  /** A node's row once an operator has cleaned it. Fails with {@link NodeMovedException}. */
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
   * Stores in which {@linkplain Database#lineage history} a node is granted. Fails a grant's commit
   * with {@link NodeMovedException} when the node was retired meanwhile, also when another machine
   * was added by its id to another pool.
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

  /** The history of nodes that were granted by a release that notes none. */
  static final String NO_LINEAGE = "none";

  /** True if the last grant of a node, or its reimage, is of this history. */
  Future<Boolean> isOfLineage(String nodeId, String lineage) {
    return database.exists(
        "SELECT node_id FROM node WHERE node_id = ? AND (lineage IS NULL OR lineage = ?)",
        List.of(nodeId, lineage));
  }

  /** Stores that what is known of a node is true in this history. */
  Future<Void> setLineage(String nodeId, String lineage, Lease lease) {
    return commit(
        List.of(Statement.of("UPDATE node SET lineage = ? WHERE node_id = ?", lineage, nodeId)),
        lease);
  }

  /** Stores the same for all nodes of a pool that are of another history, or of none. */
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

  /** What goes into a commit that changes a node. */
  static Change changed(String pool) {
    return new Change(CHANGED, pool);
  }

  /** What becomes of a change to a node that is retired. */
  static ApiException isRetired(String nodeId) {
    return ApiException.of(
            ErrorCode.CONFLICT,
            "node %s is retired; a machine may be added by its id, it itself cannot be changed",
            nodeId)
        .with("reason", "retired");
  }

  /**
   * An operator's change of a node that the operator has seen in a pool; refused when it is
   * retired, also when another machine was added by its id to another pool.
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
        Reachability.examinedOrNull(row),
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
