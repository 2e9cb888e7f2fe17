package dev.bourse.capacity;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;

/** The VM contract's stream of events. */
public final class EventRoutes {
  private final EventService events;

  public EventRoutes(EventService events) {
    this.events = events;
  }

  public void bind(Operations operations) {
    operations.bind(
        "followEvents",
        call -> {
          EventService.Stream stream =
              events.open(call.principal(), call.findText("cluster"), call.header("Last-Event-ID"));
          return Future.succeededFuture(
              new Answer.Events(sink -> stream.begin(sink.loop(), sink::send, sink::end)));
        });
  }
}
