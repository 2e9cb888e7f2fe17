package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.HeldHealth;
import dev.bourse.core.ApiException;
import dev.bourse.core.Times;
import dev.bourse.hardware.HardwareMetrics;
import dev.bourse.hardware.NodeReading;
import dev.bourse.schemas.vm.GpuMetricsJson;
import dev.bourse.schemas.vm.GpuSeriesJson;
import dev.bourse.schemas.vm.MetricSeriesJson;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the nodes that a cluster holds: their states, measurements and health. */
public final class HardwareReadTool implements Tool {
  private static final String GPUS = "gpus";
  private static final String HEALTH = "health";
  private static final String HISTORY = "history";
  private static final String NODE = "node";
  private static final String NODES = "nodes";
  private static final String AFTER = "after";

  private static final ArgumentRules FIELDS =
      new ArgumentRules(
          "action",
          Set.of("kind", "cluster", AFTER),
          Map.of(NODES, Set.of(), GPUS, Set.of(), HEALTH, Set.of(), HISTORY, Set.of(NODE)));

  private final ClusterAccess vm;
  private final ClusterAccess k8s;
  private final HardwareMetrics hardware;

  public HardwareReadTool(Clusters clusters, HardwareMetrics hardware) {
    this.vm = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.k8s = new ClusterAccess(clusters, Cluster.Kind.K8S);
    this.hardware = hardware;
  }

  @Override
  public String name() {
    return "hardware_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(ClusterKind.of(arguments).read);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    FIELDS.check(arguments);
    ClusterKind kind = ClusterKind.of(arguments);
    ClusterAccess access =
        switch (kind) {
          case VM -> vm;
          case K8S -> k8s;
        };
    ClusterView view = access.resolve(caller, Optional.ofNullable(arguments.getString("cluster")));
    String after = arguments.getString(AFTER, "");
    JsonObject answer =
        switch (arguments.getString("action")) {
          case HISTORY -> history(view, FIELDS.text(arguments, NODE), after);
          case GPUS -> nodes(view, after, HardwareReadTool::gpus);
          case HEALTH -> nodes(view, after, HardwareReadTool::health);
          default -> nodes(view, after, HardwareReadTool::summary);
        };
    return Future.succeededFuture(
        new JsonObject()
            .put("cluster", view.cluster().name())
            .put("kind", kind.label())
            .mergeIn(answer)
            .toBuffer());
  }

  private JsonObject nodes(
      ClusterView view, String after, Function<NodeReading, JsonObject> describe) {
    AnswerPart part =
        AnswerPart.of(
            hardware
                .read(view, after)
                .map(
                    reading ->
                        new JsonObject().put(NODE, reading.node()).mergeIn(describe.apply(reading)))
                .iterator());
    return new JsonObject()
        .put(NODES, part.items())
        .put("truncated", part.isTruncated())
        .put("next", part.next(NODE));
  }

  private static JsonObject summary(NodeReading reading) {
    Allocation held = reading.held();
    Allocation.Notice notice = held.notice();
    List<GpuMetricsJson> all = reading.gpus();
    return new JsonObject()
        .put("state", held.state().name().toLowerCase(Locale.ROOT))
        .put("granted_at", Times.rfc3339(held.grantedAtMillis()))
        .put("reclaim_at", notice == null ? null : Times.rfc3339(notice.endsAtMillis()))
        .put("heard_at", Times.rfc3339OrNull(reading.heardAtMillis()))
        .put(GPUS, all.size())
        .put("mean_utilization_percent", mean(all, GpuMetricsJson::utilizationPercent))
        .put("highest_temperature_c", highest(all, GpuMetricsJson::temperatureC))
        .put("power_w", sum(all, GpuMetricsJson::powerW))
        .put("memory_used_mib", sum(all, GpuMetricsJson::memoryUsedMib))
        .put("memory_total_mib", sum(all, GpuMetricsJson::memoryTotalMib));
  }

  private static JsonObject gpus(NodeReading reading) {
    JsonArray all = new JsonArray();
    reading.gpus().forEach(gpu -> all.add(gpu.toTree()));
    return new JsonObject()
        .put("heard_at", Times.rfc3339OrNull(reading.heardAtMillis()))
        .put(GPUS, all);
  }

  private static JsonObject health(NodeReading reading) {
    Allocation held = reading.held();
    return HeldHealth.toJson(held.health(), held.grantedAtMillis())
        .toTree()
        .put("ecc_corrected", sum(reading.gpus(), GpuMetricsJson::eccCorrected))
        .put("ecc_uncorrected", sum(reading.gpus(), GpuMetricsJson::eccUncorrected));
  }

  private JsonObject history(ClusterView view, String node, String after) {
    NodeReading reading = hardware.find(view, node);
    MetricSeriesJson hour = hardware.lastHour(view, reading);
    int first = after.isEmpty() ? 0 : index(after) + 1;
    AnswerPart part =
        AnswerPart.of(
            hour.gpus().stream()
                .filter(gpu -> gpu.index() >= first)
                .map(GpuSeriesJson::toTree)
                .iterator());
    JsonObject series =
        new JsonObject()
            .put(NODE, reading.node())
            .put("heard_at", Times.rfc3339OrNull(reading.heardAtMillis()))
            .put("t0", hour.t0())
            .put("step", hour.step())
            .put("series", part.items());
    return new JsonObject()
        .put(NODES, new JsonArray().add(series))
        .put("truncated", part.isTruncated())
        .put("next", part.next("index"));
  }

  private static int index(String after) {
    if (!after.matches("[0-9]{1,4}")) {
      throw ApiException.badField(AFTER, after, "the next of the previous answer, a GPU's number");
    }
    return Integer.parseInt(after);
  }

  private static <N extends Number> Stream<N> known(
      List<GpuMetricsJson> gpus, Function<GpuMetricsJson, @Nullable N> field) {
    return gpus.stream().map(field).filter(Objects::nonNull);
  }

  /** Returns a sum of the known values; null if none is known. */
  private static <N extends Number> @Nullable Long sum(
      List<GpuMetricsJson> gpus, Function<GpuMetricsJson, @Nullable N> field) {
    return known(gpus, field).map(Number::longValue).reduce(Long::sum).orElse(null);
  }

  private static @Nullable Long mean(
      List<GpuMetricsJson> gpus, Function<GpuMetricsJson, @Nullable Integer> field) {
    Long sum = sum(gpus, field);
    return sum == null ? null : Long.valueOf(Math.round((double) sum / known(gpus, field).count()));
  }

  private static @Nullable Integer highest(
      List<GpuMetricsJson> gpus, Function<GpuMetricsJson, @Nullable Integer> field) {
    return known(gpus, field).max(Integer::compare).orElse(null);
  }
}
