package dev.bourse.scrape;

import dev.bourse.billing.BillingService;
import dev.bourse.capacity.CapacityService;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.hardware.HardwareMetrics;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/** The scrape of an organization's metrics, written by worker threads. */
public final class ScrapeRoutes {
  /** OpenMetrics requires both; Prometheus' parser depends on the version. */
  private static final String PARAMETERS = "; version=1.0.0; charset=utf-8";

  private final Vertx vertx;
  private final OrgMetrics metrics;

  /**
   * @param vm of the VM surface
   * @param k8s of the Kubernetes surface
   */
  public ScrapeRoutes(
      Vertx vertx,
      CapacityService vm,
      CapacityService k8s,
      HardwareMetrics hardware,
      BillingService billing) {
    this.vertx = vertx;
    this.metrics = new OrgMetrics(vm, k8s, hardware, billing);
  }

  public void bind(Operations operations) {
    operations.bind("scrapeMetrics", this::scrape);
  }

  private Future<Answer> scrape(Call call) {
    return metrics
        .read(call.principal())
        .compose(scrape -> vertx.executeBlocking(() -> metrics.text(scrape), false))
        .map(
            text ->
                new Answer.Streamed(() -> vertx.executeBlocking(text::next, false), PARAMETERS));
  }
}
