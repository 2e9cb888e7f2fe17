package dev.bourse.jobs;

import org.jspecify.annotations.Nullable;

/**
 * The state of a job in the process that answers. It is not stored, so it is empty after a restart.
 *
 * @param job the job's declaration
 * @param runningSinceMillis when the run in progress started; null while none is
 * @param nextRunMillis when the next run is due; null while one is in progress
 * @param lastRun the last run that ended here; null before the first
 * @param lastSuccessMillis when the last run that succeeded here ended; null before the first
 * @param runs runs that ended here
 * @param failures how many of them failed
 * @param skipped why the last turn was skipped; null if it was not
 * @param holder the process that runs it instead; null if this one does or it is unknown
 * @param refusal why an operator's run would be refused now; null if it would start
 */
public record JobView(
    BackgroundJob job,
    @Nullable Long runningSinceMillis,
    @Nullable Long nextRunMillis,
    @Nullable Run lastRun,
    @Nullable Long lastSuccessMillis,
    long runs,
    long failures,
    @Nullable Skip skipped,
    @Nullable String holder,
    @Nullable String refusal) {

  /** Returns the same view with the reason for a refusal; null if a run would start. */
  JobView withRefusal(@Nullable String reason) {
    return new JobView(
        job,
        runningSinceMillis,
        nextRunMillis,
        lastRun,
        lastSuccessMillis,
        runs,
        failures,
        skipped,
        holder,
        reason);
  }

  /**
   * A run that ended.
   *
   * @param startedAtMillis the clock's time at its start
   * @param tookMillis its duration by the monotonic clock, with the pauses between its steps
   * @param error why it failed; null if it succeeded
   */
  public record Run(long startedAtMillis, long tookMillis, @Nullable String error) {}

  /** Why a turn was skipped. */
  public enum Skip {
    /** No clock is confirmed. */
    NO_CONFIRMED_TIME("no-confirmed-time"),
    /** Another process runs the job. */
    OTHER_PROCESS("other-process");

    private final String label;

    Skip(String label) {
      this.label = label;
    }

    /** The name in answers. */
    public String label() {
      return label;
    }
  }
}
