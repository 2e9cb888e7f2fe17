package dev.bourse.events;

import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.vm.ActivityPageJson;
import dev.bourse.schemas.vm.HistoryJson;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
        series(history.maxPriceCents(), cents -> Price.toUsd(cents * gpus)),
        series(history.priceCents(), cents -> perNodeUsd(cents, gpus)));
  }

  /** A mean of cents has a fraction; six decimals keep the error far below a micro-dollar. */
  private static double perNodeUsd(double cents, int gpusPerNode) {
    return Math.round(cents * gpusPerNode * 1e4) / 1e6;
  }

  private static <T> List<@Nullable Double> series(
      List<? extends @Nullable T> values, Function<T, Double> usd) {
    List<@Nullable Double> series = new ArrayList<>(values.size());
    for (T value : values) {
      series.add(value == null ? null : usd.apply(value));
    }
    return series;
  }
}
