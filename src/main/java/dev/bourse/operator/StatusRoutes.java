package dev.bourse.operator;

import dev.bourse.core.ClockView;
import dev.bourse.edge.Operations;
import dev.bourse.jobs.JobService;
import dev.bourse.jobs.JobView;
import dev.bourse.status.StatusService;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.function.Supplier;

/** The operator contract's operation on the site's status. */
public final class StatusRoutes {
  private final StatusService status;
  private final Supplier<ClockView> clock;
  private final JobService jobs;

  public StatusRoutes(StatusService status, Supplier<ClockView> clock, JobService jobs) {
    this.status = status;
    this.clock = clock;
    this.jobs = jobs;
  }

  public void bind(Operations operations) {
    operations.ok(
        "readStatus",
        call -> status.readStatus(),
        view ->
            view.toJson()
                .put("failed_jobs", failedJobs())
                .put("clock", ClockRoutes.json(clock.get())));
  }

  /** Lists the jobs of this process whose last run failed. */
  private JsonArray failedJobs() {
    JsonArray failed = new JsonArray();
    for (JobView view : jobs.listFailed()) {
      JobView.Run run = view.lastRun();
      failed.add(
          new JsonObject()
              .put("name", view.job().name())
              .put("last_error", run == null ? null : run.error()));
    }
    return failed;
  }
}
