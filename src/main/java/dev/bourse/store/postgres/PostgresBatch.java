package dev.bourse.store.postgres;

import dev.bourse.store.BatchedPromise;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreSignals;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A group of commits that is being written over one connection, on that connection's context.
 *
 * <p>All statements are sent at once between BEGIN and COMMIT. Consecutive statements with the same
 * text are sent as one batch, and several rows of a log as one statement. COMMIT waits for their
 * answers, because only those show whether the guards held. If a guard failed, the group is rolled
 * back and run again with a savepoint per commit, so that each commit fails alone. If another
 * transaction blocked it, the commits run again one by one, each in a transaction of its own: a
 * single commit locks its few rows in the same order as every other commit, while two groups may
 * deadlock. A commit that still meets a locked row is put aside, and the others continue.
 *
 * <p>The last statement of each transaction records it in the commit log.
 */
final class PostgresBatch {
  private static final String BEGIN = "BEGIN";

  /**
   * A commit that runs alone has met a locked row before. It checks the row without waiting,
   * because all other commits of the process wait behind it.
   */
  private static final String BEGIN_ALONE = "BEGIN; SET LOCAL lock_timeout = 20";

  /**
   * Commits without a time limit for a synchronous standby's confirmation. A time-out would only
   * end the wait, and the server would then answer COMMIT as if the standby had confirmed.
   */
  static final String COMMIT = "SET LOCAL statement_timeout = 0; COMMIT";

  /**
   * Records the group in the log, at the end of its transaction. It inserts nothing if the sender's
   * previous group is missing, which means that the database lost groups it had stored.
   */
  private static final String RECORD =
      """
      INSERT INTO commit_log (sender, seq, changes)
      SELECT CAST($1 AS text), CAST($2 AS bigint), CAST($3 AS text) WHERE CAST($2 AS bigint) = 1
      OR EXISTS (SELECT 1 FROM commit_log l WHERE l.sender = $1 AND l.seq = $2 - 1)\
      """;

  /**
   * A statement bound to the engine's SQL and values.
   *
   * @param log the log it appends to; null if it appends to none
   */
  record Bound(Statement statement, PostgresSql sql, PostgresSql.@Nullable Log log, Tuple values) {
    /**
     * Binds a statement; see {@link PostgresSql#bind} and {@link PostgresSql#log} for exceptions.
     */
    static Bound of(Statement statement) {
      PostgresSql sql = PostgresSql.of(statement.sql());
      return new Bound(
          statement, sql, statement.appends() ? sql.log() : null, sql.bind(statement.parameters()));
    }
  }

  /** The statements of one caller. */
  static final class Commit {
    final List<Bound> statements;
    final List<Change> changes;
    final BatchedPromise<@Nullable Void> reply;
    final long askedNanos = System.nanoTime();

    /** When the information was current that shows the caller's permission. */
    long knownNanos = askedNanos - TimeUnit.MILLISECONDS.toNanos(Database.KNOWN_MILLIS);

    private boolean isStored;

    /** True if another component answers it: its outcome is unknown, or it is put aside. */
    private boolean isHandedOver;

    private @Nullable Throwable failure;

    /** How often it met a locked row. */
    private int conflicts;

    /** How often its caller's standing was checked. */
    private int judgements;

    Commit(List<Bound> statements, List<Change> changes, BatchedPromise<@Nullable Void> reply) {
      this.statements = statements;
      this.changes = changes;
      this.reply = reply;
    }

    /** Returns its weight in the queue, at least one because an empty commit takes a slot too. */
    int weight() {
      return Math.max(1, statements.size());
    }

    /** Counts a check of its caller and returns the number of checks. */
    int judge() {
      return ++judgements;
    }

    /** Counts a locked row and returns the number of locked rows met. */
    int conflict() {
      return ++conflicts;
    }

    boolean runsAlone() {
      return conflicts > 0;
    }

    private void settle() {
      if (isStored) {
        reply.succeed(null);
      } else {
        reply.fail(failure == null ? unavailable(null) : failure);
      }
    }
  }

  /** A statement of a commit. */
  private record Step(Commit commit, Bound bound) {
    /**
     * Returns whether it may be sent together with the previous one. Within one commit, statements
     * with guards are sent separately, because a failure leaves the results of earlier statements
     * in the same batch unknown.
     */
    boolean joins(Step before) {
      return bound.sql.equals(before.bound.sql) && (bound.log != null || commit != before.commit);
    }
  }

