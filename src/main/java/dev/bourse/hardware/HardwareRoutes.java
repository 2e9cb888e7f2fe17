package dev.bourse.hardware;

import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.vm.GpuMetricsJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** The agents' reports of the node contract, and the members' reads of them. */
public final class HardwareRoutes {
  private final HardwareMetrics metrics;

  public HardwareRoutes(HardwareMetrics metrics) {
    this.metrics = metrics;
  }

  public void bind(Operations operations) {
    operations.bind("reportMetrics", this::reportMetrics).bind("readMetrics", this::readMetrics);
  }

  private Future<Answer> reportMetrics(Call call) {
    List<GpuMetricsJson> gpus =
        call.body().getJsonArray("gpus").stream()
            .map(JsonObject.class::cast)
            .map(HardwareRoutes::measured)
            .toList();
    return Future.succeededFuture(
        Answer.ok(
            new JsonObject()
                .put("heard_at", Times.rfc3339(metrics.report(call.node(), gpus)))
                .put("interval_s", NodeSeries.STEP_SECONDS)));
  }

  private static GpuMetricsJson measured(JsonObject gpu) {
    return new GpuMetricsJson(
        gpu.getInteger("index"),
        gpu.getInteger("utilization_percent"),
        gpu.getInteger("memory_used_mib"),
        gpu.getInteger("memory_total_mib"),
        gpu.getInteger("temperature_c"),
        gpu.getInteger("power_w"),
        gpu.getInteger("sm_clock_mhz"),
        gpu.getInteger("memory_clock_mhz"),
        gpu.getLong("ecc_corrected"),
        gpu.getLong("ecc_uncorrected"));
  }

  private Future<Answer> readMetrics(Call call) {
    return Future.succeededFuture(
        Answer.ok(
            metrics.read(
                call.principal(),
                call.findText("cluster"),
                call.findText("node"),
                call.after(),
                call.limit())));
  }
}
