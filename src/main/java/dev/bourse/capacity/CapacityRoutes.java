package dev.bourse.capacity;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.common.SwapJson;
import dev.bourse.schemas.vm.CapacityDeclarationJson;
import dev.bourse.schemas.vm.DrillJson;
import dev.bourse.schemas.vm.DrillRequestJson;
import dev.bourse.schemas.vm.SwapRequestJson;
import io.vertx.core.Future;
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
    CapacityDeclarationJson sent = CapacityDeclarationJson.read(call.body());
    return capacity
        .declareCapacity(
            call.principal(), Optional.ofNullable(sent.cluster()), order(call, sent), List.of())
        .map(CapacityRoutes::state);
  }

  private Future<Answer> previewCapacity(Call call) {
    CapacityDeclarationJson sent = CapacityDeclarationJson.read(call.body());
    return capacity
        .preview(call.principal(), Optional.ofNullable(sent.cluster()), order(call, sent))
        .map(preview -> Answer.ok(preview.toJson()));
  }

  private static Capacity.Declare order(Call call, CapacityDeclarationJson sent) {
    return Capacity.Declare.of(call.principal().actor(), sent);
  }

  private Future<Answer> readOutlook(Call call) {
    return capacity.readOutlook(call.principal(), call.findText("cluster")).map(Answer::ok);
  }

  private Future<Answer> swapNode(Call call) {
    SwapRequestJson sent = SwapRequestJson.read(call.body());
    return capacity
        .swapNode(call.principal(), Optional.ofNullable(sent.cluster()), sent.node())
        .map(CapacityRoutes::toJson)
        .map(Answer::ok);
  }

  static SwapJson toJson(CapacityService.Swap swap) {
    return new SwapJson(
        swap.cluster(),
        swap.node(),
        "swapping",
        swap.requestedAtMillis(),
        swap.lapsesAtMillis(),
        swap.version());
  }

  private Future<Answer> drillNodes(Call call) {
    DrillRequestJson sent = DrillRequestJson.read(call.body());
    return capacity
        .drillNodes(call.principal(), Optional.ofNullable(sent.cluster()))
        .map(CapacityRoutes::toJson)
        .map(Answer::ok);
  }

  static DrillJson toJson(CapacityService.Drilled drilled) {
    return new DrillJson(
        drilled.cluster(),
        drilled.nodes(),
        drilled.drill().startedAtMillis(),
        drilled.drill().endsAtMillis(),
        drilled.version());
  }

  private static Answer state(ClusterView view) {
    ClusterView.Encoded encoded = view.encoded();
    return Answer.encoded(encoded.json(), encoded.etag());
  }
}