  /**
   * Returns all statements in the order of the commits, except that rows of logs come as late as
   * possible: before the next statement that names the log's table, or at the end.
   */
  private static List<Step> inOrder(List<Commit> some) {
    List<Step> steps = new ArrayList<>();
    Map<String, List<Step>> appended = new LinkedHashMap<>();
    for (Commit commit : some) {
      for (Bound bound : commit.statements) {
        Step step = new Step(commit, bound);
        if (bound.log != null) {
          appended.computeIfAbsent(bound.log.table(), table -> new ArrayList<>()).add(step);
        } else {
          appended.forEach(
              (table, rows) -> {
                if (bound.sql.text().contains(table)) {
                  steps.addAll(rows);
                  rows.clear();
                }
              });
          steps.add(step);
        }
      }
    }
    appended.values().forEach(steps::addAll);
    return steps;
  }

  private static Tuple joined(List<Step> steps) {
    Tuple values = Tuple.tuple();
    for (Step step : steps) {
      for (int i = 0; i < step.bound.values.size(); i++) {
        values.addValue(step.bound.values.getValue(i));
      }
    }
    return values;
  }

  /** Runs the groups. */
  interface Owner {
    /**
     * Reports that the connection can take the next group; the answer to this group's COMMIT may
     * still be pending.
     */
    void free(PgConnection connection);

    /** Reports that COMMIT was sent and the outcome is unknown. */
    void unknown(GroupId id, List<Commit> commits, Throwable cause);

    /**
     * Reports that the group is stored; {@code isTold} if other processes should read the log at
     * once.
     */
    void stored(GroupId id, boolean isTold);

    /** Reports that the database has lost groups of this process that it had stored. */
    void setBack();

    /** Takes over a commit that met a locked row; returns false if the commit has to fail. */
    boolean putAside(Commit commit);

    /** Returns whether the server has sent a warning since the last call. */
    boolean wasWarned();

    /** Reports that the server accepts no writes because it is no longer the primary. */
    void readOnly(PgConnection connection);
  }

  private enum RoundOutcome {
    GOOD,
    FAILED,
    CONFLICT,
    SET_BACK,
    LOST
  }

  private final PgConnection connection;
  private final OwnGroups own;
  private final Owner owner;
  private final StoreSignals counted;
  private final List<Commit> commits;
  private final long begunNanos = System.nanoTime();
  private final Promise<Void> ended = Promise.promise();

  PostgresBatch(
      PgConnection connection,
      OwnGroups own,
      Owner owner,
      StoreSignals counted,
      List<Commit> commits) {
    this.connection = connection;
    this.own = own;
    this.owner = owner;
    this.counted = counted;
    this.commits = commits;
    for (Commit commit : commits) {
      commit.isHandedOver = false;
      commit.reply.recordStart();
    }
  }

  /** Commands that are sent together, and their combined result. */
  private final class Round {
    private final List<Commit> commits;
    private final Promise<RoundOutcome> answered = Promise.promise();
    private int open = 1;
    private boolean isConflict;
    private boolean isSetBack;
    private @Nullable Throwable lost;
    private boolean isFailed;

    /** Commits that fail if the connection is lost. */
    Round(List<Commit> commits) {
      this.commits = commits;
    }

    void send(String command) {
      sent(connection.query(command).execute(), List.of());
    }

    /** Announces the group before its first row; see {@link PostgresOrder}. */
    void announce() {
      sent(connection.preparedQuery(PostgresOrder.ANNOUNCE).execute(), List.of());
    }

    /** Sends the commits' statements; consecutive statements with the same text go in one batch. */
    void send(List<Commit> some) {
      List<Step> steps = inOrder(some);
      int from = 0;
      for (int to = 1; to <= steps.size(); to++) {
        if (to == steps.size() || !steps.get(to).joins(steps.get(to - 1))) {
          sendAlike(steps.subList(from, to));
          from = to;
        }
      }
    }

    private void sendAlike(List<Step> steps) {
      PostgresSql.Log log = steps.get(0).bound.log;
      int inRows = log == null ? 0 : steps.size() - steps.size() % PostgresSql.Log.ROWS;
      if (log != null && inRows > 0) {
        sendRows(log, steps.subList(0, inRows));
      }
      if (inRows < steps.size()) {
        sendEach(steps.subList(inRows, steps.size()));
      }
    }

    private void sendRows(PostgresSql.Log log, List<Step> steps) {
      List<Tuple> values = new ArrayList<>();
      for (int i = 0; i < steps.size(); i += PostgresSql.Log.ROWS) {
        values.add(joined(steps.subList(i, i + PostgresSql.Log.ROWS)));
      }
      sent(connection.preparedQuery(log.insertRows().text()).executeBatch(values), steps);
    }

