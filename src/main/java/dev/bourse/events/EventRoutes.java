package dev.bourse.events;

import dev.bourse.capacity.Cluster;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.common.ActivityPageJson;
import dev.bourse.schemas.common.HistoryJson;
import io.vertx.core.Future;

/** The operations of one surface's contract on events, activity and history. */
public final class EventRoutes {

  private final Cluster.Kind surface;
  private final EventService events;
  private final ActivityService activity;

  /**
   * @param surface the kind of the clusters
   * @param activity of that surface
   */
  public EventRoutes(Cluster.Kind surface, EventService events, ActivityService activity) {
    this.surface = surface;
    this.events = events;
    this.activity = activity;
  }

  public void bind(Operations operations) {
    boolean isVm = surface == Cluster.Kind.VM;
    operations
        .bind(isVm ? "followEvents" : "followK8sEvents", this::followEvents)
        .bind(isVm ? "listActivity" : "listK8sActivity", this::listActivity)
        .bind(isVm ? "readHistory" : "readK8sHistory", this::readHistory);
  }

  private Future<Answer> followEvents(Call call) {
    EventService.Stream stream =
        events.open(
            surface, call.principal(), call.findText("cluster"), call.header("Last-Event-ID"));
    return Future.succeededFuture(
        new Answer.Events(sink -> stream.begin(sink.loop(), sink::send, sink::end)));
  }

  private Future<Answer> listActivity(Call call) {
    int page = Math.toIntExact(call.integer("page"));
    return activity
        .listActivity(call.principal(), call.findText("cluster"), page, call.findText("who"))
        .map(entries -> entries(entries, surface))
        .map(Answer::ok);
  }

  static ActivityPageJson entries(Page<ActivityStore.StoredActivity> page, Cluster.Kind surface) {
    return new ActivityPageJson(
        page.items().stream().map(entry -> EventText.entry(entry, surface)).toList(), page.more());
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
