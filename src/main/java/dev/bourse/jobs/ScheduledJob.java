package dev.bourse.jobs;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.FailureText;
import dev.bourse.core.Times;
import dev.bourse.logs.RequestContext;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The timer and the record of one job. A run is a sequence of steps, one at a time; after each step
 * comes a pause as long as the step took. So a run takes at most half of one core, of a reader and
 * of the writer, and slows down with a busy store. Runs never overlap: the period counts from the
 * end of one to the start of the next, by the monotonic clock, so that a clock that is set back
 * delays none.
 *
 * <p>The first run starts immediately so that frequent restarts cannot starve the job, unless the
 * start of the process does the same work. Each pause between runs is shortened by up to a tenth so
 * that processes that started together spread out.
 */
public final class ScheduledJob {
  private static final Logger LOG = LoggerFactory.getLogger(ScheduledJob.class);

  /** How soon a turn without confirmed time is repeated, so that long periods do not double. */
  private static final long UNCONFIRMED_MILLIS = 60_000;

  /** The shortest pause of a timer. */
  private static final long LEAST_PAUSE_MILLIS = 1;

  /** The part of the period by which jitter may shorten a pause. */
  private static final long JITTER_PART = 10;

  /** Enough for a message of a database or of an object store. */
  private static final int MAX_ERROR = 300;

  private static final String STOPPING =
      "this process is stopping; send the request to another process";

  private final Vertx vertx;
  private final Context context;
  private final BackgroundJobs jobs;
  private final BackgroundJob job;
  private final Runnable ended;

  private final JobTally tally;

  // On the context alone.
  private long timer = -1;
  private boolean isFailing;

  /** Whether a run is in progress, or about to start for an operator. */
  private boolean isRunning;

  /** Whether a step, or the record of an operator's request, is in progress. */
  private boolean isBusy;

  /** Whether another run was requested during this one. */
  private boolean isRequested;

  /**
   * Whether an operator requested the run; it then runs here even if it is another process's turn.
   */
  private boolean isManual;

  private long runBeginNanos;
  private @Nullable Promise<Void> stopping;

