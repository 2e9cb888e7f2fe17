package dev.bourse.console;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.SelfService;
import dev.bourse.core.Price;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.pools.Pool;
import dev.bourse.pools.PoolPrices;
import dev.bourse.schemas.common.PoolPricesJson;
import dev.bourse.schemas.console.ClusterMarketJson;
import dev.bourse.schemas.console.ListedClusterJson;
import dev.bourse.schemas.console.OpenPoolJson;
import dev.bourse.schemas.console.OpenPoolsJson;
import dev.bourse.schemas.console.OwnClusterChangeJson;
import dev.bourse.schemas.console.OwnClusterCreationJson;
import dev.bourse.schemas.console.OwnClusterJson;
import dev.bourse.schemas.console.OwnClusterPageJson;
import io.vertx.core.Future;
import java.util.Locale;
import java.util.function.Predicate;

/** The console contract's operations on clusters and the pools they belong to. */
public final class ClusterRoutes {
  private final SelfService clusters;

  public ClusterRoutes(SelfService clusters) {
    this.clusters = clusters;
  }

  public void bind(Operations operations) {
    operations
        .ok("listConsolePools", call -> clusters.readQuota(orgId(call)).map(this::toJson))
        .ok("listConsoleClusters", this::list)
        .created("createConsoleCluster", call -> create(call).map(ClusterRoutes::toJson))
        .ok(
            "readConsoleCluster",
            call ->
                clusters.readCluster(orgId(call), call.text("cluster")).map(ClusterRoutes::toJson))
        .ok("describeConsoleCluster", call -> describe(call).map(ClusterRoutes::toJson))
        .ok("retireConsoleCluster", call -> retire(call).map(ClusterRoutes::toJson));
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }

  private Future<OwnClusterPageJson> list(Call call) {
    return clusters
        .listClusters(
            orgId(call),
            call.findText("state").map("retired"::equals),
            call.findText("after").orElse(""),
            call.limit())
        .map(
            page ->
                new OwnClusterPageJson(
                    page.items().stream().map(ClusterRoutes::listed).toList(),
                    page.more(),
                    page.next(owned -> owned.view().cluster().name())));
  }

  private Future<SelfService.Owned> create(Call call) {
    OwnClusterCreationJson sent = OwnClusterCreationJson.read(call.body());
    return clusters.createCluster(
        call.principal().actor(),
        orgId(call),
        sent.name(),
        sent.pool(),
        Cluster.Kind.valueOf(sent.kind().toUpperCase(Locale.ROOT)),
        sent.description().over(null));
  }

  private Future<SelfService.Owned> describe(Call call) {
    return clusters.describeCluster(
        call.principal().actor(),
        orgId(call),
        call.text("cluster"),
        OwnClusterChangeJson.read(call.body()).description());
  }

  private Future<SelfService.Owned> retire(Call call) {
    return clusters.retireCluster(
        call.principal().actor(),
        orgId(call),
        call.text("cluster"),
        call.text("give_back").equals("true"));
  }

  private OpenPoolsJson toJson(SelfService.Quota quota) {
    return new OpenPoolsJson(
        quota.maximum(),
        quota.left(),
        clusters.listPools().stream().map(ClusterRoutes::toJson).toList());
  }

  static OpenPoolJson toJson(PoolPrices prices) {
    Pool pool = prices.pool();
    PoolPricesJson shown = prices.toJson();
    return new OpenPoolJson(
        shown.pool(),
        shown.site(),
        shown.clearingPricePerGpuHour(),
        shown.admissionPricePerGpuHour(),
        shown.reservePricePerGpuHour(),
        shown.maxPriceCapPerGpuHour(),
        pool.gpuVendor(),
        pool.gpuModel(),
        pool.gpusPerNode());
  }

  static OwnClusterJson toJson(SelfService.Owned owned) {
    Cluster cluster = owned.view().cluster();
    return new OwnClusterJson(
        cluster.name(),
        lower(cluster.kind()),
        cluster.pool(),
        lower(cluster.posture()),
        cluster.description(),
        count(cluster, Allocation::isOpen),
        owned.createdAtMillis(),
        cluster.retiredAtMillis());
  }

  /** Returns a cluster as an item of the list. */
  static ListedClusterJson listed(SelfService.Owned owned) {
    OwnClusterJson own = toJson(owned);
    return new ListedClusterJson(
        own.name(),
        own.kind(),
        own.pool(),
        own.posture(),
        own.description(),
        own.heldNodes(),
        own.createdAtMillis(),
        own.retiredAtMillis(),
        market(owned.view()));
  }

  private static ClusterMarketJson market(ClusterView view) {
    Cluster cluster = view.cluster();
    Declaration declared = cluster.declared();
    int gpusPerNode = view.pool().gpusPerNode();
    return new ClusterMarketJson(
        declared == null ? 0 : declared.maxGpus() / gpusPerNode,
        cluster.pending(gpusPerNode),
        count(cluster, a -> a.state() == Allocation.State.PROVISIONING),
        declared == null ? null : (Double) Price.toUsd(declared.ceilingCents()),
        cluster.verdict().bidTooLow(),
        cluster.verdict().capacityUnavailable(),
        view.billingHold(),
        view.prices().toJson());
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static int count(Cluster cluster, Predicate<Allocation> which) {
    return (int) cluster.allocations().stream().filter(which).count();
  }
}