    private void sendEach(List<Step> steps) {
      List<Tuple> values = steps.stream().map(step -> step.bound.values).toList();
      sent(
          connection
              .preparedQuery(steps.get(0).bound.sql.text())
              .executeBatch(values)
              .onSuccess(
                  rows -> {
                    RowSet<Row> next = rows;
                    for (Step step : steps) {
                      check(next.rowCount(), step.commit, step.bound.statement);
                      next = next.next();
                    }
                  }),
          steps);
    }

    /** Sends the row of the commit log, with the changes for other processes, before COMMIT. */
    void record(List<Commit> stored) {
      GroupId id = own.begin();
      sent(
          connection
              .preparedQuery(RECORD)
              .execute(Tuple.of(id.sender(), id.seq(), ChangeText.write(changes(stored))))
              .onSuccess(rows -> isSetBack = rows.rowCount() == 0),
          List.of());
    }

    /** Registers a command with its statements; if it fails, none of them is known to have run. */
    private void sent(Future<RowSet<Row>> command, List<Step> steps) {
      open++;
      command.onComplete(
          (rows, failure) -> {
            if (failure != null) {
              failed(failure);
              steps.forEach(step -> blame(step.commit, failure));
            }
            answered();
          });
    }

    private void check(int changed, Commit commit, Statement statement) {
      RuntimeException refusal = statement.refusalOf(changed);
      if (refusal != null && commit.failure == null) {
        isFailed = true;
        commit.failure = refusal;
      }
    }

    private void failed(Throwable failure) {
      isFailed = true;
      if (PostgresFailure.isReadOnly(failure)) {
        owner.readOnly(connection);
      }
      PostgresFailure kind = PostgresFailure.of(failure, true);
      if (kind == PostgresFailure.CONNECTION) {
        lost = failure;
      } else if (kind == PostgresFailure.CONFLICT) {
        isConflict = true;
      }
    }

    /**
     * Records the failure of a commit. If another commit may have caused it, all are run again
     * separately.
     */
    private static void blame(Commit commit, Throwable failure) {
      if (commit.failure == null) {
        boolean isItsOwn = PostgresFailure.of(failure, true) == PostgresFailure.STATEMENT;
        commit.failure = isItsOwn ? failure : unavailable(failure);
      }
    }

    private void answered() {
      if (--open == 0) {
        if (lost != null) {
          fail(commits, lost);
        }
        answered.complete(verdict());
      }
    }

    private RoundOutcome verdict() {
      if (lost != null) {
        return RoundOutcome.LOST;
      }
      if (isConflict) {
        return RoundOutcome.CONFLICT;
      }
      // Before the guards, whose results mean nothing in a database that was set back.
      return isSetBack ? RoundOutcome.SET_BACK : isFailed ? RoundOutcome.FAILED : RoundOutcome.GOOD;
    }

    /** Ends the round; no more commands are sent. */
    Future<RoundOutcome> end() {
      answered();
      return answered.future();
    }
  }

  private static StoreUnavailableException unavailable(@Nullable Throwable cause) {
    return PostgresFailure.unavailable("cannot write to the store", cause);
  }

  private static void fail(List<Commit> failing, Throwable cause) {
    failing.forEach(commit -> commit.failure = unavailable(cause));
  }

  /** Runs the group. Completes when no command is in progress. */
  Future<Void> run() {
    if (commits.get(0).runsAlone()) {
      runOneByOne(0);
      return ended.future();
    }
    runTogether(BEGIN, commits, commits)
        .onSuccess(
            verdict -> {
              switch (verdict) {
                case GOOD -> {
                  Future<Void> stored = commit(commits);
                  owner.free(connection);
                  stored.onComplete(v -> end());
                }
                case FAILED -> {
                  rollback();
                  if (commits.size() == 1) {
                    finish();
                  } else {
                    runWithSavepoints();
                  }
                }
                case CONFLICT -> {
                  counted.recordRerun();
                  rollback();
                  runOneByOne(0);
                }
                case SET_BACK -> setBack(commits);
                case LOST -> {
                  counted.recordFailure();
                  finish();
                }
              }
            });
    return ended.future();
  }

  private Future<RoundOutcome> runTogether(
      String begin, List<Commit> some, List<Commit> lostWithThem) {
    some.forEach(commit -> commit.failure = null);
    Round round = new Round(lostWithThem);
    round.send(begin);
    round.announce();
    round.send(some);
    round.record(some);
    return round.end();
  }

  private void rollback() {
    connection.query("ROLLBACK").execute();
  }

  /**
   * Fails commits that were decided on states which the database may have lost. They are not
   * retried.
   */
  private void setBack(List<Commit> some) {
    rollback();
    counted.recordFailure();
    fail(some, new IllegalStateException("the database was set back to an earlier state"));
    owner.setBack();
    finish();
  }

