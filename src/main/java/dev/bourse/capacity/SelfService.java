package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.core.Times;
import dev.bourse.pools.Pool;
import dev.bourse.pools.PoolPrices;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The members' actions on their organization's clusters: they create clusters in pools open to
 * self-service, within the organization's quota, and describe and retire them.
 */
public final class SelfService {
  /**
   * Clusters that members may create within 24 hours beyond the organization's quota, to replace
   * retired ones. A retired cluster keeps its name and its rows for good, so the quota alone would
   * not bound the rows.
   */
  static final int REPLACED_A_DAY = 20;

  private static final Duration DAY = Duration.ofDays(1);

  /** Thrown when the organization's quota is used up. */
  private static final class QuotaReachedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    QuotaReachedException() {
      super("the organization's quota of clusters is used up", null, false, false);
    }
  }

  /** Thrown when the limit of clusters created within 24 hours is reached. */
  private static final class DailyLimitReachedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    DailyLimitReachedException() {
      super("the limit of clusters created within 24 hours is reached", null, false, false);
    }
  }

  private final Database database;
  private final CapacityStore store;
  private final Clusters clusters;
  private final ClusterOwners owners;
  private final ClusterAdminService admin;
  private final int maxClusters;
  private final Clock clock;

  /**
   * @param maxClusters the quota of an organization unless an operator sets another for it
   */
  public SelfService(
      Database database,
      Clusters clusters,
      ClusterOwners owners,
      ClusterAdminService admin,
      int maxClusters,
      Clock clock) {
    this.database = database;
    this.store = owners.store();
    this.clusters = clusters;
    this.owners = owners;
    this.admin = admin;
    this.maxClusters = maxClusters;
    this.clock = clock;
  }

  /**
   * An organization's quota of clusters.
   *
   * @param maximum the most clusters that it may have
   * @param used the number of its clusters that are not retired
   */
  public record Quota(int maximum, int used) {
    /** Returns how many more may be created; 0 if operators created more than the quota. */
    public int left() {
      return Math.max(0, maximum - used);
    }
  }

  /** Reads an organization's quota. Fails with {@code not-found}. */
  public Future<Quota> readQuota(String orgId) {
    return database
        .read(
            """
            SELECT o.max_clusters, (SELECT COUNT(*) FROM cluster c
            WHERE c.org_id = o.org_id AND c.retired_at IS NULL) AS used
            FROM org o WHERE o.org_id = ?\
            """,
            List.of(orgId),
            row ->
                new Quota(
                    row.integerOrNull("max_clusters") == null
                        ? maxClusters
                        : row.smallInteger("max_clusters"),
                    row.smallInteger("used")))
        .map(
            found ->
                found.stream()
                    .findFirst()
                    .orElseThrow(() -> ApiException.notFound("organization", orgId)));
  }

  /** Lists the pools open to self-service by name, with the prices of their last tick. */
  public List<PoolPrices> listPools() {
    return clusters.pools().stream()
        .filter(Pool::selfService)
        .map(pool -> PoolPrices.of(pool, clusters.findQuote(pool.name()).orElse(null)))
        .toList();
  }

  /**
   * A cluster of the caller's organization.
   *
   * @param createdAtMillis when it was created
   */
  public record Owned(ClusterView view, long createdAtMillis) {}

  /**
   * Lists one page of an organization's clusters of both surfaces, by name.
   *
   * @param retired true for retired clusters only, false for the others, empty for all
   */
  public Future<Page<Owned>> listClusters(
      String orgId, Optional<Boolean> retired, String after, int limit) {
    Future<Page<ClusterView>> listed =
        retired.orElse(true)
            ? owners.list(
                new CapacityStore.Filter(Optional.of(orgId), Optional.empty(), retired),
                after,
                limit)
            : Future.succeededFuture(clusters.listLive(orgId, after, limit));
    return listed.compose(
        page ->
            store
                .listCreated(page.items().stream().map(view -> view.cluster().name()).toList())
                .map(created -> new Page<>(owned(page.items(), created), page.more())));
  }

  private static List<Owned> owned(List<ClusterView> views, Map<String, Long> created) {
    return views.stream()
        .map(view -> new Owned(view, created.getOrDefault(view.cluster().name(), 0L)))
        .toList();
  }

  /** Reads one cluster. Fails with {@code not-found}, also if another organization owns it. */
  public Future<Owned> readCluster(String orgId, String name) {
    ClusterView view = own(orgId, name);
    return store.listCreated(List.of(name)).map(created -> owned(List.of(view), created).get(0));
  }

  private ClusterView own(String orgId, String name) {
    return clusters
        .find(name)
        .filter(view -> view.cluster().orgId().equals(orgId))
        .orElseThrow(() -> ApiException.notFound("cluster", name));
  }

  /**
   * Creates a cluster without a declaration. The next tick of its pool reads its declaration.
   *
   * <p>Fails with {@code bad-request} if the pool is not open to self-service, and with {@code
   * conflict} if the name is taken, the quota is used up, the limit within 24 hours is reached or
   * the organization is retired.
   *
   * @param actor the member
   * @param description the member's description; null without one
   */
  public Future<Owned> createCluster(
      String actor,
      String orgId,
      String name,
      String pool,
      Cluster.Kind kind,
      @Nullable String description) {
    if (clusters.findPool(pool).filter(Pool::selfService).isEmpty()) {
      throw notOpen(pool);
    }
    long now = clock.millis();
    Cluster empty = Cluster.created(name, orgId, pool, kind, Cluster.Posture.MARKET);
    AuditRow audit =
        new AuditRow(
            now,
            orgId,
            actor,
            "cluster_create",
            name,
            "pool=%s kind=%s".formatted(pool, kind.name().toLowerCase(Locale.ROOT)));
    return admin
        .make(
            description == null ? empty : describe(description, actor).apply(empty, now).next(),
            List.of(withinQuota(orgId), withinDay(orgId, now), stillOpen(pool)),
            audit)
        .recover(
            e -> {
              if (e instanceof QuotaReachedException) {
                return readQuota(orgId).map(SelfService::refuse);
              }
              return e instanceof DailyLimitReachedException
                  ? refuseToday(orgId, now)
                  : Future.failedFuture(e);
            })
        .map(view -> new Owned(view, now));
  }

  private static ClusterView refuse(Quota quota) {
    throw ApiException.of(
            ErrorCode.CONFLICT,
            "the organization has %s clusters and may have %s (max_clusters); retire one, or ask"
                + " the operator for more",
            quota.used(),
            quota.maximum())
        .with("reason", "limit")
        .with("maximum", quota.maximum());
  }

  /** Checks the quota. The commit has locked the organization's row, so no other write races it. */
  private Statement withinQuota(String orgId) {
    return Statement.guarded(
        QuotaReachedException::new,
        """
        UPDATE org SET org_id = org_id WHERE org_id = ? AND COALESCE(max_clusters, ?) >
        (SELECT COUNT(*) FROM cluster c WHERE c.org_id = org.org_id AND c.retired_at IS NULL)\
        """,
        orgId,
        maxClusters);
  }

  /** Checks the clusters created within 24 hours, retired ones included. */
  private Statement withinDay(String orgId, long nowMillis) {
    return Statement.guarded(
        DailyLimitReachedException::new,
        """
        UPDATE org SET org_id = org_id WHERE org_id = ? AND COALESCE(max_clusters, ?) + ? >
        (SELECT COUNT(*) FROM cluster c WHERE c.org_id = org.org_id AND c.created_at > ?)\
        """,
        orgId,
        maxClusters,
        REPLACED_A_DAY,
        nowMillis - DAY.toMillis());
  }

  private Future<ClusterView> refuseToday(String orgId, long nowMillis) {
    return readQuota(orgId)
        .compose(
            quota -> {
              int most = quota.maximum() + REPLACED_A_DAY;
              return store
                  .findCreated(orgId, most)
                  .map(
                      counted -> {
                        throw ApiException.of(
                                ErrorCode.CONFLICT,
                                "within 24 hours the organization may make %s clusters, those it"
                                    + " has retired among them; the next as of %s",
                                most,
                                Times.rfc3339(counted.orElse(nowMillis) + DAY.toMillis()))
                            .with("reason", "limit")
                            .with("maximum", most);
                      });
            });
  }

  private Statement stillOpen(String pool) {
    return Statement.guarded(
        () -> notOpen(pool),
        "UPDATE pool SET name = name WHERE name = ? AND self_service <> 0",
        pool);
  }

  private ApiException notOpen(String pool) {
    String open =
        clusters.pools().stream()
            .filter(Pool::selfService)
            .map(Pool::name)
            .collect(Collectors.joining(", "));
    return ApiException.badField(
        "pool",
        pool,
        open.isEmpty()
            ? "a pool open to self-service, of which there is none; ask the operator"
            : "a pool open to self-service: " + open);
  }

  /**
   * Changes a cluster's description. Fails with {@code not-found}, and with {@code conflict} if it
   * is retired.
   *
   * @param actor the member
   * @param description the description; null to remove it
   */
  public Future<Owned> describeCluster(
      String actor, String orgId, String name, @Nullable String description) {
    own(orgId, name);
    return owners.submit(name, describe(description, actor)).compose(v -> readCluster(orgId, name));
  }

  /**
   * Retires a cluster for good: nothing can be declared for it any more, and its name is not used
   * again. Its activity can still be read. Repeating it changes nothing.
   *
   * <p>Fails with {@code not-found}, and with {@code conflict} if it holds nodes and {@code
   * givesBack} is false.
   *
   * @param actor the member
   * @param givesBack true to release the nodes that it holds
   */
  public Future<Owned> retireCluster(String actor, String orgId, String name, boolean givesBack) {
    own(orgId, name);
    return owners.submit(name, retire(actor, givesBack)).compose(v -> readCluster(orgId, name));
  }

  /** Sets or removes a cluster's description; changes nothing if it is the same. */
  static Command describe(@Nullable String description, String actor) {
    return (cluster, now) -> {
      Capacity.requireLive(cluster);
      if (Objects.equals(cluster.description(), description)) {
        return Transition.none(cluster);
      }
      Cluster.Draft draft = cluster.draft();
      draft.description = description;
      return new Transition(
          cluster,
          draft.build(),
          List.of(),
          audit(
              cluster,
              now,
              actor,
              "cluster_describe",
              "description=" + (description == null ? "none" : Text.shown(description))));
    };
  }

  /** Retires a cluster. Held nodes, pinned ones included, are released or prevent it. */
  static Command retire(String actor, boolean givesBack) {
    return (cluster, now) -> {
      if (cluster.isRetired()) {
        return Transition.none(cluster);
      }
      long held = cluster.allocations().stream().filter(Allocation::isOpen).count();
      if (held > 0 && !givesBack) {
        throw ApiException.of(
                ErrorCode.CONFLICT,
                "cluster %s holds %s nodes, which would be reclaimed at once with all that is on"
                    + " them; release them, or pass give_back=true",
                cluster.name(),
                held)
            .with("reason", "in-use");
      }
      Cluster.Draft draft = cluster.draft();
      int givenUp = cluster.countGivenUp(cluster.releaseOrder(), 0, now);
      if (givenUp > 0) {
        draft.standing = cluster.standing().withGiveUp(now);
      }
      List<Activity> activity =
          OperatorCommands.giveBack(draft, cluster, actor, Allocation.Reason.SCALE_DOWN, now);
      draft.retiredAtMillis = now;
      return new Transition(
          cluster,
          draft.build(),
          activity,
          audit(cluster, now, actor, "cluster_retire", "nodes=" + held),
          List.of(),
          null,
          BidderEvents.Count.listGivenUp(cluster, givenUp));
    };
  }

  private static AuditRow audit(
      Cluster cluster, long nowMillis, String actor, String action, String detail) {
    return new AuditRow(nowMillis, cluster.orgId(), actor, action, cluster.name(), detail);
  }
}
