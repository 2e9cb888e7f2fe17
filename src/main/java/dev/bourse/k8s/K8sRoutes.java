package dev.bourse.k8s;

import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Conditions;
import dev.bourse.core.Page;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.Optional;

/** The Kubernetes contract's operations. */
public final class K8sRoutes {
  private final K8sService service;

  public K8sRoutes(K8sService service) {
    this.service = service;
  }

  public void bind(Operations operations) {
    operations
        .bind("listK8sClusters", this::list)
        .bind("readK8sCluster", this::read)
        .bind("readBid", this::readBid)
        .bind("writeBid", this::writeBid)
        .bind("readK8sMetrics", this::readMetrics);
  }

  private Future<Answer> list(Call call) {
    Page<ClusterView> page = service.listClusters(call.principal(), call.after(), call.limit());
    JsonArray listed = new JsonArray();
    page.items().forEach(view -> listed.add(K8sText.summary(view)));
    return Future.succeededFuture(
        Answer.ok(
            new JsonObject()
                .put("clusters", listed)
                .put("more", page.more())
                .put("next", page.more() ? page.last().cluster().name() : null)));
  }

  private Future<Answer> read(Call call) {
    return validated(
        K8sText.cluster(service.readCluster(call.principal(), Optional.of(call.text("name")))));
  }

  private Future<Answer> readBid(Call call) {
    return validated(K8sText.bid(service.readCluster(call.principal(), call.findText("cluster"))));
  }

  private Future<Answer> writeBid(Call call) {
    JsonObject body = call.body();
    K8sService.Bid bid =
        new K8sService.Bid(
            Optional.ofNullable(body.getString("cluster")),
            new BigDecimal(body.getNumber("limit_price_per_gpu_hour").toString()),
            Optional.ofNullable(body.getInteger("max_gpus")),
            body.getLong("expected_version"),
            Conditions.Changes.of(body));
    return service.writeBid(call.principal(), bid).map(view -> Answer.ok(K8sText.bid(view)));
  }

  private Future<Answer> readMetrics(Call call) {
    return Future.succeededFuture(
        Answer.ok(
            K8sText.metrics(service.readCluster(call.principal(), call.findText("cluster")))));
  }

  private static Future<Answer> validated(JsonObject json) {
    ClusterView.Encoded encoded = ClusterView.Encoded.of(json);
    return Future.succeededFuture(Answer.encoded(encoded.json(), encoded.etag()));
  }
}
