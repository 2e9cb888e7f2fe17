package dev.bourse.jobs;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Trails;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** Shows background jobs to operators, and starts the runs that operators request. */
public final class JobService {
  private final Database database;
  private final BackgroundJobs jobs;
  private final Clock clock;

  public JobService(Database database, BackgroundJobs jobs, Clock clock) {
    this.database = database;
    this.jobs = jobs;
    this.clock = clock;
  }

  /** The name of this process in leases. */
  public String process() {
    return jobs.process();
  }

  /** Returns a page of jobs in the order of their names. */
  public Page<JobView> list(String after, int limit) {
    return Page.of(jobs.list(after, limit + 1), limit);
  }

  /** Lists the jobs of this process whose last run failed, in the order of their names. */
  public List<JobView> listFailed() {
    return jobs.list("", Integer.MAX_VALUE).stream()
        .filter(job -> job.lastRun() != null && job.lastRun().error() != null)
        .toList();
  }

  /**
   * Starts a run of a job in this process and records it; succeeds when it has started. A job that
   * the processes divide runs here even if it is another process's turn, because its steps tolerate
   * a second process.
   *
   * <p>Fails with {@code not-found}, or with {@code conflict} if the job is running, if another
   * process holds its lease, or if it needs confirmed time and there is none.
   *
   * @param actor the operator
   */
  public Future<JobView> run(String actor, String name) {
    Optional<ScheduledJob> found = jobs.find(name);
    if (found.isEmpty()) {
      return Future.failedFuture(ApiException.notFound("job", name));
    }
    AuditRow row =
        new AuditRow(clock.millis(), Trails.PLATFORM, actor, "job_run", "platform", name);
    return found
        .get()
        .runNow(() -> database.commit(List.of(AuditStore.insert(row))))
        .map(started -> found.get().view());
  }
}
