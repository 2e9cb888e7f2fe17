package dev.bourse.operator;

import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.jobs.JobService;
import dev.bourse.jobs.JobView;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** Operations of the operator contract on background jobs. */
public final class JobRoutes {
  private final JobService jobs;

  public JobRoutes(JobService jobs) {
    this.jobs = jobs;
  }

  public void bind(Operations operations) {
    operations
        .bind("listJobs", this::list)
        .ok("runJob", call -> jobs.run(call.actor(), call.text("job")), JobRoutes::json);
  }

  private Future<Answer> list(Call call) {
    return Future.succeededFuture(
        Answer.ok(
            CommonFields.page(
                    "jobs", jobs.list(call.after(), call.limit()), "name", JobRoutes::json)
                .put("process", jobs.process())));
  }

  private static JsonObject json(JobView view) {
    return new JsonObject()
        .put("name", view.job().name())
        .put("summary", view.job().summary())
        .put("period_ms", view.job().periodMillis())
        .put("runs_in", view.job().place().label())
        .put("needs_confirmed_time", view.job().needsConfirmedTime())
        .put("running_since", Times.rfc3339OrNull(view.runningSinceMillis()))
        .put("next_run_at", Times.rfc3339OrNull(view.nextRunMillis()))
        .put("last_run", json(view.lastRun()))
        .put("last_success_at", Times.rfc3339OrNull(view.lastSuccessMillis()))
        .put("runs", view.runs())
        .put("failures", view.failures())
        .put("skipped", view.skipped() == null ? null : view.skipped().label())
        .put("holder", view.holder());
  }

  private static @Nullable JsonObject json(JobView.@Nullable Run run) {
    return run == null
        ? null
        : new JsonObject()
            .put("started_at", Times.rfc3339(run.startedAtMillis()))
            .put("duration_ms", run.tookMillis())
            .put("result", run.error() == null ? "succeeded" : "failed")
            .put("error", run.error());
  }
}
