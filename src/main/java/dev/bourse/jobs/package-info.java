/**
 * Background jobs: the work that the service repeats and that no request waits for, such as sweeps,
 * retention, checks, postings and polls for deliveries.
 *
 * <p>Each job is declared once, as a {@link dev.bourse.jobs.BackgroundJob}: name, period, which
 * processes run it, whether it needs confirmed time, and one small step. {@link
 * dev.bourse.jobs.BackgroundJobs} is the registry of a process; a {@link
 * dev.bourse.jobs.ScheduledJob} owns the timer of one job, and a {@code JobTally} its counts and
 * last run. Metrics, {@code GET /api/operator/jobs} and the operators' console read the tally. It
 * lives in memory: a stored one would cost a commit for each run of jobs that run every second.
 *
 * <p>A timer that is part of a request, of a connection or of a machine's work is no job:
 * time-outs, backoff, the flush of audited reads, the sweeps of an event loop's own connections,
 * the renewal of a claim during a run, a market's tick and probes, which begin and end with the
 * market's lease.
 *
 * <p>Three rules say which process runs a job. {@code EACH_PROCESS}: all. {@code ONE_PROCESS}: the
 * process that {@code JobShares} computes from the rows of {@code upkeep_process}; this saves work,
 * and a step tolerates a second process. {@code LEASE_HOLDER}: the process that holds a {@link
 * dev.bourse.jobs.JobLease}, a row of {@code webhook_lease} with the lease's name; the table serves
 * all jobs, not only webhooks. The market's leases stay in {@code lease}: their epoch fences the
 * commits of a tick, and the row carries the quote. Claims of blobs and of mails belong to an item
 * and not to a job. The tables keep their names, because processes of the previous release take the
 * same rows during a rolling upgrade; a table of another name would let both releases hold one
 * lease.
 *
 * <p>Rejected: a scheduler with calendar times (no job needs one), fixed rates (a busy store would
 * face a queue of late runs), and a run of a missed turn for each period that a long run took.
 */
@NullMarked
package dev.bourse.jobs;

import org.jspecify.annotations.NullMarked;
