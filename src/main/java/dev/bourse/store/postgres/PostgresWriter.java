package dev.bourse.store.postgres;

import dev.bourse.store.Database;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one connection that writes. It takes waiting commits in order, a group at a time. There is
 * one because commits are stored in the order of the calls, and because a group shares the cost of
 * a transaction; measured, it stores more than one connection per caller.
 *
 * <p>Each group ends with a row of the commit log under a key of its own. If COMMIT is not
 * answered, the key settles the outcome: a separate transaction inserts a tombstone under it. If
 * the key exists, the group is stored; otherwise the group can never be stored, because its own
 * insertion would fail. While the first transaction still hangs, the insertion waits for it. The
 * connection is dropped first, together with a group that is in progress behind the first one; no
 * other group is sent before the outcome is known.
 *
 * <p>The transaction that settles an outcome is also the later commit that a synchronous standby
 * must confirm before the group is acknowledged. Otherwise a server that is restarted, or whose
 * waiting session is ended, would show a commit that no standby has.
 */
final class PostgresWriter implements PostgresLink.User, PostgresBatch.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresWriter.class);

  /** Beyond this number, sharing a transaction gains little and the first commits wait longer. */
  private static final int GROUP_COMMITS = 64;

  private static final int GROUP_STATEMENTS = 1_024;

  /**
   * How long a group waits for a locked row before its commits run one by one. Another process
   * holds its rows for the milliseconds of a commit.
   */
  private static final int LOCK_MILLIS = 100;

  /** Ends the session of a process that hangs, so that it does not keep rows locked. */
  private static final int IDLE_MILLIS = 3_000;

  /** The longest pause between two attempts of a commit that was put aside. */
  private static final int MOST_ASIDE_MILLIS = 500;

  private static final int LEAST_ASIDE_MILLIS = 20;

  private static final long REVOKED_NANOS = TimeUnit.MILLISECONDS.toNanos(Database.REVOKED_MILLIS);

  private static final long KNOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(Database.KNOWN_MILLIS);

  /**
   * After each check a commit waits for the group in progress, which may outlast the check's
   * validity.
   */
  private static final int MOST_JUDGEMENTS = 8;

  /** The pause between attempts to settle an outcome while the first transaction hangs. */
  private static final long SETTLE_AGAIN_MILLIS = 100;

  /**
   * How long callers wait for an outcome. A reachable server answers within milliseconds, and the
   * callers have already waited for the answer to COMMIT.
   */
  private static final long SETTLE_MILLIS = 3_000;

  /** The interval at which the server is asked whether it still works on an unanswered command. */
  private static final long PATROL_MILLIS = 1_000;

  /** SQLSTATE of a warning. */
  private static final String WARNING = "01000";

  /**
   * Ends the sessions that this writer has dropped. A session that waits for a synchronous standby
   * does not detect that its client is gone, and would keep its locks and one of the server's
   * connections.
   */
  private static final String END_ABANDONED =
      """
      SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE application_name = current_setting('application_name')
      AND datname = current_database() AND pid <> pg_backend_pid()\
      """;

  /**
   * A row without changes is a tombstone. The previous group must be present as well; otherwise the
   * database has lost it.
   */
  private static final String SETTLE =
      """
      INSERT INTO commit_log AS l (sender, seq) VALUES ($1, $2)
      ON CONFLICT (sender, seq) DO UPDATE SET seq = excluded.seq
      RETURNING l.changes IS NOT NULL AS is_stored, l.seq = 1 OR EXISTS (
        SELECT 1 FROM commit_log b WHERE b.sender = l.sender AND b.seq = l.seq - 1) AS follows\
      """;

  /** A group whose COMMIT was sent and not answered. */
  private static final class Unknown {
    final GroupId id;
    final List<PostgresBatch.Commit> commits;
    final Throwable cause;

    /** True if its callers have received an unknown outcome. */
    boolean isAnswered;

    Unknown(GroupId id, List<PostgresBatch.Commit> commits, Throwable cause) {
      this.id = id;
      this.commits = commits;
      this.cause = cause;
    }
  }

  /** The state of a group according to the log. */
  private record Outcome(boolean isStored, boolean follows) {}

  private final ContextInternal context;
  private final PostgresConfig config;
  private final RandomGenerator random;
  private final OwnGroups own;
  private final PostgresChanges changes;
  private final IntFunction<Future<Boolean>> isActive;
  private final PostgresLink link;
  private final StoreSignals counted;

  // Guarded by this.
  private final ArrayDeque<PostgresBatch.Commit> queue = new ArrayDeque<>();
  private int waiting;
  private boolean isScheduled;
  private @Nullable Throwable away;
  private boolean closed;
  private @Nullable Runnable drained;

  // On the context alone.
  private @Nullable PgConnection connection;
  private final ArrayDeque<Unknown> unknowns = new ArrayDeque<>();
  private boolean isSettling;
  private boolean isBusy;
  private boolean isWarned;
  private int aside;

  /**
   * Raised when the database was set back, because earlier commits were decided on other states.
   */
  private int era;

  private int underWay;
  private long sentNanos;

  /** When the connection was made. */
  private long upNanos = System.nanoTime();

  /**
   * @param isActive asks over another connection whether the server's process with this number
   *     works on a statement
   */
  PostgresWriter(
      VertxInternal vertx,
      PostgresConfig config,
      PrimaryHistory history,
      RandomGenerator random,
      OwnGroups own,
      PostgresChanges changes,
      IntFunction<Future<Boolean>> isActive,
      StoreSignals counted) {
    this.isActive = isActive;
    this.counted = counted;
    context = vertx.createEventLoopContext();
    this.config = config;
    this.random = random;
    this.own = own;
    this.changes = changes;
    // The sender makes the session's name unique, by which END_ABANDONED finds it.
    String settings =
        """
        SET statement_timeout = %s; SET lock_timeout = %s;
        SET idle_in_transaction_session_timeout = %s;
        SELECT set_config('application_name',
        'bourse %s' || substr(current_setting('application_name'), 7), false);
        """
            .formatted(config.queryMillis(), LOCK_MILLIS, IDLE_MILLIS, own.next().sender());
    link = new PostgresLink("writer", context, config, history, settings, random, this);
  }

  Future<Void> connect() {
    return link.connect();
  }

  /** Returns null if the commit was accepted, otherwise the reason for its rejection. */
  @Nullable StoreUnavailableException offer(PostgresBatch.Commit commit) {
    synchronized (this) {
      if (closed) {
        return new StoreUnavailableException("the store is closed", null);
      }
      if (away != null) {
        return PostgresFailure.unavailable("cannot write to PostgreSQL", away);
      }
      if (waiting > 0 && waiting + commit.weight() > config.queuedStatements()) {
        return new StoreUnavailableException(
            "%d statements are waiting; at most %d may"
                .formatted(waiting, config.queuedStatements()),
            null);
      }
      queue.add(commit);
      waiting += commit.weight();
      if (isScheduled) {
        return null;
      }
      isScheduled = true;
    }
    context.runOnContext(v -> next());
    return null;
  }

  /** Returns how many statements wait. */
  synchronized int waiting() {
    return waiting;
  }

  /** Returns the next group. A commit that was put aside is a group of its own. */
  private synchronized List<PostgresBatch.Commit> take() {
    List<PostgresBatch.Commit> group = new ArrayList<>();
    int statements = 0;
    while (!queue.isEmpty()
        && group.size() < GROUP_COMMITS
        && statements < GROUP_STATEMENTS
        && (group.isEmpty() || !queue.element().runsAlone())) {
      PostgresBatch.Commit commit = queue.remove();
      if (!isJudged(commit)) {
        waiting -= commit.weight();
        continue;
      }
      group.add(commit);
      statements += commit.weight();
      if (commit.runsAlone()) {
        break;
      }
    }
    waiting -= statements;
    isScheduled = !group.isEmpty();
    return group;
  }

  /**
   * Returns whether a commit can be sent. Otherwise its caller is checked again with newer
   * information, and the commit is put aside until then, because the process may have been
   * suspended since the call. If the whole machine was suspended, its monotonic clock may have
   * stopped too; but then the server has ended the connection, so information from before the
   * present connection does not count.
   */
  private boolean isJudged(PostgresBatch.Commit commit) {
    long now = System.nanoTime();
    if (!commit.reply.recordsCaller()
        || (now - commit.knownNanos <= REVOKED_NANOS && commit.knownNanos - upNanos >= 0)) {
      return true;
    }
    long recent = now - KNOWN_NANOS;
    long since = recent - upNanos < 0 ? upNanos : recent;
    Future<Void> confirmed =
        commit.judge() > MOST_JUDGEMENTS
            ? Future.failedFuture(
                new StoreUnavailableException(
                    "commits take longer than the check of a caller's permission is valid", null))
            : commit.reply.confirmCaller(since);
    if (confirmed.succeeded()) {
      commit.knownNanos = since;
      return true;
    }
    aside++;
    int decidedIn = era;
    confirmed.onComplete(
        (acts, refusal) ->
            context.runOnContext(
                v -> {
                  aside--;
                  if (refusal == null) {
                    commit.knownNanos = since;
                    resume(commit, decidedIn);
                  } else {
                    PostgresBatch.refuse(commit, refusal);
                    checkDrained();
                  }
                }));
    return false;
  }

  private void next() {
    PgConnection open = connection;
    if (open == null || isBusy || !unknowns.isEmpty()) {
      return;
    }
    List<PostgresBatch.Commit> group = take();
    if (group.isEmpty()) {
      checkDrained();
      return;
    }
    isBusy = true;
    if (underWay == 0) {
      // A probe behind a slow COMMIT would wait for it.
      link.probe(open);
    }
    underWay++;
    sentNanos = System.nanoTime();
    PostgresBatch batch = new PostgresBatch(open, own, this, counted, group);
    Watch watch = new Watch(open, "a group of commits was not answered");
    batch
        .run()
        .onComplete(
            v -> {
              watch.end();
              underWay--;
              checkDrained();
            });
  }

  /**
   * Watches a command until it is answered. A server that works on it may take up to the time limit
   * of a query. If nothing was received for a second, the server is asked whether it works on the
   * command, and the connection is dropped when a {@link LossConfirmation loss is confirmed}.
   */
  private final class Watch {
    private final PgConnection open;
    private final String complaint;
    private final long deadline;
    private final long patrol;
    private final LossConfirmation loss = new LossConfirmation();
    private boolean isAsking;
    private boolean isOver;

    Watch(PgConnection open, String complaint) {
      this.open = open;
      this.complaint = complaint;
      deadline = context.setTimer(config.watchdogMillis(), id -> drop());
      patrol = context.setPeriodic(PATROL_MILLIS, id -> ask());
    }

    private void ask() {
      long heard = link.heardNanos();
      if (isAsking || System.nanoTime() - heard < PATROL_MILLIS * 1_000_000) {
        return;
      }
      isAsking = true;
      isActive
          .apply(open.processId())
          .onComplete(
              (active, failure) ->
                  context.runOnContext(v -> judge(heard, failure == null && !active)));
    }

    private void judge(long heard, boolean isIdle) {
      isAsking = false;
      if (loss.add(heard, isIdle && link.heardNanos() == heard)) {
        drop();
      }
    }

    private void drop() {
      if (!isOver) {
        link.drop(open, complaint);
      }
    }

    void end() {
      isOver = true;
      context.owner().cancelTimer(deadline);
      context.owner().cancelTimer(patrol);
    }
  }

  @Override
  public void free(PgConnection which) {
    if (which == connection) {
      isBusy = false;
      next();
    }
  }

  @Override
  public PostgresLink.Needs needs() {
    return PostgresLink.Needs.WRITABLE;
  }

  @Override
  public String greeting(PrimaryHistory.Primary server) {
    return server.hasTimeline() ? PostgresOrder.raise(server.timeline()) : "";
  }

  @Override
  public void readOnly(PgConnection which) {
    link.drop(which, "the server is read-only");
  }

  @Override
  public void stored(GroupId id, boolean isTold) {
    own.recorded(id);
    if (isTold) {
      changes.wakeOthers(id.sender());
    }
  }

  @Override
  public void setBack() {
    boolean afterSilence = own.isSilent();
    own.setBack();
    changes.setBack(afterSilence);
    refuseDecided();
  }

  /** Handles that the log shows a database that was set back. Called on any thread. */
  void setBackRead() {
    context.runOnContext(
        v -> {
          own.setBack();
          refuseDecided();
        });
  }

  /** Rejects commits that were decided on states which the database may have lost. */
  private void refuseDecided() {
    era++;
    refuse(takeAll(), new IllegalStateException("the database was set back to an earlier state"));
  }

  @Override
  public boolean wasWarned() {
    boolean was = isWarned;
    isWarned = false;
    return was;
  }

  @Override
  public boolean putAside(PostgresBatch.Commit commit) {
    int conflicts = commit.conflict();
    if (commit.askedNanos - System.nanoTime() + config.queryMillis() * 1_000_000 < 0) {
      return false;
    }
    aside++;
    int decidedIn = era;
    int most = Math.min(MOST_ASIDE_MILLIS, LEAST_ASIDE_MILLIS << Math.min(conflicts, 10));
    context.setTimer(
        1 + most / 2 + random.nextInt(most / 2),
        id -> {
          aside--;
          resume(commit, decidedIn);
        });
    return true;
  }

  /** Queues a commit that was put aside, ahead of all waiting commits. */
  private void resume(PostgresBatch.Commit commit, int decidedIn) {
    Throwable obstacle;
    synchronized (this) {
      obstacle =
          decidedIn == era
              ? away
              : new IllegalStateException("the database was set back to an earlier state");
      if (obstacle == null) {
        queue.addFirst(commit);
        waiting += commit.weight();
        isScheduled = true;
      }
    }
    if (obstacle != null) {
      refuse(List.of(commit), obstacle);
    }
    next();
  }

  @Override
  public void unknown(GroupId id, List<PostgresBatch.Commit> commits, Throwable cause) {
    Unknown unknown = new Unknown(id, commits, cause);
    unknowns.add(unknown);
    counted.recordUnknown();
    context.setTimer(Math.min(SETTLE_MILLIS, config.queryMillis()), timer -> giveUp(unknown));
    PgConnection open = connection;
    if (open != null) {
      // The next group may be in progress over it. A new connection settles outcomes first.
      link.drop(open, "the outcome of a commit is unknown");
    }
  }

  /**
   * Answers the callers of a group whose outcome could not be settled in time, and rejects all
   * others until it is, because each would hang as well and take another of the server's
   * connections.
   */
  private void giveUp(Unknown unknown) {
    if (!unknowns.contains(unknown)) {
      return;
    }
    unknown.isAnswered = true;
    PostgresBatch.resolve(
        unknown.commits,
        false,
        PostgresFailure.unavailable(
            "the outcome of the commit is unknown: the answer was lost", unknown.cause, true));
    refuse(unknown.cause);
  }

  /** Settles the oldest group of unknown outcome, and then the next. */
  private void settle() {
    PgConnection open = connection;
    Unknown unknown = unknowns.peek();
    if (open == null || unknown == null || isSettling) {
      return;
    }
    isSettling = true;
    sentNanos = System.nanoTime();
    Watch watch = new Watch(open, "the outcome of a commit could not be settled");
    open.query("BEGIN")
        .execute()
        .compose(
            v ->
                open.preparedQuery(SETTLE).execute(Tuple.of(unknown.id.sender(), unknown.id.seq())))
        .map(
            rows -> {
              Row row = rows.iterator().next();
              return new Outcome(row.getBoolean("is_stored"), row.getBoolean("follows"));
            })
        .compose(
            outcome -> {
              isWarned = false;
              return open.query(PostgresBatch.COMMIT)
                  .execute()
                  .compose(
                      v ->
                          wasWarned()
                              ? Future.failedFuture("the server warned of an incomplete commit")
                              : Future.succeededFuture(outcome));
            })
        .onComplete(
            (outcome, failure) -> {
              watch.end();
              if (connection != open) {
                // A newer connection settles by itself.
                return;
              }
              isSettling = false;
              if (failure == null) {
                settled(unknown, outcome);
              } else if (passes(failure)) {
                open.query("ROLLBACK").execute();
                context.setTimer(SETTLE_AGAIN_MILLIS, id -> settle());
              } else {
                link.drop(open, "the outcome of a commit could not be settled: " + failure);
              }
            });
  }

  /** Returns whether a retry may succeed: the first transaction hangs, or the server is busy. */
  private static boolean passes(Throwable failure) {
    PostgresFailure kind = PostgresFailure.of(failure, true);
    return kind == PostgresFailure.CONFLICT
        || (kind == PostgresFailure.SERVER && !PostgresFailure.isReadOnly(failure));
  }

  private void settled(Unknown unknown, Outcome outcome) {
    unknowns.remove(unknown);
    own.recorded(unknown.id);
    if (unknowns.isEmpty()) {
      // Comes before the announcement of the outcome, because a listener may commit immediately
      // after it.
      synchronized (this) {
        away = null;
      }
    }
    if (unknown.isAnswered) {
      LOG.warn(
          "a group of commits that was reported as of unknown outcome is {}",
          outcome.isStored ? "stored" : "not stored");
      if (outcome.isStored) {
        changes.storedLate(
            unknown.commits.stream().flatMap(commit -> commit.changes.stream()).toList());
      }
    } else {
      PostgresBatch.resolve(
          unknown.commits,
          outcome.isStored,
          PostgresFailure.unavailable("cannot write to the store", unknown.cause));
    }
    if (!outcome.follows) {
      setBack();
    }
    if (unknowns.isEmpty()) {
      checkDrained();
      next();
    } else {
      settle();
    }
  }

  @Override
  public void up(PgConnection fresh) {
    connection = fresh;
    upNanos = System.nanoTime();
    // Groups of an earlier connection have failed with it, and their results are ignored.
    isBusy = false;
    isSettling = false;
    isWarned = false;
    fresh.noticeHandler(
        notice -> {
          LOG.debug("{}", notice.getMessage());
          isWarned |= WARNING.equals(notice.getCode());
        });
    fresh
        .query(END_ABANDONED)
        .execute()
        .onFailure(e -> LOG.warn("cannot end dropped sessions: {}", e.getMessage()));
    if (unknowns.isEmpty()) {
      synchronized (this) {
        away = null;
      }
      next();
    } else {
      settle();
    }
  }

  @Override
  public void down(Throwable cause, boolean isAway) {
    connection = null;
    if (isAway) {
      refuse(cause);
    }
  }

  /** Rejects waiting and new commits; none of them was sent. */
  private void refuse(Throwable cause) {
    synchronized (this) {
      away = cause;
    }
    refuse(takeAll(), cause);
  }

  private void refuse(List<PostgresBatch.Commit> refused, Throwable cause) {
    PostgresBatch.resolve(
        refused, false, PostgresFailure.unavailable("cannot write to PostgreSQL", cause));
    checkDrained();
  }

  private synchronized List<PostgresBatch.Commit> takeAll() {
    List<PostgresBatch.Commit> all = List.copyOf(queue);
    queue.clear();
    waiting = 0;
    isScheduled = false;
    return all;
  }

  /** Runs a task once all accepted commits are answered; rejects new ones from now on. */
  void drain(Runnable whenDrained) {
    synchronized (this) {
      closed = true;
      drained = whenDrained;
    }
    context.runOnContext(v -> checkDrained());
  }

  private void checkDrained() {
    Runnable done;
    synchronized (this) {
      done = drained;
      if (done == null
          || !queue.isEmpty()
          || underWay > 0
          || aside > 0
          || unknowns.stream().anyMatch(unknown -> !unknown.isAnswered)) {
        return;
      }
      drained = null;
    }
    done.run();
  }

  /** Drops the connection if a command sent before a moment is not answered. */
  void dropSentBefore(long nanoTime) {
    context.runOnContext(
        v -> {
          PgConnection open = connection;
          if (open != null && (underWay > 0 || isSettling) && sentNanos - nanoTime < 0) {
            link.drop(open, "no answer while the server answers on another connection");
          }
        });
  }

  Future<Void> close() {
    return link.close();
  }
}
