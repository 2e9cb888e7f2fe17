package dev.bourse.operator;

import dev.bourse.core.ClockView;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The operator contract's operation on the clocks. */
public final class ClockRoutes {
  private final Supplier<ClockView> clock;

  public ClockRoutes(Supplier<ClockView> clock) {
    this.clock = clock;
  }

  public void bind(Operations operations) {
    operations.bind("readClock", call -> Future.succeededFuture(Answer.ok(json(clock.get()))));
  }

  static JsonObject json(ClockView view) {
    return new JsonObject()
        .put("now", Times.rfc3339(view.nowMillis()))
        .put("confirmed_at", Times.rfc3339OrNull(view.confirmedMillis()))
        .put("newest_confirmed_at", Times.rfc3339OrNull(view.newestMillis()))
        .put("confirmed_in_ms", view.leftMillis())
        .put("ahead_of_database_ms", view.aheadMillis())
        .put("steps_ahead", view.stepsAhead())
        .put("steps_back", view.stepsBack())
        .put("last_step", step(view.lastStep()));
  }

  private static @Nullable JsonObject step(ClockView.@Nullable Step step) {
    return step == null
        ? null
        : new JsonObject().put("at", Times.rfc3339(step.atMillis())).put("by_ms", step.byMillis());
  }
}
