package dev.bourse.capacity;

import dev.bourse.access.CallerGuard;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Reads clusters with their allocations from the store, and commits transitions. */
public final class CapacityStore {
  /** The kind of change that other processes get when a cluster changes; the key is its name. */
  public static final String CHANGED = "cluster";

  /** Thrown when another process changed the cluster first. */
  static final class RevisionPassedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    RevisionPassedException(String cluster, long revision) {
      super(
          "the stored state of cluster %s is not revision %d".formatted(cluster, revision),
          null,
          false,
          false);
    }
  }

  private final Database database;
  private final RandomGenerator random;

  /**
   * @param random draws revisions, see {@link Revisions}
   */
  public CapacityStore(Database database, RandomGenerator random) {
    this.database = database;
    this.random = random;
  }

  /** Returns the limits of callers' declarations. */
  DeclarationLimitsReader limitsReader(Clusters clusters) {
    return new DeclarationLimitsReader(clusters, database);
  }

  /** True if other processes use the same store. */
  boolean isShared() {
    return database.isShared();
  }

  /**
   * Lists clusters that are not settled, with their live allocations, by name.
   *
   * @param after the name after which the list starts
   */
  Future<List<Cluster>> listClustersAfter(String after, int limit) {
    return load(
        ClusterRows.selectFrom(
            "(SELECT * FROM cluster WHERE name > ? AND NOT %s ORDER BY name LIMIT ?)"
                .formatted(ClusterRows.SETTLED),
            ""),
        List.of(after, limit));
  }

  /** A cluster's name and the revision of its stored state. */
  record Revision(String name, long revision) {}

  /** Lists revisions of clusters that are not settled, by name, after this name. */
  Future<List<Revision>> listRevisions(String after, int limit) {
    return database.read(
        "SELECT name, revision FROM cluster WHERE name > ? AND NOT %s ORDER BY name LIMIT ?"
            .formatted(ClusterRows.SETTLED),
        List.of(after, limit),
        row -> new Revision(row.text("name"), row.integer("revision")));
  }

  /** Reads these clusters; clusters that are not stored are left out. */
  Future<List<Cluster>> listClusters(List<String> names) {
    List<String> all = InList.of(names);
    return load(ClusterRows.select(" WHERE c.name IN " + InList.marks(all)), all);
  }

  /** Reads one cluster. */
  Future<Optional<Cluster>> findCluster(String name) {
    return load(ClusterRows.select(" WHERE c.name = ?"), List.of(name))
        .map(list -> list.stream().findFirst());
  }

  private Future<List<Cluster>> load(String select, List<?> parameters) {
    return database
        .read(select, parameters, new ClusterRows.Reading()::joined)
        .map(ClusterRows::gather);
  }

  /**
   * Commits a transition and its caller's fences in one transaction.
   *
   * @param more further changes to send to other processes
   */
  Future<Cluster> commit(
      Transition transition, List<Statement> fences, List<Change> more, long nowMillis) {
    AuditRow audit = transition.audit();
    HourlyLimit hourlyLimit = transition.hourlyLimit();
    List<Statement> statements = new ArrayList<>();
    if (hourlyLimit != null) {
      statements.add(hourlyLimit.lock());
    }
    statements.addAll(fences);
    Cluster next = withNextRevision(transition.next(), transition.before().revision());
    statements.add(ClusterRows.update(next, transition.before().revision()));
    if (hourlyLimit != null) {
      statements.add(hourlyLimit.demand());
    }
    Standing.Gate gate = transition.next().standing().gate();
    if (gate != null && !gate.equals(transition.before().standing().gate())) {
      statements.add(ClusterRows.insert(transition.next().name(), gate));
    }
    for (BidderEvents.Count count : transition.bidderCounts()) {
      statements.add(BidderEvents.insert(next.pool(), nowMillis, count));
    }
    allocationChanges(transition, nowMillis, statements);
    for (Activity entry : transition.activity()) {
      statements.add(
          ActivityRows.insert(entry, transition.next().name(), at(entry, transition, nowMillis)));
    }
    if (audit != null) {
      statements.add(AuditStore.insert(audit));
    }
    List<Change> changes = new ArrayList<>(more);
    changes.add(changed(next));
    return database.commit(statements, changes).map(next);
  }

  /** Returns the state with the revision that follows {@code before}. */
  private Cluster withNextRevision(Cluster next, long before) {
    return database.isShared() ? next.withRevision(Revisions.after(before, random)) : next;
  }

  /** Returns the time of an entry; that of a declaration is never before the previous one's. */
  private static long at(Activity entry, Transition transition, long nowMillis) {
    Declaration declared = transition.next().declared();
    return entry.event() instanceof ClusterEvent.Declared && declared != null
        ? Declaration.notBefore(declared, nowMillis)
        : nowMillis;
  }

  /** Returns the inserts of a new cluster and of the allocations that it starts with. */
  public static List<Statement> insert(Cluster cluster, long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    statements.add(ClusterRows.insert(cluster, nowMillis));
    cluster.allocations().forEach(a -> statements.add(AllocationRows.insert(a, cluster.name())));
    return statements;
  }

  /**
   * Returns true if the organization is not retired, false if it is, and empty if it does not
   * exist.
   */
  Future<Optional<Boolean>> findOrgLive(String orgId) {
    return database.readFirst(
        "SELECT retired_at FROM org WHERE org_id = ?",
        List.of(orgId),
        row -> row.integerOrNull("retired_at") == null);
  }

  /** Lists the names of an organization's clusters that are not settled. */
  Future<List<String>> listUnsettled(String orgId) {
    return database.read(
        "SELECT name FROM cluster WHERE org_id = ? AND NOT " + ClusterRows.SETTLED,
        List.of(orgId),
        row -> row.text("name"));
  }

  /** The criteria of a list of clusters; an empty criterion matches all. */
  record Filter(Optional<String> orgId, Optional<String> pool, Optional<Boolean> retired) {}

  /** Lists names of clusters, settled ones included, after this name. */
  Future<List<String>> listNames(Filter filter, String after, int limit) {
    StringBuilder sql = new StringBuilder("SELECT name FROM cluster WHERE name > ?");
    List<Object> values = new ArrayList<>(List.of(after));
    filter
        .orgId()
        .ifPresent(
            id -> {
              sql.append(" AND org_id = ?");
              values.add(id);
            });
    filter
        .pool()
        .ifPresent(
            pool -> {
              sql.append(" AND pool = ?");
              values.add(pool);
            });
    filter
        .retired()
        .ifPresent(
            retired -> sql.append(" AND retired_at IS ").append(retired ? "NOT NULL" : "NULL"));
    values.add(limit);
    return database.read(
        sql.append(" ORDER BY name LIMIT ?").toString(), values, row -> row.text("name"));
  }

  /**
   * Returns when the organization's n-th newest cluster was created; empty if it has fewer.
   *
   * @param fromNewest n, from 1 for the newest
   */
  Future<Optional<Long>> findCreated(String orgId, int fromNewest) {
    return database.readFirst(
        """
        SELECT created_at FROM cluster WHERE org_id = ? ORDER BY created_at DESC
        LIMIT 1 OFFSET ?\
        """,
        List.of(orgId, fromNewest - 1),
        row -> row.integer("created_at"));
  }

  /** Returns when these clusters were created, by name. */
  Future<Map<String, Long>> listCreated(List<String> names) {
    Map<String, Long> created = new HashMap<>();
    if (names.isEmpty()) {
      return Future.succeededFuture(created);
    }
    List<String> all = InList.of(names);
    return database
        .read(
            "SELECT name, created_at FROM cluster WHERE name IN " + InList.marks(all),
            all,
            row -> created.put(row.text("name"), row.integer("created_at")))
        .map(read -> created);
  }

  /**
   * Stores a new cluster and its audit row. Fails with {@code conflict} if the name is taken or the
   * organization is retired, and with the error of a fence that does not hold.
   *
   * @param made the transition to the cluster's first state
   */
  Future<Void> create(Transition made, List<Statement> fences, AuditRow audit) {
    Cluster cluster = withNextRevision(made.next(), 0);
    List<Statement> statements = new ArrayList<>();
    // Locks the organization's row, so that it cannot be retired at the same time.
    statements.add(
        Statement.guarded(
            () ->
                ApiException.of(ErrorCode.CONFLICT, "organization '%s' is retired", cluster.orgId())
                    .with("reason", "retired"),
            "UPDATE org SET org_id = org_id WHERE org_id = ? AND retired_at IS NULL",
            cluster.orgId()));
    statements.addAll(CallerGuard.of(cluster.orgId(), audit.actor()));
    statements.addAll(fences);
    statements.addAll(insert(cluster, audit.atMillis()));
    made.activity()
        .forEach(
            entry -> statements.add(ActivityRows.insert(entry, cluster.name(), audit.atMillis())));
    statements.add(AuditStore.insert(audit));
    return database.commit(statements, List.of(changed(cluster)));
  }

  /** Returns the change that other processes get for a stored cluster. */
  private Change changed(Cluster next) {
    return database.isShared()
        ? new Change(CHANGED, next.name(), next.revision(), ClusterRows.line(next))
        : new Change(CHANGED, next.name());
  }

  private static void allocationChanges(
      Transition transition, long nowMillis, List<Statement> statements) {
    List<Allocation> before = transition.before().allocations();
    List<Allocation> after = transition.next().allocations();
    if (before.equals(after)) {
      return;
    }
    Map<String, Allocation> known = new HashMap<>();
    before.forEach(a -> known.put(a.allocationId(), a));
    Set<String> kept = new HashSet<>();
    for (Allocation allocation : after) {
      kept.add(allocation.allocationId());
      Allocation old = known.get(allocation.allocationId());
      if (old == null) {
        statements.add(AllocationRows.insert(allocation, transition.next().name()));
      } else if (!old.equals(allocation)) {
        statements.add(AllocationRows.update(allocation));
        if (old.isCredited() != allocation.isCredited()) {
          statements.add(AllocationRows.insert(transition.next(), allocation, nowMillis));
        }
      }
    }
    transition.ended().forEach(ended -> statements.add(AllocationRows.update(ended)));
    for (Allocation old : before) {
      if (!kept.contains(old.allocationId())) {
        statements.add(AllocationRows.end(old, nowMillis));
      }
    }
  }
}
