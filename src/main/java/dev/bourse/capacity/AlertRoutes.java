package dev.bourse.capacity;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.vm.AlertThresholdsJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** The VM contract's operations on alerts. */
public final class AlertRoutes {
  private final AlertService alerts;

  public AlertRoutes(AlertService alerts) {
    this.alerts = alerts;
  }

  public void bind(Operations operations) {
    operations.bind("readAlerts", this::readAlerts).bind("writeAlerts", this::writeAlerts);
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
