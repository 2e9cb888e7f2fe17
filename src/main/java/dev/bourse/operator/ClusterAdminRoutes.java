package dev.bourse.operator;

import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAdminService;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Hold;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Operations of the operator contract on clusters. */
public final class ClusterAdminRoutes {
  private static final String CAP = "max_price_cap_per_gpu_hour";
  private static final String ENVIRONMENT = "environment";

  private final ClusterAdminService clusters;

  public ClusterAdminRoutes(ClusterAdminService clusters) {
    this.clusters = clusters;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "listClusters",
            this::list,
            CommonFields.page("clusters", "name", ClusterAdminRoutes::summary))
        .created("createCluster", this::create, ClusterAdminRoutes::state)
        .ok(
            "readCluster",
            call -> Future.succeededFuture(clusters.readCluster(call.text("cluster"))),
            ClusterAdminRoutes::state)
        .ok("updateCluster", this::update, ClusterAdminRoutes::state)
        .ok("pinNode", call -> pin(call, true), ClusterAdminRoutes::state)
        .ok("unpinNode", call -> pin(call, false), ClusterAdminRoutes::state);
  }

  private Future<Page<ClusterView>> list(Call call) {
    return clusters.listClusters(
        call.findText("org"), call.findText("pool"), call.after(), call.limit());
  }

  private Future<ClusterView> create(Call call) {
    JsonObject body = call.body();
    return clusters.createCluster(
        call.actor(),
        Cluster.created(
            body.getString("name"),
            body.getString("org"),
            body.getString("pool"),
            Cluster.Kind.valueOf(upper(body.getString("kind"))),
            posture(body.getString("posture"))));
  }

  private Future<ClusterView> update(Call call) {
    JsonObject body = call.body();
    return clusters.updateCluster(
        call.actor(),
        call.text("cluster"),
        new ClusterAdminService.Settings(
            Optional.ofNullable(body.getString("posture")).map(ClusterAdminRoutes::posture),
            Optional.ofNullable(body.getBoolean("writes_armed")),
            Optional.ofNullable(body.getBoolean("maintenance")),
            body.containsKey(CAP)
                ? Optional.of(
                    new ClusterAdminService.Cap(
                        body.getValue(CAP) == null ? null : CommonFields.cents(body, CAP)))
                : Optional.empty(),
            body.containsKey(ENVIRONMENT)
                ? Optional.of(variables(body.getJsonObject(ENVIRONMENT)))
                : Optional.empty()));
  }

  private Future<ClusterView> pin(Call call, boolean pinned) {
    return clusters.pinNode(call.actor(), call.text("cluster"), call.text("public_ip"), pinned);
  }

  private static Map<String, Optional<String>> variables(@Nullable JsonObject environment) {
    Map<String, Optional<String>> variables = new TreeMap<>();
    if (environment != null) {
      JsonObject env = environment.getJsonObject("env");
      env.fieldNames()
          .forEach(name -> variables.put(name, Optional.ofNullable(env.getString(name))));
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

  private static JsonObject state(ClusterView view) {
    JsonArray nodes = new JsonArray();
    JsonArray pins = new JsonArray();
    for (Allocation a : view.cluster().allocations()) {
      nodes.add(node(a));
      if (a.isOpen() && a.pinned()) {
        pins.add(a.publicIp());
      }
    }
    return summary(view).put("nodes", nodes).put("pins", pins);
  }

  private static JsonObject summary(ClusterView view) {
    Cluster cluster = view.cluster();
    Declaration declared = cluster.declared();
    Hold hold = cluster.hold();
    JsonObject env = new JsonObject();
    new TreeMap<>(view.pool().environment().env()).forEach(env::put);
    return new JsonObject()
        .put("name", cluster.name())
        .put("org", cluster.orgId())
        .put("pool", cluster.pool())
        .put("kind", lower(cluster.kind()))
        .put("posture", lower(cluster.posture()))
        .put("writes_armed", cluster.writesArmed())
        .put("maintenance", cluster.maintenance())
        .put("description", cluster.description())
        .put("retired_at", Times.rfc3339OrNull(cluster.retiredAtMillis()))
        .put("version", cluster.version())
        .put("declared", declared == null ? null : declared(declared))
        .put("bid_too_low", cluster.verdict().bidTooLow())
        .put("capacity_unavailable", cluster.verdict().capacityUnavailable())
        .put("pending", cluster.pending(view.pool().gpusPerNode()))
        .put("held_nodes", cluster.allocations().stream().filter(Allocation::isOpen).count())
        .put("billing_hold", hold == null ? null : hold(hold))
        .put(CAP, Price.toUsdOrNull(cluster.overrides().capCents()))
        .put("effective_max_price_cap_per_gpu_hour", Price.toUsd(view.pool().capCents()))
        .put(ENVIRONMENT, override(cluster))
        .put("effective_environment", new JsonObject().put("env", env));
  }

  private static @Nullable JsonObject override(Cluster cluster) {
    if (cluster.overrides().env().isEmpty()) {
      return null;
    }
    JsonObject env = new JsonObject();
    cluster.overrides().env().forEach((name, value) -> env.put(name, value.orElse(null)));
    return new JsonObject().put("env", env);
  }

  private static JsonObject declared(Declaration declared) {
    Conditions.Budget budget = declared.budget();
    return new JsonObject()
        .put("max_gpus", declared.maxGpus())
        .put("max_price_per_gpu_hour", Price.toUsd(declared.ceilingCents()))
        .put("updated_at", Times.rfc3339(declared.updatedAtMillis()))
        .put("updated_by", declared.updatedBy())
        .put("until", Times.rfc3339OrNull(declared.untilMillis()))
        .put("max_spend_usd", budget == null ? null : Price.toUsd(budget.maxSpendCents()));
  }

  private static JsonObject hold(Hold hold) {
    return new JsonObject()
        .put("stage", lower(hold.stage()))
        .put("reason", hold.reason())
        .put("enforce_after", Times.rfc3339OrNull(hold.enforceAfterMillis()));
  }

  private static JsonObject node(Allocation a) {
    Allocation.Notice notice = a.notice();
    return new JsonObject()
        .put("node_id", a.nodeId())
        .put("public_ip", a.publicIp())
        .put("slot", a.slot())
        .put("state", lower(a.state()))
        .put("granted_at", Times.rfc3339(a.grantedAtMillis()))
        .put("protected_until", Times.rfc3339OrNull(a.protectedUntilWhileActive()))
        .put("reclaim_at", notice == null ? null : Times.rfc3339(notice.endsAtMillis()))
        .put("reclaim_reason", notice == null ? null : notice.reason().label())
        .put("pinned", a.pinned())
        .put("swap", a.isSwapping());
  }
}
