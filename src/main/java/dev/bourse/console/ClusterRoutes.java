package dev.bourse.console;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.SelfService;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.json.JsonRecord;
import dev.bourse.pools.Pool;
import dev.bourse.pools.PoolPrices;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.function.Predicate;

/** The console contract's operations on clusters and the pools they belong to. */
public final class ClusterRoutes {
  private static final String DESCRIPTION = "description";

  private final SelfService clusters;

  public ClusterRoutes(SelfService clusters) {
    this.clusters = clusters;
  }

  public void bind(Operations operations) {
    operations
        .ok("listConsolePools", call -> clusters.readQuota(orgId(call)), this::pools)
        .ok(
            "listConsoleClusters",
            this::list,
            CommonFields.page("clusters", "name", ClusterRoutes::listed))
        .created("createConsoleCluster", this::create, ClusterRoutes::json)
        .ok(
            "readConsoleCluster",
            call -> clusters.readCluster(orgId(call), call.text("cluster")),
            ClusterRoutes::json)
        .ok("describeConsoleCluster", this::describe, ClusterRoutes::json)
        .ok("retireConsoleCluster", this::retire, ClusterRoutes::json);
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }

  private Future<Page<SelfService.Owned>> list(Call call) {
    return clusters.listClusters(
        orgId(call),
        call.findText("state").map("retired"::equals),
        call.findText("after").orElse(""),
        call.limit());
  }

  private Future<SelfService.Owned> create(Call call) {
    JsonObject body = call.body();
    return clusters.createCluster(
        call.principal().actor(),
        orgId(call),
        body.getString("name"),
        body.getString("pool"),
        Cluster.Kind.valueOf(body.getString("kind").toUpperCase(Locale.ROOT)),
        body.getString(DESCRIPTION));
  }

  private Future<SelfService.Owned> describe(Call call) {
    return clusters.describeCluster(
        call.principal().actor(),
        orgId(call),
        call.text("cluster"),
        call.body().getString(DESCRIPTION));
  }

  private Future<SelfService.Owned> retire(Call call) {
    return clusters.retireCluster(
        call.principal().actor(),
        orgId(call),
        call.text("cluster"),
        call.text("give_back").equals("true"));
  }

  private JsonObject pools(SelfService.Quota quota) {
    JsonArray pools = new JsonArray();
    clusters.listPools().forEach(prices -> pools.add(json(prices)));
    return new JsonObject()
        .put("max_clusters", quota.maximum())
        .put("clusters_left", quota.left())
        .put("pools", pools);
  }

  private static JsonObject json(PoolPrices prices) {
    Pool pool = prices.pool();
    return prices
        .toJson()
        .toTree()
        .put("gpu_vendor", pool.gpuVendor())
        .put("gpu_model", pool.gpuModel())
        .put("gpus_per_node", pool.gpusPerNode());
  }

  private static JsonObject json(SelfService.Owned owned) {
    Cluster cluster = owned.view().cluster();
    return new JsonObject()
        .put("name", cluster.name())
        .put("kind", cluster.kind().name().toLowerCase(Locale.ROOT))
        .put("pool", cluster.pool())
        .put("posture", cluster.posture().name().toLowerCase(Locale.ROOT))
        .put(DESCRIPTION, cluster.description())
        .put("held_nodes", count(cluster, Allocation::isOpen))
        .put("created_at", Times.rfc3339(owned.createdAtMillis()))
        .put("retired_at", Times.rfc3339OrNull(cluster.retiredAtMillis()));
  }

  /** A cluster as an item of the list. */
  private static JsonObject listed(SelfService.Owned owned) {
    return json(owned).put("market", market(owned.view()));
  }

  private static JsonObject market(ClusterView view) {
    Cluster cluster = view.cluster();
    Declaration declared = cluster.declared();
    int gpusPerNode = view.pool().gpusPerNode();
    return new JsonObject()
        .put("wanted_nodes", declared == null ? 0 : declared.maxGpus() / gpusPerNode)
        .put("pending_nodes", cluster.pending(gpusPerNode))
        .put("preparing_nodes", count(cluster, a -> a.state() == Allocation.State.PROVISIONING))
        .put(
            "max_price_per_gpu_hour",
            declared == null ? null : Price.toUsd(declared.ceilingCents()))
        .put("bid_too_low", cluster.verdict().bidTooLow())
        .put("capacity_unavailable", cluster.verdict().capacityUnavailable())
        .put("billing_hold", JsonRecord.treeOrNull(view.billingHold()))
        .put("prices", view.prices().toJson().toTree());
  }

  private static long count(Cluster cluster, Predicate<Allocation> which) {
    return cluster.allocations().stream().filter(which).count();
  }
}
