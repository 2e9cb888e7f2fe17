package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Text;
import dev.bourse.json.Setting;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The operators' actions on clusters of any organization and surface. */
public final class ClusterAdminService {
  /** Attempts to create a cluster while the organization's hold changes; it changes in days. */
  private static final int TRIES = 5;

  private final CapacityStore store;
  private final Clusters clusters;
  private final ClusterOwners owners;
  private final Holds holds;
  private final Clock clock;

  /**
   * @param holds the billing holds of organizations, which apply to their new clusters
   */
  public ClusterAdminService(Clusters clusters, ClusterOwners owners, Holds holds, Clock clock) {
    this.store = owners.store();
    this.clusters = clusters;
    this.owners = owners;
    this.holds = holds;
    this.clock = clock;
  }

  /** Lists one page of clusters by name, optionally of one organization or pool. */
  public Future<Page<ClusterView>> listClusters(
      Optional<String> org, Optional<String> pool, String after, int limit) {
    return owners.list(new CapacityStore.Filter(org, pool, Optional.empty()), after, limit);
  }

  /** Returns the latest snapshot of a cluster. Fails with {@code not-found}. */
  public ClusterView readCluster(String name) {
    return clusters.find(name).orElseThrow(() -> ApiException.notFound("cluster", name));
  }

  /**
   * Creates a cluster without a declaration, under the current billing hold of its organization.
   * This process accepts declarations for it at once, other processes after they have read it.
   *
   * <p>Fails with {@code bad-request} if the organization or the pool does not exist, with {@code
   * conflict} if the name is taken or the organization is retired.
   *
   * @param actor the operator
   */
  public Future<ClusterView> createCluster(String actor, Cluster cluster) {
    if (clusters.findPool(cluster.pool()).isEmpty()) {
      throw ApiException.badField("pool", cluster.pool(), "a pool that exists");
    }
    AuditRow audit =
        new AuditRow(
            clock.millis(),
            // The platform owns the row: the cluster's name may equal its organization's id.
            Trails.PLATFORM,
            actor,
            "cluster_create",
            cluster.name(),
            "org=%s pool=%s kind=%s posture=%s"
                .formatted(
                    cluster.orgId(),
                    cluster.pool(),
                    lower(cluster.kind()),
                    lower(cluster.posture())));
    return store
        .findOrgLive(cluster.orgId())
        .compose(
            live -> {
              if (live.isEmpty()) {
                throw ApiException.badField("org", cluster.orgId(), "an organization that exists");
              }
              return make(cluster, List.of(), audit);
            });
  }

  /**
   * Creates a cluster in one commit with guarded statements. They run after the organization's row
   * is locked.
   */
  Future<ClusterView> make(Cluster cluster, List<Statement> demands, AuditRow audit) {
    return make(cluster, demands, audit, TRIES)
        .compose(
            created ->
                owners
                    .refresh(cluster.name())
                    .recover(e -> Future.failedFuture(ApiException.storedOnly())))
        .map(adopted -> readCluster(cluster.name()));
  }

  /** Checks the hold in the same commit, so that no market sees the cluster without it. */
  private Future<Void> make(
      Cluster cluster, List<Statement> demands, AuditRow audit, int triesLeft) {
    return holds
        .readHold(cluster.orgId())
        .compose(
            standing ->
                store.create(
                    OperatorCommands.billingHold(standing.hold()).apply(cluster, audit.atMillis()),
                    Stream.concat(demands.stream(), standing.fences().stream()).toList(),
                    audit))
        .recover(
            e -> {
              if (!(e instanceof Holds.HoldMovedException)) {
                return Future.failedFuture(e);
              }
              return triesLeft > 1
                  ? make(cluster, demands, audit, triesLeft - 1)
                  : Future.failedFuture(
                      ApiException.retryLater(
                          ErrorCode.OVERLOADED,
                          "the hold of organization '%s' keeps moving; nothing was made"
                              .formatted(cluster.orgId()),
                          1_000));
            });
  }

  /**
   * An operator's change of a cluster; an empty field stays as it is.
   *
   * @param posture the authority over the number of its nodes
   * @param writesArmed true if its declaration can be written
   * @param maintenance true while an operator works on it
   * @param cap the highest ceiling accepted, in cents per GPU-hour; cleared for the pool's cap
   * @param env all environment variables of its own; an empty value removes the pool's variable
   */
  public record Settings(
      Optional<Cluster.Posture> posture,
      Optional<Boolean> writesArmed,
      Optional<Boolean> maintenance,
      Setting<Long> cap,
      Optional<Map<String, Optional<String>>> env) {

    Overrides over(Overrides standing) {
      Overrides changed = standing.withCap(cap.over(standing.capCents()));
      return env.map(changed::with).orElse(changed);
    }

    /** Returns the detail of the audit row; it names variables only, because values may be long. */
    private String detail() {
      List<String> fields = new ArrayList<>();
      posture.ifPresent(p -> fields.add("posture=" + lower(p)));
      writesArmed.ifPresent(on -> fields.add("writes_armed=" + on));
      maintenance.ifPresent(on -> fields.add("maintenance=" + on));
      if (!(cap instanceof Setting.Kept)) {
        Long cents = cap.over(null);
        fields.add("max_price_cap_per_gpu_hour=" + (cents == null ? "none" : Price.shown(cents)));
      }
      env.ifPresent(e -> fields.add("env=[" + String.join(",", e.keySet()) + "]"));
      return String.join(" ", fields);
    }
  }

  /**
   * Changes a cluster's settings; its declaration and its nodes stay. Fails with {@code not-found},
   * with {@code conflict} if it is retired, and with {@code bad-request} if the cap is under the
   * pool's reserve price, because such a cluster could never buy anything.
   *
   * @param actor the operator
   */
  public Future<ClusterView> updateCluster(String actor, String name, Settings settings) {
    ClusterView view = readCluster(name);
    Long cents = settings.cap().over(null);
    if (cents != null && cents < view.pool().reserveCents()) {
      throw ApiException.badField(
          "max_price_cap_per_gpu_hour",
          Price.shown(cents),
          "at least the pool's reserve price, which is " + Price.shown(view.pool().reserveCents()));
    }
    return submit(name, OperatorCommands.set(settings), actor, "cluster_update", settings.detail());
  }

  /**
   * Pins or unpins a held node. A pinned node cannot be swapped or taken by the market. Fails with
   * {@code not-found} and {@code unknown-node}.
   *
   * @param actor the operator
   */
  public Future<ClusterView> pinNode(String actor, String name, String publicIp, boolean pinned) {
    readCluster(name);
    return submit(
        name,
        OperatorCommands.pin(publicIp, pinned),
        actor,
        pinned ? "node_pin" : "node_unpin",
        "node=" + Text.shown(publicIp));
  }

  private Future<ClusterView> submit(
      String name, Command command, String actor, String action, String detail) {
    return owners.submit(name, OperatorCommands.recorded(command, actor, action, detail));
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
