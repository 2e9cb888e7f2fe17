package dev.bourse.trailstream;

import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.console.TrailStreamOrderJson;
import dev.bourse.trailstream.TrailStreamService.Order;
import dev.bourse.trailstream.TrailStreamService.Start;
import java.util.function.Function;

/** Operations of the console contract on trail streams. */
final class TrailStreamRoutes {
  private final TrailStreamService streams;

  TrailStreamRoutes(TrailStreamService streams) {
    this.streams = streams;
  }

  void bind(Operations operations) {
    operations
        .ok(
            "readTrailStream",
            call -> streams.readTrailStream(call.principal()),
            TrailStreamView::json)
        .ok(
            "setTrailStream",
            call -> streams.setTrailStream(call.principal(), order(call)),
            TrailStreamView::json)
        .ok(
            "deleteTrailStream",
            call -> streams.deleteTrailStream(call.principal()),
            Function.identity())
        .ok(
            "rotateTrailStreamSecret",
            call -> streams.rotateTrailStreamSecret(call.principal()),
            TrailStreamView::json);
  }

  private static Order order(Call call) {
    TrailStreamOrderJson sent = TrailStreamOrderJson.read(call.body());
    return new Order(
        sent.destination(),
        sent.accessKeyId(),
        sent.secretAccessKey(),
        sent.includeReads(),
        sent.enabled(),
        sent.start() == null ? null : Start.of(sent.start()));
  }
}
