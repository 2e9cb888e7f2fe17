package dev.bourse.jobs;

import dev.bourse.core.ConfirmedTime;
import dev.bourse.core.Ids;
import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** The registry of a process's background jobs. It starts them, counts them and shows them. */
public final class BackgroundJobs {
  private final Vertx vertx;
  private final Clock clock;
  private final ConfirmedTime time;
  private final LongSupplier nanoTime;
  private final RandomGenerator random;
  private final JobShares shares;
  private final String process;

  /** Some forty; each is declared once by the program. */
  private final Map<String, ScheduledJob> byName = new ConcurrentSkipListMap<>();

  /**
   * @param nanoTime the monotonic clock
   * @param random jitter and the name of this process
   * @param shareMillis the shortest period of jobs that the processes divide
   */
  public BackgroundJobs(
      Vertx vertx,
      Clock clock,
      ConfirmedTime time,
      LongSupplier nanoTime,
      RandomGenerator random,
      long shareMillis,
      Signals signals) {
    this.vertx = vertx;
    this.clock = clock;
    this.time = time;
    this.nanoTime = nanoTime;
    this.random = random;
    this.process = Ids.next("process", random);
    this.shares = new JobShares(shareMillis, nanoTime);
    registerMetrics(signals);
  }

  /** The name of this process in leases and shares. */
  public String process() {
    return process;
  }

  /**
   * Declares a job and starts it, until it is stopped.
   *
   * @throws IllegalArgumentException if another job has its name
   */
  public ScheduledJob start(BackgroundJob job) {
    ScheduledJob scheduled = new ScheduledJob(vertx, this, job, () -> byName.remove(job.name()));
    if (byName.putIfAbsent(job.name(), scheduled) != null) {
      throw new IllegalArgumentException("job " + job.name() + " is declared twice");
    }
    if (job.place() == BackgroundJob.Place.ONE_PROCESS) {
      shares.declare(job.name());
    }
    scheduled.start();
    return scheduled;
  }

  /**
   * Starts to divide jobs among the processes of the store; call it after all jobs are declared.
   * Returns the job that divides them; call {@link #leave} after the job has stopped.
   */
  public ScheduledJob divide(Database database) {
    shares.join(database, process);
    return start(
        BackgroundJob.inEachProcess(
            "divide-jobs",
            "dividing jobs among the processes",
            shares.intervalMillis(),
            shares::round));
  }

  /** Hands the jobs of this process over to the other processes immediately. */
  public Future<Void> leave() {
    return shares.leave();
  }

  /** Returns up to {@code limit} jobs in the order of their names, after a name. */
  public List<JobView> list(String after, int limit) {
    return byName.entrySet().stream()
        .filter(one -> one.getKey().compareTo(after) > 0)
        .limit(limit)
        .map(one -> one.getValue().view())
        .toList();
  }

  Optional<ScheduledJob> find(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  private void registerMetrics(Signals signals) {
    signals.counters(
        "bourse_job_runs_total",
        "Turns of background jobs: `succeeded`, `failed`, or `skipped` without a run.",
        List.of(Label.JOB, Label.OUTCOME),
        counts ->
            byName.forEach(
                (name, job) -> {
                  putEvents(counts, job.tally().succeeded(), name, "succeeded");
                  putEvents(counts, job.tally().failed(), name, "failed");
                  putEvents(counts, job.tally().skips(), name, "skipped");
                }));
    signals.counters(
        "bourse_job_seconds_total",
        "Seconds that the runs of background jobs took, with the pauses between their steps.",
        List.of(Label.JOB),
        times -> byName.forEach((name, job) -> times.put(job.tally().busySeconds(), name)));
    signals.gauges(
        "bourse_job_success_age_seconds",
        """
        Seconds since a background job last succeeded in this process; absent before that, and \
        while another process runs it.\
        """,
        List.of(Label.JOB),
        ages ->
            byName.forEach(
                (name, job) -> {
                  double age = job.tally().successAge(nanos());
                  if (!Double.isNaN(age)) {
                    ages.put(age, name);
                  }
                }));
  }

  /** A series begins with its first event, so that an idle process prints few. */
  private static void putEvents(Signals.Readings counts, long count, String... labels) {
    if (count > 0) {
      counts.put(count, labels);
    }
  }

  JobShares shares() {
    return shares;
  }

  long nowMillis() {
    return clock.millis();
  }

  long nanos() {
    return nanoTime.getAsLong();
  }

  OptionalLong confirmedMillis() {
    return time.confirmedMillis();
  }

  /** Returns 0 to {@code most}. */
  long jitter(long most) {
    return most == 0 ? 0 : random.nextLong(most + 1);
  }
}
