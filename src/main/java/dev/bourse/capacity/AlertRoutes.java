package dev.bourse.capacity;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.common.AlertThresholdsJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** The operations on alerts of one surface's contract. */
public final class AlertRoutes {
  private final Cluster.Kind surface;
  private final AlertService alerts;

  /**
   * @param surface the kind of the clusters
   * @param alerts of that surface
   */
  public AlertRoutes(Cluster.Kind surface, AlertService alerts) {
    this.surface = surface;
    this.alerts = alerts;
  }

  public void bind(Operations operations) {
    boolean isVm = surface == Cluster.Kind.VM;
    operations
        .bind(isVm ? "readAlerts" : "readK8sAlerts", this::readAlerts)
        .bind(isVm ? "writeAlerts" : "writeK8sAlerts", this::writeAlerts);
  }

  private Future<Answer> readAlerts(Call call) {
    return Future.succeededFuture(
        Answer.ok(AlertText.toJson(alerts.readAlerts(call.principal(), call.findText("cluster")))));
  }

  private Future<Answer> writeAlerts(Call call) {
    JsonObject body = call.body();
    AlertThresholdsJson sent = AlertThresholdsJson.read(body);
    JsonObject detail = body.copy();
    detail.remove("cluster");
    return alerts
        .writeAlerts(
            call.principal(),
            Optional.ofNullable(sent.cluster()),
            AlertText.thresholds(sent),
            detail.encode())
        .map(cluster -> Answer.ok(AlertText.toJson(cluster)));
  }
}
