package dev.bourse.operator;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAdminService;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Hold;
import dev.bourse.core.Price;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.json.Setting;
import dev.bourse.schemas.operator.ClusterChangeEnvironmentJson;
import dev.bourse.schemas.operator.ClusterChangeJson;
import dev.bourse.schemas.operator.ClusterDeclarationJson;
import dev.bourse.schemas.operator.ClusterEnvironmentJson;
import dev.bourse.schemas.operator.ClusterHoldJson;
import dev.bourse.schemas.operator.ClusterJson;
import dev.bourse.schemas.operator.ClusterNodeJson;
import dev.bourse.schemas.operator.ClusterPageJson;
import dev.bourse.schemas.operator.EffectiveEnvironmentJson;
import dev.bourse.schemas.operator.NewClusterJson;
import io.vertx.core.Future;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Operations of the operator contract on clusters. */
public final class ClusterAdminRoutes {
  private static final String CAP = "max_price_cap_per_gpu_hour";

  private final ClusterAdminService clusters;

  public ClusterAdminRoutes(ClusterAdminService clusters) {
    this.clusters = clusters;
  }

  public void bind(Operations operations) {
    operations
        .ok("listClusters", this::list)
        .created("createCluster", call -> create(call).map(ClusterAdminRoutes::state))
        .ok(
            "readCluster",
            call -> Future.succeededFuture(state(clusters.readCluster(call.text("cluster")))))
        .ok("updateCluster", call -> update(call).map(ClusterAdminRoutes::state))
        .ok("pinNode", call -> pin(call, true).map(ClusterAdminRoutes::state))
        .ok("unpinNode", call -> pin(call, false).map(ClusterAdminRoutes::state));
  }

  private Future<ClusterPageJson> list(Call call) {
    return clusters
        .listClusters(call.findText("org"), call.findText("pool"), call.after(), call.limit())
        .map(
            page ->
                new ClusterPageJson(
                    page.items().stream().map(ClusterAdminRoutes::summary).toList(),
                    page.more(),
                    page.next(view -> view.cluster().name())));
  }

  private Future<ClusterView> create(Call call) {
    NewClusterJson sent = NewClusterJson.read(call.body());
    return clusters.createCluster(
        call.actor(),
        Cluster.created(
            sent.name(),
            sent.org(),
            sent.pool(),
            Cluster.Kind.valueOf(upper(sent.kind())),
            posture(sent.posture())));
  }

  private Future<ClusterView> update(Call call) {
    ClusterChangeJson sent = ClusterChangeJson.read(call.body());
    return clusters.updateCluster(
        call.actor(),
        call.text("cluster"),
        new ClusterAdminService.Settings(
            Optional.ofNullable(sent.posture()).map(ClusterAdminRoutes::posture),
            Optional.ofNullable(sent.writesArmed()),
            Optional.ofNullable(sent.maintenance()),
            sent.maxPriceCapPerGpuHour().map(usd -> CommonFields.cents(CAP, usd)),
            sent.environment() instanceof Setting.Kept
                ? Optional.empty()
                : Optional.of(variables(sent.environment().over(null)))));
  }

  private Future<ClusterView> pin(Call call, boolean pinned) {
    return clusters.pinNode(call.actor(), call.text("cluster"), call.text("public_ip"), pinned);
  }

  private static Map<String, Optional<String>> variables(
      @Nullable ClusterChangeEnvironmentJson environment) {
    Map<String, Optional<String>> variables = new TreeMap<>();
    if (environment != null) {
      environment.env().forEach((name, value) -> variables.put(name, Optional.ofNullable(value)));
    }
    return variables;
  }

  private static Cluster.Posture posture(String text) {
    return Cluster.Posture.valueOf(upper(text));
  }

  private static String upper(String text) {
    return text.toUpperCase(Locale.ROOT);
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  static ClusterJson state(ClusterView view) {
    List<Allocation> allocations = view.cluster().allocations();
    return toJson(
        view,
        allocations.stream().map(ClusterAdminRoutes::toJson).toList(),
        allocations.stream()
            .filter(a -> a.isOpen() && a.pinned())
            .flatMap(a -> Stream.ofNullable(a.publicIp()))
            .toList());
  }

  /** Returns the cluster as an item of the list. */
  static ClusterJson summary(ClusterView view) {
    return toJson(view, null, null);
  }

  private static ClusterJson toJson(
      ClusterView view, @Nullable List<ClusterNodeJson> nodes, @Nullable List<String> pins) {
    Cluster cluster = view.cluster();
    Declaration declared = cluster.declared();
    Hold hold = cluster.hold();
    return new ClusterJson(
        cluster.name(),
        cluster.orgId(),
        cluster.pool(),
        lower(cluster.kind()),
        lower(cluster.posture()),
        cluster.writesArmed(),
        cluster.maintenance(),
        cluster.description(),
        cluster.retiredAtMillis(),
        cluster.version(),
        declared == null ? null : toJson(declared),
        cluster.verdict().bidTooLow(),
        cluster.verdict().capacityUnavailable(),
        cluster.pending(view.pool().gpusPerNode()),
        (int) cluster.allocations().stream().filter(Allocation::isOpen).count(),
        hold == null
            ? null
            : new ClusterHoldJson(lower(hold.stage()), hold.reason(), hold.enforceAfterMillis()),
        Price.toUsdOrNull(cluster.overrides().capCents()),
        Price.toUsd(view.pool().capCents()),
        override(cluster),
        new EffectiveEnvironmentJson(new TreeMap<>(view.pool().environment().env())),
        nodes,
        pins);
  }

  private static @Nullable ClusterEnvironmentJson override(Cluster cluster) {
    if (cluster.overrides().env().isEmpty()) {
      return null;
    }
    Map<String, @Nullable String> env = new TreeMap<>();
    cluster.overrides().env().forEach((name, value) -> env.put(name, value.orElse(null)));
    return new ClusterEnvironmentJson(env);
  }

  private static ClusterDeclarationJson toJson(Declaration declared) {
    Conditions.Budget budget = declared.budget();
    return new ClusterDeclarationJson(
        declared.maxGpus(),
        Price.toUsd(declared.ceilingCents()),
        declared.updatedAtMillis(),
        declared.updatedBy(),
        declared.untilMillis(),
        budget == null ? null : (Double) Price.toUsd(budget.maxSpendCents()));
  }

  private static ClusterNodeJson toJson(Allocation a) {
    Allocation.Notice notice = a.notice();
    return new ClusterNodeJson(
        a.nodeId(),
        a.publicIp(),
        a.slot(),
        lower(a.state()),
        a.grantedAtMillis(),
        a.protectedUntilWhileActive(),
        notice == null ? null : (Long) notice.endsAtMillis(),
        notice == null ? null : notice.reason().label(),
        a.pinned(),
        a.isSwapping());
  }
}
