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
    JobView.Run run = view.lastRun();
    return new JsonObject()
        .put("name", view.job().name())
        .put("summary", view.job().summary())
        .put("period_ms", view.job().periodMillis())
        .put("runs_in", view.job().place().label())
        .put("needs_confirmed_time", view.job().needsConfirmedTime())
        .put("running_since", Times.rfc3339OrNull(view.runningSinceMillis()))
        .put("next_run_at", Times.rfc3339OrNull(view.nextRunMillis()))
        .put("last_run_at", run == null ? null : Times.rfc3339(run.startedAtMillis()))
        .put("last_duration_ms", run == null ? null : run.tookMillis())
        .put("last_result", run == null ? null : run.error() == null ? "succeeded" : "failed")
        .put("last_error", run == null ? null : run.error())
        .put("last_success_at", Times.rfc3339OrNull(view.lastSuccessMillis()))
        .put("runs", view.runs())
        .put("failures", view.failures())
        .put("skipped", view.skipped() == null ? null : view.skipped().label())
        .put("holder", view.holder())
        .put("can_run", view.refusal() == null)
        .put("cannot_run_because", view.refusal());
  }
}
