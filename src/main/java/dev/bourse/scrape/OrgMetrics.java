package dev.bourse.scrape;

import static dev.bourse.scrape.MetricFamily.counter;
import static dev.bourse.scrape.MetricFamily.gauge;
import static dev.bourse.scrape.MetricFamily.labels;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.billing.BillingService;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.HeldHealth;
import dev.bourse.hardware.HardwareMetrics;
import dev.bourse.hardware.NodeReading;
import dev.bourse.nodes.Health;
import dev.bourse.pools.PoolPrices;
import dev.bourse.schemas.common.BalanceJson;
import dev.bourse.schemas.vm.GpuMetricsJson;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The metrics of a caller's organization, as far as the caller's scopes reach. */
final class OrgMetrics {
  private static final long MIB = 1 << 20;
  private static final long MEGA = 1_000_000;

  // The decimals of numbers of dollars in cents or micro-dollars, and of seconds in milliseconds.
  private static final int CENTS = 2;
  private static final int MICROS = 6;
  private static final int MILLIS = 3;

  private final CapacityService vm;
  private final CapacityService k8s;
  private final HardwareMetrics hardware;
  private final BillingService billing;

  /**
   * @param vm of the VM surface
   * @param k8s of the Kubernetes surface
   */
  OrgMetrics(
      CapacityService vm, CapacityService k8s, HardwareMetrics hardware, BillingService billing) {
    this.vm = vm;
    this.k8s = k8s;
    this.hardware = hardware;
    this.billing = billing;
  }

  /** The clusters and the money that a caller may read. */
  record Scrape(List<ClusterView> clusters, Optional<BalanceJson> balance) {
    Scrape {
      clusters = List.copyOf(clusters);
    }
  }

  /**
   * Returns what a caller may read: VM clusters with {@code capacity:read}, Kubernetes clusters
   * with {@code bid:read}, money with {@code billing:read}.
   */
  Future<Scrape> read(Principal caller) {
    List<ClusterView> clusters = new ArrayList<>();
    if (caller.may(Scope.CAPACITY_READ)) {
      clusters.addAll(vm.readAll(caller, "metrics"));
    }
    if (caller.may(Scope.BID_READ)) {
      clusters.addAll(k8s.readAll(caller, "metrics"));
    }
    return balance(caller).map(balance -> new Scrape(clusters, balance));
  }

  private Future<Optional<BalanceJson>> balance(Principal caller) {
    return caller.may(Scope.BILLING_READ)
        ? billing
            .readBalance(caller)
            .map(Optional::of)
            .recover(
                failure ->
                    failure instanceof StoreUnavailableException
                        ? Future.succeededFuture(Optional.empty())
                        : Future.failedFuture(failure))
        : Future.succeededFuture(Optional.empty());
  }

  /** A cluster with the labels of its series. */
  private record LabeledCluster(String labels, ClusterView view, PoolPrices prices) {
    static LabeledCluster of(ClusterView view) {
      return new LabeledCluster(
          MetricFamily.labels(
              "cluster",
              view.cluster().name(),
              "kind",
              lower(view.cluster().kind()),
              "pool",
              view.pool().name()),
          view,
          view.prices());
    }

    Cluster cluster() {
      return view.cluster();
    }
  }

  /** A node with the labels of its series. */
  private record LabeledNode(String labels, NodeReading reading) {
    static LabeledNode of(ClusterView view, NodeReading reading) {
      return new LabeledNode(
          MetricFamily.labels("cluster", view.cluster().name(), "node", reading.node()), reading);
    }
  }

  /** Returns the text of a scrape; reads the nodes, which takes milliseconds for thousands. */
  MetricsText text(Scrape scrape) {
    List<LabeledCluster> clusters = scrape.clusters().stream().map(LabeledCluster::of).toList();
    List<LabeledNode> nodes =
        scrape.clusters().stream()
            .flatMap(view -> hardware.read(view, "").map(reading -> LabeledNode.of(view, reading)))
            .toList();
    List<MetricFamily<?>> families = new ArrayList<>();
    families.addAll(ofClusters(clusters));
    families.addAll(ofNodes(nodes));
    families.addAll(ofGpus(nodes));
    families.addAll(ofMoney(scrape.balance().stream().toList()));
    return new MetricsText(families);
  }

  private static List<MetricFamily<?>> ofClusters(List<LabeledCluster> all) {
    return List.of(
        gauge(
            "bourse_cluster_clearing_price_dollars",
            "Price per GPU-hour that the organization pays as of the last tick.",
            all,
            (c, out) -> out.put(c.labels(), decimal(c.prices().clearingCents(), CENTS))),
        gauge(
            "bourse_cluster_admission_price_dollars",
            "Lowest ceiling per GPU-hour that would win a node.",
            all,
            (c, out) -> out.put(c.labels(), decimal(c.prices().admissionCents(), CENTS))),
        gauge(
            "bourse_cluster_ceiling_dollars",
            "Declared ceiling per GPU-hour.",
            all,
            (c, out) -> {
              Declaration declared = c.cluster().declared();
              out.put(
                  c.labels(), declared == null ? null : decimal(declared.ceilingCents(), CENTS));
            }),
        gauge(
            "bourse_cluster_declared_gpus",
            "Declared GPUs.",
            all,
            (c, out) -> {
              Declaration declared = c.cluster().declared();
              out.put(c.labels(), declared == null ? null : times(declared.maxGpus(), 1));
            }),
        gauge(
            "bourse_cluster_gpus_per_node",
            "GPUs of a node.",
            all,
            (c, out) -> out.put(c.labels(), Integer.toString(c.view().pool().gpusPerNode()))),
        gauge(
            "bourse_cluster_pending_nodes",
            "Declared nodes that are not granted.",
            all,
            (c, out) ->
                out.put(
                    c.labels(),
                    Integer.toString(c.cluster().pending(c.view().pool().gpusPerNode())))),
        gauge(
            "bourse_cluster_nodes",
            "Nodes by state: provisioning, active or reclaiming.",
            all,
            (c, out) -> {
              for (Allocation.State state : Allocation.State.values()) {
                out.put(
                    c.labels() + ',' + labels("state", lower(state)),
                    Long.toString(
                        c.cluster().allocations().stream()
                            .filter(held -> held.state() == state)
                            .count()));
              }
            }));
  }