  /**
   * @param ended called when the job is stopped
   */
  ScheduledJob(Vertx vertx, BackgroundJobs jobs, BackgroundJob job, Runnable ended) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.jobs = jobs;
    this.job = job;
    this.ended = ended;
    tally = new JobTally(jobs.nanos());
  }

  void start() {
    context.runOnContext(
        v -> {
          if (job.isImmediate()) {
            begin();
          } else {
            schedule();
          }
        });
  }

  /** Succeeds when the step in progress has ended; no other follows. */
  public Future<Void> stop() {
    Promise<Void> stopped = Promise.promise();
    context.runOnContext(
        v -> {
          stopping = stopped;
          vertx.cancelTimer(timer);
          completeStop();
        });
    return stopped.future();
  }

  /** Runs the job immediately, or once more after the run in progress. Safe on any thread. */
  public void runSoon() {
    context.runOnContext(
        v -> {
          if (isRunning) {
            isRequested = true;
          } else if (stopping == null) {
            begin();
          }
        });
  }

  /**
   * Starts a run for an operator; succeeds when it has started.
   *
   * @param record stores the request and its author; if that fails, nothing runs
   */
  Future<Void> runNow(Supplier<Future<Void>> record) {
    Promise<Void> started = Promise.promise();
    // The commit of the record judges the caller of the request, which this context carries.
    ContextInternal asking = RequestContext.contextFor(context);
    context.runOnContext(
        v -> {
          String refusal = refusal();
          if (refusal != null) {
            started.fail(refused(refusal));
            return;
          }
          vertx.cancelTimer(timer);
          isRunning = true;
          isBusy = true;
          asking.runOnContext(
              go ->
                  Future.succeededFuture()
                      .compose(begun -> record.get())
                      .onComplete(done -> onContext(() -> recorded(done, started))));
        });
    return started.future();
  }

  private void recorded(AsyncResult<Void> done, Promise<Void> started) {
    isBusy = false;
    if (done.succeeded() && stopping == null) {
      isManual = true;
      begin();
      started.complete();
    } else {
      // A request that failed does not postpone the next run.
      scheduleIn(TimeUnit.NANOSECONDS.toMillis(tally.dueNanos() - jobs.nanos()));
      started.fail(done.failed() ? done.cause() : refused(STOPPING));
    }
  }

  /** Returns the reason for a refusal; null if a run would start. Called on the context alone. */
  private @Nullable String refusal() {
    if (stopping != null) {
      return STOPPING;
    }
    JobView now = view();
    if (isRunning && now.runningSinceMillis() == null) {
      return "job %s is about to run".formatted(job.name());
    }
    return now.refusal();
  }

  /** Returns the reason for a refusal in this state; null if a run would start. Thread-safe. */
  private @Nullable String refusal(JobView now) {
    if (now.runningSinceMillis() != null) {
      return "job %s has been running since %s; wait until it ends"
          .formatted(job.name(), Times.rfc3339(now.runningSinceMillis()));
    }
    if (job.needsConfirmedTime() && jobs.confirmedMillis().isEmpty()) {
      return "job %s needs confirmed time and no clock is confirmed; see GET /api/operator/clock"
          .formatted(job.name());
    }
    if (job.place() == BackgroundJob.Place.LEASE_HOLDER
        && now.skipped() == JobView.Skip.OTHER_PROCESS) {
      return "the lease of job %s is held by %s; send the request to that process"
          .formatted(job.name(), now.holder() == null ? "another process" : now.holder());
    }
    return null;
  }

  private static ApiException refused(String detail) {
    return ApiException.of(ErrorCode.CONFLICT, detail);
  }

  private void begin() {
    if (stopping != null) {
      completeStop();
      return;
    }
    vertx.cancelTimer(timer);
    isRunning = true;
    isRequested = false;
    runBeginNanos = jobs.nanos();
    tally.start(jobs.nowMillis());
    step(true);
  }

  /** Only whole runs count as skipped; a run that loses its turn half way ends. */
  private void step(boolean isFirst) {
    long now = jobs.nowMillis();
    if (job.needsConfirmedTime()) {
      OptionalLong confirmed = jobs.confirmedMillis();
      if (confirmed.isEmpty()) {
        leave(isFirst, JobView.Skip.NO_CONFIRMED_TIME, null);
        return;
      }
      now = confirmed.getAsLong();
    }
    if (job.place() == BackgroundJob.Place.ONE_PROCESS && !isManual) {
      Optional<String> other = jobs.shares().findOther(job.name());
      if (other.isPresent()) {
        leave(isFirst, JobView.Skip.OTHER_PROCESS, other.get());
        return;
      }
    }
    long at = now;
    long begin = jobs.nanos();
    isBusy = true;
    Future.succeededFuture()
        .compose(v -> job.step().apply(at))
        .onComplete(done -> onContext(() -> stepped(done, begin, isFirst)));
  }

  private void onContext(Runnable action) {
    if (Vertx.currentContext() == context) {
      action.run();
    } else {
      context.runOnContext(v -> action.run());
    }
  }

  private void stepped(AsyncResult<Boolean> done, long begin, boolean isFirst) {
    isBusy = false;
    if (done.cause() instanceof JobLease.LeaseHeldException held) {
      leave(isFirst, JobView.Skip.OTHER_PROCESS, held.holder());
      return;
    }
    report(done);
    if (stopping == null && Boolean.TRUE.equals(done.result())) {
      long tookMillis = TimeUnit.NANOSECONDS.toMillis(jobs.nanos() - begin);
      timer = vertx.setTimer(Math.max(LEAST_PAUSE_MILLIS, tookMillis), id -> step(false));
      return;
    }
    end(done.failed() ? shown(done.cause()) : null);
  }

  private void leave(boolean isFirst, JobView.Skip why, @Nullable String holder) {
    if (isFirst) {
      tally.skip(why, holder);
      schedule(
          why == JobView.Skip.NO_CONFIRMED_TIME
              ? Math.min(UNCONFIRMED_MILLIS, job.periodMillis())
              : job.periodMillis());
    } else {
      end(null);
    }
  }

  private void end(@Nullable String error) {
    long now = jobs.nanos();
    tally.end(error, now - runBeginNanos, jobs.nowMillis(), now);
    schedule();
  }

  private void schedule() {
    schedule(job.periodMillis());
  }

  private void schedule(long period) {
    scheduleIn(period - jobs.jitter(period / JITTER_PART));
  }

  /** Ends a run and schedules the next one. */
  private void scheduleIn(long millis) {
    isRunning = false;
    isManual = false;
    if (stopping != null) {
      completeStop();
      return;
    }
    long pause = isRequested ? LEAST_PAUSE_MILLIS : Math.max(LEAST_PAUSE_MILLIS, millis);
    tally.due(jobs.nanos() + TimeUnit.MILLISECONDS.toNanos(pause));
    timer = vertx.setTimer(pause, id -> begin());
  }

  private void completeStop() {
    if (stopping != null && !isBusy && stopping.tryComplete()) {
      ended.run();
    }
  }

  /** Logs only transitions, so that a store that is down for long does not fill the log. */
  private void report(AsyncResult<Boolean> done) {
    if (done.failed() && !isFailing) {
      LOG.warn("job {} failed and is retried: {}", job.name(), shown(done.cause()));
    } else if (done.succeeded() && isFailing) {
      LOG.info("job {} succeeds again", job.name());
    }
    isFailing = done.failed();
    jobs.shares().note(job.name(), done.failed());
  }

  private static String shown(Throwable cause) {
    String text = FailureText.of(cause);
    return text.length() <= MAX_ERROR ? text : text.substring(0, MAX_ERROR) + "…";
  }

  BackgroundJob job() {
    return job;
  }

  JobTally tally() {
    return tally;
  }

  /** Returns the job's current state. Safe on any thread. */
  JobView view() {
    JobView now = tally.view(job, jobs.nowMillis(), jobs.nanos());
    return now.withRefusal(refusal(now));
  }
}
