package dev.bourse.capacity;

import dev.bourse.core.Page;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.k8s.BidJson;
import dev.bourse.schemas.k8s.K8sClusterPageJson;
import dev.bourse.schemas.k8s.K8sSwapRequestJson;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/** The Kubernetes contract's operations on clusters and bids. */
public final class K8sRoutes {
  private final CapacityService capacity;
  private final Function<Cluster, OptionalDouble> utilisation;

  /**
   * @param capacity of the Kubernetes surface
   * @param utilisation returns the mean utilization of a cluster's GPUs, from 0 to 1; empty if it
   *     is unknown
   */
  public K8sRoutes(CapacityService capacity, Function<Cluster, OptionalDouble> utilisation) {
    this.capacity = capacity;
    this.utilisation = utilisation;
  }

  public void bind(Operations operations) {
    operations
        .bind("listK8sClusters", this::list)
        .bind("readK8sCluster", this::read)
        .bind("readBid", this::readBid)
        .bind("writeBid", this::writeBid)
        .bind("previewBid", this::previewBid)
        .bind("readBidOutlook", this::readOutlook)
        .bind("swapK8sNode", this::swapNode)
        .bind("readK8sMetrics", this::readMetrics);
  }

  private Future<Answer> list(Call call) {
    Page<ClusterView> page = capacity.list(call.principal(), call.after(), call.limit());
    return Future.succeededFuture(
        Answer.ok(
            new K8sClusterPageJson(
                page.items().stream().map(K8sText::summary).toList(),
                page.more(),
                page.more() ? page.last().cluster().name() : null)));
  }

  private Future<Answer> read(Call call) {
    return encoded(
        capacity.readCapacity(call.principal(), Optional.of(call.text("name"))).encoded());
  }

  private Future<Answer> readBid(Call call) {
    return encoded(
        ClusterView.Encoded.of(
            K8sText.bid(capacity.readCapacity(call.principal(), call.findText("cluster")))));
  }

  private static Future<Answer> encoded(ClusterView.Encoded encoded) {
    return Future.succeededFuture(Answer.encoded(encoded.json(), encoded.etag()));
  }

  private Future<Answer> writeBid(Call call) {
    BidJson sent = BidJson.read(call.body());
    return capacity
        .declareCapacity(
            call.principal(), Optional.ofNullable(sent.cluster()), order(call, sent), List.of())
        .map(view -> Answer.ok(K8sText.bid(view)));
  }

  private Future<Answer> previewBid(Call call) {
    BidJson sent = BidJson.read(call.body());
    return capacity
        .preview(call.principal(), Optional.ofNullable(sent.cluster()), order(call, sent))
        .map(preview -> Answer.ok(K8sText.preview(preview)));
  }

  private static Capacity.Declare order(Call call, BidJson sent) {
    return Capacity.Declare.of(call.principal().actor(), sent);
  }

  private Future<Answer> readOutlook(Call call) {
    return capacity.readOutlook(call.principal(), call.findText("cluster")).map(Answer::ok);
  }

  private Future<Answer> swapNode(Call call) {
    K8sSwapRequestJson sent = K8sSwapRequestJson.read(call.body());
    return capacity
        .swapNode(call.principal(), Optional.ofNullable(sent.cluster()), sent.node())
        .map(CapacityRoutes::toJson)
        .map(Answer::ok);
  }

  private Future<Answer> readMetrics(Call call) {
    ClusterView view = capacity.readCapacity(call.principal(), call.findText("cluster"));
    return Future.succeededFuture(
        Answer.ok(K8sText.metrics(view, utilisation.apply(view.cluster()))));
  }
}
