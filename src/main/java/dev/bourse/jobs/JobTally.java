package dev.bourse.jobs;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Counts the runs of one job and remembers the last one. Safe for use by any thread. */
final class JobTally {
  private @Nullable Long runningSinceMillis;
  private JobView.@Nullable Run lastRun;
  private @Nullable Long lastSuccessMillis;
  private @Nullable Long lastSuccessNanos;
  private long succeeded;
  private long failed;
  private long skips;
  private long busyNanos;
  private JobView.@Nullable Skip skipped;
  private @Nullable String holder;
  private long dueNanos;

  JobTally(long nowNanos) {
    dueNanos = nowNanos;
  }

  synchronized void start(long nowMillis) {
    runningSinceMillis = nowMillis;
  }

  synchronized void end(@Nullable String error, long tookNanos, long nowMillis, long nowNanos) {
    long since = runningSinceMillis == null ? nowMillis : runningSinceMillis;
    lastRun = new JobView.Run(since, TimeUnit.NANOSECONDS.toMillis(tookNanos), error);
    busyNanos += tookNanos;
    skipped = null;
    holder = null;
    if (error == null) {
      succeeded++;
      lastSuccessMillis = nowMillis;
      lastSuccessNanos = nowNanos;
    } else {
      failed++;
    }
  }

  synchronized void skip(JobView.Skip why, @Nullable String by) {
    skips++;
    skipped = why;
    holder = by;
  }

  /** Ends the run in progress; the next one is due then. */
  synchronized void due(long atNanos) {
    runningSinceMillis = null;
    dueNanos = atNanos;
  }

  synchronized long succeeded() {
    return succeeded;
  }

  synchronized long failed() {
    return failed;
  }

  synchronized long skips() {
    return skips;
  }

  synchronized double busySeconds() {
    return busyNanos / 1e9;
  }

  synchronized long dueNanos() {
    return dueNanos;
  }

  /**
   * Returns the seconds since the last success; NaN before the first, and while another process
   * runs the job.
   */
  synchronized double successAge(long nowNanos) {
    return lastSuccessNanos == null || skipped == JobView.Skip.OTHER_PROCESS
        ? Double.NaN
        : (nowNanos - lastSuccessNanos) / 1e9;
  }

  synchronized JobView view(BackgroundJob job, long nowMillis, long nowNanos) {
    long leftMillis = Math.max(0, TimeUnit.NANOSECONDS.toMillis(dueNanos - nowNanos));
    return new JobView(
        job,
        runningSinceMillis,
        runningSinceMillis == null ? nowMillis + leftMillis : null,
        lastRun,
        lastSuccessMillis,
        succeeded + failed,
        failed,
        skipped,
        holder,
        null);
  }
}
