package dev.bourse.capacity;

import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/** The VM contract's operations on capacity. */
public final class CapacityRoutes {
  private final CapacityService capacity;

  public CapacityRoutes(CapacityService capacity) {
    this.capacity = capacity;
  }

  public void bind(Operations operations) {
    operations
        .bind("readCapacity", this::readCapacity)
        .bind("declareCapacity", this::declareCapacity)
        .bind("previewCapacity", this::previewCapacity)
        .bind("readOutlook", this::readOutlook)
        .bind("swapNode", this::swapNode)
        .bind("drillNodes", this::drillNodes);
  }

  private Future<Answer> readCapacity(Call call) {
    return Future.succeededFuture(
        state(capacity.readCapacity(call.principal(), call.findText("cluster"))));
  }

  private Future<Answer> declareCapacity(Call call) {
    return capacity
        .declareCapacity(call.principal(), cluster(call), order(call), List.of())
        .map(CapacityRoutes::state);
  }

  private Future<Answer> previewCapacity(Call call) {
    return capacity
        .preview(call.principal(), cluster(call), order(call))
        .map(preview -> Answer.ok(preview.toJson()));
  }

  private Future<Answer> readOutlook(Call call) {
    return capacity
        .readOutlook(call.principal(), call.findText("cluster"))
        .map(read -> Answer.ok(read.outlook().toJson(read.cluster())));
  }

  private static Optional<String> cluster(Call call) {
    return Optional.ofNullable(call.body().getString("cluster"));
  }

  private static Capacity.Declare order(Call call) {
    return Capacity.Declare.of(call.principal().actor(), call.body());
  }

  private Future<Answer> swapNode(Call call) {
    return capacity
        .swapNode(call.principal(), cluster(call), call.body().getString("node"))
        .map(
            swap ->
                Answer.ok(
                    new JsonObject()
                        .put("cluster", swap.cluster())
                        .put("node", swap.node())
                        .put("state", "swapping")
                        .put("requested_at", Times.rfc3339(swap.requestedAtMillis()))
                        .put("lapses_at", Times.rfc3339(swap.lapsesAtMillis()))
                        .put("version", swap.version())));
  }

  private Future<Answer> drillNodes(Call call) {
    return capacity
        .drillNodes(call.principal(), cluster(call))
        .map(
            drilled ->
                Answer.ok(
                    new JsonObject()
                        .put("cluster", drilled.cluster())
                        .put("nodes", new JsonArray(drilled.nodes()))
                        .put("started_at", Times.rfc3339(drilled.drill().startedAtMillis()))
                        .put("reclaim_at", Times.rfc3339(drilled.drill().endsAtMillis()))
                        .put("version", drilled.version())));
  }

  private static Answer state(ClusterView view) {
    ClusterView.Encoded encoded = view.encoded();
    return Answer.encoded(encoded.json(), encoded.etag());
  }
}
