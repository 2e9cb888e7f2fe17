package dev.bourse.capacity;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Text;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What operators do to clusters of any organization and surface. */
public final class ClusterAdminService {
  /** How often a making is begun anew because the organization's hold moved; it moves by days. */
  private static final int TRIES = 5;

  private final CapacityStore store;
  private final Clusters clusters;
  private final ClusterOwners owners;
  private final Holds holds;
  private final Clock clock;

  /**
   * @param holds what organizations are held for, which their new clusters are under from the start
   */
  public ClusterAdminService(Clusters clusters, ClusterOwners owners, Holds holds, Clock clock) {
    this.store = owners.store();
    this.clusters = clusters;
    this.owners = owners;
    this.holds = holds;
    this.clock = clock;
  }

  /** One page of the clusters, by name; of an organization's or a pool's when one is named. */
  public Future<Page<ClusterView>> listClusters(
      Optional<String> org, Optional<String> pool, String after, int limit) {
    return owners.list(new CapacityStore.Filter(org, pool, Optional.empty()), after, limit);
  }

  /** The latest snapshot of one cluster. Refused with {@code not-found}. */
  public ClusterView readCluster(String name) {
    return clusters.find(name).orElseThrow(() -> ApiException.notFound("cluster", name));
  }

  /**
   * Makes a cluster that nobody has declared anything for, under the hold its organization is under
   * at that moment. It can be declared for as soon as this succeeds, on other processes once they
   * have heard of it.
   *
   * <p>Refused with {@code bad-request} for an organization or a pool that does not exist, with
   * {@code conflict} when the name is taken or the organization is retired.
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
            // Not by the subject: a cluster may be named like its organization.
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
   * Makes a cluster in one commit with statements that must hold, which come after a look that
   * keeps others from changing its organization.
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

  /** In one commit with a look at the hold, so that no market sees the cluster without it. */
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
   * A price cap to set.
   *
   * @param cents the highest ceiling accepted, in cents per GPU-hour; null for the pool's
   */
  public record Cap(@Nullable Long cents) {}

  /**
   * What an operator changes of a cluster; what is empty stays.
   *
   * @param posture who decides how much it holds
   * @param writesArmed whether its declaration can be written
   * @param maintenance whether an operator is working on it
   * @param cap the highest ceiling its writes may name
   * @param env environment variables of its own in the place of those set before; an empty value
   *     takes the pool's away
   */
  public record Settings(
      Optional<Cluster.Posture> posture,
      Optional<Boolean> writesArmed,
      Optional<Boolean> maintenance,
      Optional<Cap> cap,
      Optional<Map<String, Optional<String>>> env) {

    Overrides over(Overrides standing) {
      Overrides changed = cap.map(c -> standing.capped(c.cents())).orElse(standing);
      return env.map(changed::with).orElse(changed);
    }

    /** As recorded; of variables only the names, for their values may be long. */
    private String detail() {
      List<String> fields = new ArrayList<>();
      posture.ifPresent(p -> fields.add("posture=" + lower(p)));
      writesArmed.ifPresent(on -> fields.add("writes_armed=" + on));
      maintenance.ifPresent(on -> fields.add("maintenance=" + on));
      cap.ifPresent(
          c ->
              fields.add(
                  "max_price_cap_per_gpu_hour="
                      + (c.cents() == null ? "none" : Price.shown(c.cents()))));
      env.ifPresent(e -> fields.add("env=[" + String.join(",", e.keySet()) + "]"));
      return String.join(" ", fields);
    }
  }

  /**
   * Changes a cluster; the declaration and what it holds stay as they are. Refused with {@code
   * not-found}, with {@code conflict} when it is retired, and with {@code bad-request} for a cap
   * under the pool's reserve price, with which nothing could ever be bought.
   *
   * @param actor the operator
   */
  public Future<ClusterView> updateCluster(String actor, String name, Settings settings) {
    ClusterView view = readCluster(name);
    Long cents = settings.cap().map(Cap::cents).orElse(null);
    if (cents != null && cents < view.pool().reserveCents()) {
      throw ApiException.badField(
          "max_price_cap_per_gpu_hour",
          Price.shown(cents),
          "at least the pool's reserve price, which is " + Price.shown(view.pool().reserveCents()));
    }
    return submit(name, OperatorCommands.set(settings), actor, "cluster_update", settings.detail());
  }

  /**
   * Pins or unpins a held node: a pinned one cannot be swapped. Refused with {@code not-found} and
   * {@code unknown-node}.
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
