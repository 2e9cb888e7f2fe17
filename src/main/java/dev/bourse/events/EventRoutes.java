package dev.bourse.events;

import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.vm.ActivityPageJson;
import dev.bourse.schemas.vm.HistoryJson;
import io.vertx.core.Future;

/** Operations of the VM contract on events, activity and history. */
public final class EventRoutes {

  private final EventService events;
  private final ActivityService activity;

  public EventRoutes(EventService events, ActivityService activity) {
    this.events = events;
    this.activity = activity;
  }

  public void bind(Operations operations) {
    operations
        .bind("followEvents", this::followEvents)
        .bind("listActivity", this::listActivity)
        .bind("readHistory", this::readHistory);
  }

  private Future<Answer> followEvents(Call call) {
    EventService.Stream stream =
        events.open(call.principal(), call.findText("cluster"), call.header("Last-Event-ID"));
    return Future.succeededFuture(
        new Answer.Events(sink -> stream.begin(sink.loop(), sink::send, sink::end)));
  }

  private Future<Answer> listActivity(Call call) {
    int page = Math.toIntExact(call.integer("page"));
    return activity
        .listActivity(call.principal(), call.findText("cluster"), page, call.findText("who"))
        .map(EventRoutes::entries)
        .map(Answer::ok);
  }

  static ActivityPageJson entries(Page<ActivityStore.StoredActivity> page) {
    return new ActivityPageJson(page.items().stream().map(EventText::entry).toList(), page.more());
  }

  private Future<Answer> readHistory(Call call) {
    return activity
        .readHistory(call.principal(), call.findText("cluster"), call.number("hours"))
        .map(EventRoutes::history)
        .map(Answer::ok);
  }

  static HistoryJson history(ActivityService.ClusterHistory past) {
    HistorySeries history = past.history();
    int gpus = past.gpusPerNode();
    return new HistoryJson(
        past.cluster(),
        history.t0Seconds(),
        Math.toIntExact(history.stepSeconds()),
        history.maxNodes(),
        history.granted(),
        HistorySeries.inUsd(history.maxPriceCents(), cents -> Price.toUsd(cents * gpus)),
        HistorySeries.inUsd(history.priceCents(), cents -> Price.meanToUsd(cents * gpus)));
  }
}
