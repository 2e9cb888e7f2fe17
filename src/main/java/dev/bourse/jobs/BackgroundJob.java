package dev.bourse.jobs;

import io.vertx.core.Future;
import java.util.Locale;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Recurring work that no request waits for: a sweep, a check, a comparison, a round of postings.
 *
 * @param name the job in the API, on the command line and in metrics, 1 to 60 of a-z, 0-9 and -;
 *     the same in all processes
 * @param summary its purpose, as a noun phrase without a full stop
 * @param periodMillis from the end of a run to the next one, at least 1
 * @param place which processes run it
 * @param needsConfirmedTime whether its turns are skipped while no clock is confirmed
 * @param isImmediate whether the first run starts with the process, and not a period later
 * @param step one small part of a run; it receives confirmed time if the job needs it, and the
 *     clock's time otherwise, in epoch milliseconds; returns whether the run has more to do
 */
public record BackgroundJob(
    String name,
    String summary,
    long periodMillis,
    Place place,
    boolean needsConfirmedTime,
    boolean isImmediate,
    LongFunction<Future<Boolean>> step) {
  private static final Pattern NAME = Pattern.compile("[a-z0-9-]{1,60}");

  /** Which processes of a store run a job. */
  public enum Place {
    /** Each process runs it for itself. */
    EACH_PROCESS,
    /**
     * One process runs it for all, as {@link JobShares} divides the jobs. The step must tolerate
     * that two processes run it at the same time.
     */
    ONE_PROCESS,
    /**
     * The holder of a {@link JobLease} runs it. The step acquires the lease itself, and fails with
     * {@link JobLease.LeaseHeldException} while another process has it.
     */
    LEASE_HOLDER;

    /** The name in answers. */
    public String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  public BackgroundJob {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("not the name of a job: " + name);
    }
    if (periodMillis < 1) {
      throw new IllegalArgumentException(name + ": a period of " + periodMillis + " ms");
    }
  }

  /** A job that every process runs for itself. */
  public static BackgroundJob inEachProcess(
      String name, String summary, long periodMillis, Supplier<Future<Boolean>> step) {
    return of(name, summary, periodMillis, Place.EACH_PROCESS, step);
  }

  /** A job that one process runs for all; the step must tolerate a second process. */
  public static BackgroundJob inOneProcess(
      String name, String summary, long periodMillis, Supplier<Future<Boolean>> step) {
    return of(name, summary, periodMillis, Place.ONE_PROCESS, step);
  }

  /** A job of the process whose step acquires a lease. */
  public static BackgroundJob underLease(
      String name, String summary, long periodMillis, Supplier<Future<Boolean>> step) {
    return of(name, summary, periodMillis, Place.LEASE_HOLDER, step);
  }

  /**
   * A job whose step takes confirmed time.
   *
   * @param step takes epoch milliseconds
   */
  public static BackgroundJob onConfirmedTime(
      Place place,
      String name,
      String summary,
      long periodMillis,
      LongFunction<Future<Boolean>> step) {
    return new BackgroundJob(name, summary, periodMillis, place, true, true, step);
  }

  private static BackgroundJob of(
      String name, String summary, long periodMillis, Place place, Supplier<Future<Boolean>> step) {
    return new BackgroundJob(name, summary, periodMillis, place, false, true, now -> step.get());
  }

  /** Returns the same job with turns only while a clock is confirmed. */
  public BackgroundJob withConfirmedTime() {
    return new BackgroundJob(name, summary, periodMillis, place, true, isImmediate, step);
  }

  /** Returns the same job with its first run a period after the start, which has done its work. */
  public BackgroundJob afterFirstPeriod() {
    return new BackgroundJob(name, summary, periodMillis, place, needsConfirmedTime, false, step);
  }
}