  private static List<MetricFamily<?>> ofNodes(List<LabeledNode> all) {
    return List.of(
        gauge(
            "bourse_node_granted_timestamp_seconds",
            "When the node was granted.",
            all,
            (n, out) -> out.put(n.labels(), decimal(n.reading().held().grantedAtMillis(), MILLIS))),
        gauge(
            "bourse_node_reclaim_timestamp_seconds",
            "When the node will be reclaimed; only while a notice is in force.",
            all,
            (n, out) -> {
              Allocation.Notice notice = n.reading().held().notice();
              out.put(n.labels(), notice == null ? null : decimal(notice.endsAtMillis(), MILLIS));
            }),
        gauge(
            "bourse_node_reported_timestamp_seconds",
            "When the node last reported measurements.",
            all,
            (n, out) -> out.put(n.labels(), decimal(n.reading().heardAtMillis(), MILLIS))),
        gauge(
            "bourse_node_healthy",
            "1 if the checks of the node found no fault, 0 if they found one.",
            all,
            (n, out) -> out.put(n.labels(), isHealthy(n.reading().held().health()))));
  }

  private static @Nullable String isHealthy(@Nullable HeldHealth health) {
    return health == null || health.state() == Health.State.UNKNOWN
        ? null
        : health.state() == Health.State.OK ? "1" : "0";
  }

  private static List<MetricFamily<?>> ofGpus(List<LabeledNode> all) {
    return List.of(
        gauge(
            "bourse_gpu_utilization_ratio",
            "Share of the time in which a program ran on the GPU.",
            all,
            each(gpu -> decimal(gpu.utilizationPercent(), 2))),
        gauge(
            "bourse_gpu_memory_used_bytes",
            "Memory in use.",
            all,
            each(gpu -> times(gpu.memoryUsedMib(), MIB))),
        gauge(
            "bourse_gpu_memory_total_bytes",
            "Memory of the GPU.",
            all,
            each(gpu -> times(gpu.memoryTotalMib(), MIB))),
        gauge(
            "bourse_gpu_temperature_celsius",
            "Temperature of the GPU.",
            all,
            each(gpu -> times(gpu.temperatureC(), 1))),
        gauge(
            "bourse_gpu_power_watts",
            "Power that the GPU draws.",
            all,
            each(gpu -> times(gpu.powerW(), 1))),
        gauge(
            "bourse_gpu_sm_clock_hertz",
            "Clock of the processors.",
            all,
            each(gpu -> times(gpu.smClockMhz(), MEGA))),
        gauge(
            "bourse_gpu_memory_clock_hertz",
            "Clock of the memory.",
            all,
            each(gpu -> times(gpu.memoryClockMhz(), MEGA))),
        counter(
            "bourse_gpu_ecc_corrected_errors",
            "Corrected memory errors since the machine started.",
            all,
            each(gpu -> times(gpu.eccCorrected(), 1))),
        counter(
            "bourse_gpu_ecc_uncorrected_errors",
            "Uncorrected memory errors since the machine started.",
            all,
            each(gpu -> times(gpu.eccUncorrected(), 1))));
  }

  /** A value of one GPU; null for an unknown one. */
  private interface OfGpu {
    @Nullable String of(GpuMetricsJson gpu);
  }

  private static BiConsumer<LabeledNode, MetricFamily.Samples> each(OfGpu value) {
    return (node, out) ->
        node.reading()
            .gpus()
            .forEach(gpu -> out.put(node.labels() + ",gpu=\"" + gpu.index() + '"', value.of(gpu)));
  }

  private static List<MetricFamily<?>> ofMoney(List<BalanceJson> balance) {
    return List.of(
        gauge(
            "bourse_balance_dollars",
            "Balance after all usage; may be negative.",
            balance,
            (money, out) -> out.put("", decimal(money.balanceMicros(), MICROS))),
        gauge(
            "bourse_month_usage_dollars",
            "Usage of the calendar month so far.",
            balance,
            (money, out) -> out.put("", decimal(money.monthUsageMicros(), MICROS))),
        gauge(
            "bourse_month_limit_dollars",
            "Spend limit of the calendar month.",
            balance,
            (money, out) -> out.put("", decimal(money.spendLimitMicros(), MICROS))));
  }

  private static @Nullable String times(@Nullable Number number, long factor) {
    return number == null ? null : Long.toString(number.longValue() * factor);
  }

  /** Returns a number with its last digits as decimals, which a double would not keep exact. */
  private static @Nullable String decimal(@Nullable Number number, int decimals) {
    return number == null ? null : BigDecimal.valueOf(number.longValue(), decimals).toPlainString();
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
