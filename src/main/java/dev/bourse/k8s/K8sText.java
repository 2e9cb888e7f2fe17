package dev.bourse.k8s;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.HeldHealth;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.json.JsonRecord;
import dev.bourse.nodes.Health;
import dev.bourse.pools.Pool;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Kubernetes clusters in the JSON of the contract. */
public final class K8sText {
  private K8sText() {}

  /** A cluster without its nodes, as lists show it. */
  public static JsonObject summary(ClusterView view) {
    Cluster cluster = view.cluster();
    Pool pool = view.pool();
    return new JsonObject()
        .put("cluster", cluster.name())
        .put("version", cluster.version())
        .put("posture", lower(cluster.posture()))
        .put("gpu_vendor", pool.gpuVendor())
        .put("gpu_model", pool.gpuModel())
        .put("gpus_per_node", pool.gpusPerNode())
        .put("nodes_held", held(cluster))
        .put("nodes_pending", cluster.pending(pool.gpusPerNode()));
  }

  /** A cluster with its nodes. */
  public static JsonObject cluster(ClusterView view) {
    JsonArray nodes = new JsonArray();
    view.cluster().allocations().forEach(a -> nodes.add(node(a)));
    return summary(view)
        .put("pool", view.prices().toJson().toTree())
        .put("bid", terms(view))
        .put("billing_hold", JsonRecord.treeOrNull(view.billingHold()))
        .put("nodes", nodes)
        .put(
            "planned_release",
            new JsonArray(view.cluster().releaseOrder().stream().map(Allocation::nodeId).toList()));
  }

  /** A cluster's bid. */
  public static JsonObject bid(ClusterView view) {
    return new JsonObject()
        .put("cluster", view.cluster().name())
        .put("version", view.cluster().version())
        .put("gpus_per_node", view.pool().gpusPerNode())
        .put("bid", terms(view))
        .put("billing_hold", JsonRecord.treeOrNull(view.billingHold()))
        .put("pool", view.prices().toJson().toTree());
  }

  /** A cluster's holdings in numbers. */
  public static JsonObject metrics(ClusterView view) {
    Cluster cluster = view.cluster();
    int gpusPerNode = view.pool().gpusPerNode();
    int held = held(cluster);
    return new JsonObject()
        .put("cluster", cluster.name())
        .put("nodes_held", held)
        .put("nodes_active", in(cluster, Allocation.State.ACTIVE))
        .put("nodes_pending", cluster.pending(gpusPerNode))
        .put("gpus", held * gpusPerNode)
        // No supported provider measures it today.
        .put("utilisation", null);
  }

  private static JsonObject node(Allocation a) {
    Allocation.Notice notice = a.notice();
    return new JsonObject()
        .put("name", a.nodeId())
        .put("state", lower(a.state()))
        .put("granted_at", Times.rfc3339(a.grantedAtMillis()))
        .put("protected_until", Times.rfc3339OrNull(a.protectedUntilWhileActive()))
        .put("reclaim_at", notice == null ? null : Times.rfc3339(notice.endsAtMillis()))
        .put("reclaim_reason", notice == null ? null : notice.reason().label())
        .put("health", health(a));
  }

  private static JsonObject health(Allocation a) {
    HeldHealth health = a.health();
    return new JsonObject()
        .put("state", lower(health == null ? Health.State.UNKNOWN : health.state()))
        .put("since", Times.rfc3339(health == null ? a.grantedAtMillis() : health.sinceMillis()))
        .put("reasons", new JsonArray(health == null ? List.of() : health.reasons()));
  }

  private static @Nullable JsonObject terms(ClusterView view) {
    Declaration declared = view.cluster().declared();
    if (declared == null) {
      return null;
    }
    Conditions.Budget budget = declared.budget();
    return new JsonObject()
        .put("limit_price_per_gpu_hour", Price.toUsd(declared.ceilingCents()))
        .put("max_gpus", declared.maxGpus())
        .put("bid_too_low", view.cluster().verdict().bidTooLow())
        .put("capacity_unavailable", view.cluster().verdict().capacityUnavailable())
        .put("updated_at", Times.rfc3339(declared.updatedAtMillis()))
        .put("updated_by", declared.updatedBy())
        .put("until", Times.rfc3339OrNull(declared.untilMillis()))
        .put("max_spend_usd", budget == null ? null : Price.toUsd(budget.maxSpendCents()))
        .put("max_spend_since", budget == null ? null : Times.rfc3339(budget.sinceMillis()));
  }

  private static int held(Cluster cluster) {
    return in(cluster, Allocation.State.PROVISIONING) + in(cluster, Allocation.State.ACTIVE);
  }

  private static int in(Cluster cluster, Allocation.State state) {
    return (int) cluster.allocations().stream().filter(a -> a.state() == state).count();
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