  private static List<Change> changes(List<Commit> some) {
    return some.stream().flatMap(commit -> commit.changes.stream()).toList();
  }

  /** Sends COMMIT and sets the commits' results unless the outcome is unknown. */
  private Future<Void> commit(List<Commit> some) {
    GroupId id = own.next();
    own.sent();
    return connection
        .query(COMMIT)
        .execute()
        .transform(
            (rows, failure) -> {
              boolean isDoubtful = owner.wasWarned();
              if (failure == null && !isDoubtful) {
                some.forEach(commit -> commit.isStored = true);
                counted.recordStored(some.size(), System.nanoTime() - begunNanos);
                owner.stored(id, some.stream().anyMatch(commit -> !commit.changes.isEmpty()));
              } else {
                // After an error too, the key may have no row until the outcome is settled.
                some.forEach(commit -> commit.isHandedOver = true);
                owner.unknown(
                    id,
                    List.copyOf(some),
                    failure == null
                        ? new IllegalStateException("the server warned of an incomplete commit")
                        : failure);
              }
              return Future.succeededFuture();
            });
  }

  private void runWithSavepoints() {
    counted.recordRerun();
    commits.forEach(commit -> commit.failure = null);
    Round first = new Round(commits);
    first.send(BEGIN);
    first.announce();
    runFrom(0, first);
  }

  private void runFrom(int index, Round round) {
    if (index == commits.size()) {
      List<Commit> good = commits.stream().filter(commit -> commit.failure == null).toList();
      round.record(good);
      round
          .end()
          .onSuccess(
              verdict -> {
                switch (verdict) {
                  case GOOD -> commit(good).onComplete(v -> finish());
                  case FAILED, CONFLICT -> {
                    rollback();
                    finish();
                  }
                  case SET_BACK -> setBack(good);
                  case LOST -> finish();
                }
              });
      return;
    }
    Commit commit = commits.get(index);
    round.send("SAVEPOINT c");
    round.send(List.of(commit));
    round
        .end()
        .onSuccess(
            verdict -> {
              Round next = new Round(commits);
              switch (verdict) {
                case GOOD -> {
                  next.send("RELEASE c");
                  runFrom(index + 1, next);
                }
                case FAILED, SET_BACK -> {
                  next.send("ROLLBACK TO c");
                  next.send("RELEASE c");
                  runFrom(index + 1, next);
                }
                case CONFLICT -> {
                  rollback();
                  runOneByOne(0);
                }
                case LOST -> finish();
              }
            });
  }

  /** Runs each commit in a transaction of its own; one that meets a locked row is put aside. */
  private void runOneByOne(int index) {
    if (index == commits.size()) {
      finish();
      return;
    }
    List<Commit> one = commits.subList(index, index + 1);
    runTogether(BEGIN_ALONE, one, commits.subList(index, commits.size()))
        .onSuccess(
            verdict -> {
              switch (verdict) {
                case GOOD -> commit(one).onComplete(v -> runNext(index + 1));
                case FAILED -> {
                  rollback();
                  runOneByOne(index + 1);
                }
                case CONFLICT -> {
                  rollback();
                  counted.recordRerun();
                  one.get(0).isHandedOver = owner.putAside(one.get(0));
                  runOneByOne(index + 1);
                }
                case SET_BACK -> setBack(commits.subList(index, commits.size()));
                case LOST -> finish();
              }
            });
  }

  /**
   * Runs the next commit, unless the previous outcome is unknown; nothing is sent before that is
   * settled.
   */
  private void runNext(int index) {
    if (commits.get(index - 1).isHandedOver) {
      fail(
          commits.subList(index, commits.size()),
          new IllegalStateException("the outcome of the previous commit is unknown"));
      finish();
    } else {
      runOneByOne(index);
    }
  }

  private void finish() {
    end();
    owner.free(connection);
  }

  private void end() {
    deliver(commits.stream().filter(commit -> !commit.isHandedOver).toList());
    ended.complete();
  }

  /** Rejects a commit that was not sent. */
  static void refuse(Commit commit, Throwable refusal) {
    commit.failure = refusal;
    deliver(List.of(commit));
  }

  /** Answers commits that were handed over. */
  static void resolve(
      List<Commit> handedOver, boolean isStored, StoreUnavailableException otherwise) {
    for (Commit commit : handedOver) {
      commit.isStored = isStored;
      commit.failure = otherwise;
    }
    deliver(handedOver);
  }

  private static void deliver(List<Commit> settled) {
    settled.forEach(Commit::settle);
    BatchedPromise.deliver(settled.stream().map(commit -> commit.reply).toList());
  }
}
